package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/semaphore"

	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry/schema"
)

// The sizes of bodies.
const (
	maxPackBody    = 48 << 20  // a 32 MiB file in base64, and room for the rest
	maxJSONBody    = 64 << 10  // a JSON body that nothing else is said of
	freeBody       = 1 << 20   // this much of a body counts against nothing
	bodiesTogether = 256 << 20 // of all bodies over freeBody that are being read or worked on
	firstBuffer    = 64 << 10
	bufferGrowth   = 4
)

// pace is how fast a body must arrive: a byte every idle and, after start, rate bytes a second on the whole. Who is slower
// gets 408 and loses the connection. What no handler wanted is waited for no longer than rest.
type pace struct {
	idle, start, rest time.Duration
	rate              int64
}

var bodyPace = pace{idle: 10 * time.Second, start: 20 * time.Second, rest: time.Second, rate: 16 << 10}

// errStalled is the cause of the error for a sender who is too slow.
var errStalled = errors.New("the body stalled")

// paced is a request body whose sender has to keep up. It must be read to its end for the deadline to go: reading on,
// net/http finds out that a caller hangs up, and would take an old deadline for that.
type paced struct {
	io.ReadCloser
	pace    pace
	control *http.ResponseController
	started time.Time
	read    int64
	ended   bool
}

// newPaced paces r's body. The first deadline is set at once since net/http itself reads what a handler leaves over.
func newPaced(r *http.Request, control *http.ResponseController, pace pace) *paced {
	p := &paced{ReadCloser: r.Body, pace: pace, control: control, started: time.Now()}
	if r.Body == http.NoBody {
		p.ended = true
	} else {
		p.allow()
	}
	return p
}

// leave gives what is left of the body a moment to arrive: net/http reads some of it, so that the answer isn't lost, and
// would wait for it.
func (p *paced) leave() {
	if !p.ended {
		_ = p.control.SetReadDeadline(time.Now().Add(p.pace.rest))
	}
}

func (p *paced) allow() {
	whole := p.started.Add(p.pace.start + time.Duration(p.read)*time.Second/time.Duration(p.pace.rate))
	next := time.Now().Add(p.pace.idle)
	if whole.Before(next) {
		next = whole
	}
	_ = p.control.SetReadDeadline(next) // a writer without deadlines is a test's
}

func (p *paced) Read(b []byte) (int, error) {
	p.allow()
	n, err := p.ReadCloser.Read(b)
	p.read += int64(n)
	switch {
	case err == io.EOF:
		p.ended = true
		_ = p.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errStalled
	}
	return n, err
}

// bodies reads whole bodies into memory, all of them together within one bound.
type bodies struct{ room *semaphore.Weighted }

func newBodies() *bodies { return &bodies{room: semaphore.NewWeighted(bodiesTogether)} }

// read returns the body, at most limit bytes. release gives its memory back to the bound and is to be called in any case,
// when nobody works on the body any more. A body that says it is too long is not read at all.
func (b *bodies) read(r *http.Request, limit int64) (raw []byte, release func(), err error) {
	held := int64(0)
	release = func() { b.room.Release(held) }
	if r.ContentLength > limit {
		return nil, release, tooLarge(limit)
	}
	most := limit + 1 // one byte more tells a body of limit from a longer one
	if r.ContentLength >= 0 {
		most = r.ContentLength + 1
	}
	raw = make([]byte, 0, min(most, firstBuffer))
	for {
		n, err := r.Body.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > limit:
			return nil, release, tooLarge(limit)
		case err == io.EOF:
			return raw, release, nil
		case err != nil:
			return nil, release, unreadable(r.Context(), err)
		}
		if len(raw) < cap(raw) {
			continue
		}
		// Memory is taken as the bytes arrive, not when they are announced: holding it costs the sender the sending.
		size := min(int64(cap(raw))*bufferGrowth, most)
		if size > freeBody {
			if !b.room.TryAcquire(size - held) {
				return nil, release, wire.Errorf(wire.Overloaded, "too many large requests at the same time: try again in a moment")
			}
			held = size
		}
		raw = append(make([]byte, 0, size), raw...)
	}
}

func tooLarge(limit int64) error {
	if limit < 1<<20 {
		return wire.Errorf(wire.BodyTooLarge, "the body is over the limit of %d KiB", limit>>10)
	}
	return wire.Errorf(wire.BodyTooLarge, "the body is over the limit of %d MiB", limit>>20)
}

// unreadable is the error for a body that did not arrive.
func unreadable(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errStalled):
		return wire.Errorf(wire.Timeout, "the body arrived too slowly: a byte every %v and %d KiB a second are needed", bodyPace.idle, bodyPace.rate>>10).Because(errStalled)
	case ctx.Err() != nil && !errors.Is(err, io.ErrUnexpectedEOF): // who only stopped sending still reads
		return wire.As(ctx.Err())
	}
	return wire.Errorf(wire.InvalidJSON, "the body ended early or is badly framed: send as many bytes as Content-Length says").Because(err)
}

// wantType checks the body's Content-Type. A JSON body may also come without one.
func wantType(r *http.Request, want string) error {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return wire.Errorf(wire.UnsupportedMedia, "Content-Encoding is not supported: send the body as it is")
	}
	field := r.Header.Get("Content-Type")
	if field == "" && want == jsonType {
		return nil
	}
	if got, _, err := mime.ParseMediaType(field); err != nil || got != want {
		return wire.Errorf(wire.UnsupportedMedia, "send the body as Content-Type: %s", want)
	}
	return nil
}

// readObject reads a JSON object of at most limit bytes into v, a pointer to a struct. Fields that v doesn't have are
// refused: a misspelt option must not go unnoticed.
func (b *bodies) readObject(r *http.Request, v any, limit int64) error {
	if err := wantType(r, jsonType); err != nil {
		return err
	}
	raw, release, err := b.read(r, limit)
	defer release()
	if err != nil {
		return err
	}
	decoded, err := schema.Decode(raw)
	if err != nil {
		return err
	}
	fields, ok := decoded.(map[string]any)
	if !ok {
		return wire.Invalid("the body must be a JSON object")
	}
	for name, value := range fields {
		if value == nil {
			return wire.Invalid("field %q is null: give it a value or leave it out", cut(name))
		}
	}
	if err := json.Unmarshal(raw, v, json.RejectUnknownMembers(true)); err != nil {
		return badField(err)
	}
	return nil
}

// badField names the field that doesn't fit, without the words of the Go type that it doesn't fit. The error has no cause for
// the log: err repeats the field's value, which may be a password.
func badField(err error) error {
	var e *json.SemanticError
	if !errors.As(err, &e) {
		return wire.Invalid("the body does not fit this endpoint: see /api/v1/openapi.json")
	}
	field := strings.TrimPrefix(string(e.JSONPointer), "/")
	if errors.Is(err, json.ErrUnknownName) {
		return wire.Invalid("unknown field %q: see /api/v1/openapi.json", cut(field))
	}
	return wire.Invalid("field %q has the wrong type: see /api/v1/openapi.json", cut(field))
}
