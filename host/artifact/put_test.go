package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func testPutFailsCleanly(t *testing.T, w *world) {
	s := w.open(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	broken := iotest.ErrReader(errors.New("connection reset"))
	endless := struct{ io.Reader }{neverEnds{}}
	for name, c := range map[string]struct {
		ctx  context.Context
		put  Put
		want wire.Code
	}{
		"broken at once":   {t.Context(), Put{Body: broken}, wire.ArtifactFailed},
		"broken midway":    {t.Context(), Put{Body: io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), broken)}, wire.ArtifactFailed},
		"typed error":      {t.Context(), Put{Body: iotest.ErrReader(wire.Errorf(wire.BodyTooLarge, "too large"))}, wire.BodyTooLarge},
		"over its limit":   {t.Context(), Put{Body: strings.NewReader("12345"), Max: 4}, wire.InvalidInput},
		"over the limit":   {t.Context(), Put{Body: endless}, wire.InvalidInput},
		"limit too high":   {t.Context(), Put{Body: endless, Max: 1 << 60}, wire.InvalidInput},
		"caller went away": {gone, Put{Body: endless}, wire.Canceled},
		"bad pack":         {t.Context(), Put{Pack: "../x", Body: endless}, wire.InvalidInput},
		"bad type":         {t.Context(), Put{ContentType: "text/html\r\nX: y", Body: endless}, wire.InvalidInput},
		"bad name":         {t.Context(), Put{Name: "a\nb", Body: endless}, wire.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			if c.put.Pack == "" {
				c.put.Pack = "a.b"
			}
			c.put.Owner = "ann"
			_, err := s.Put(c.ctx, c.put)
			if got := wire.As(err); err == nil || got.Code != c.want {
				t.Fatalf("got %v", err)
			}
			if left := w.stored(t); len(left) != 0 {
				t.Fatalf("left behind: %v", left)
			}
			if list, _, _ := s.List(t.Context(), root, Filter{}); len(list) != 0 {
				t.Fatalf("left behind: %v", list)
			}
		})
	}
	if e := put(t, s, "a.b", "ann", "", "1234"); e.Size != 4 {
		t.Fatal("the store doesn't work any more")
	}
	_, err := s.Put(t.Context(), Put{Pack: "a.b", Owner: "ann", Body: strings.NewReader("1234"), Max: 4})
	if err != nil {
		t.Fatalf("exactly the limit: %v", err)
	}
}

type neverEnds struct{}

func (neverEnds) Read(p []byte) (int, error) { return len(p), nil }

func testPutWithoutARecordLeavesNoFile(t *testing.T, w *world) {
	s := w.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(strings.NewReader("x"), eofThen(cancel)) // the caller goes once the body is read
	if _, err := s.Put(ctx, Put{Pack: "a.b", Owner: "ann", Body: body}); err == nil {
		t.Fatal("a caller that went away got an artifact")
	}
	if left := w.stored(t); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

type eofThen func()

func (f eofThen) Read([]byte) (int, error) { f(); return 0, io.EOF }

func testPutAtTheSameTime(t *testing.T, w *world) {
	s := w.open(t)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			body := strings.Repeat(fmt.Sprint(i, ","), 5000)
			e, err := s.Put(t.Context(), Put{Pack: "a.b", Owner: "ann", Name: "same.txt", Body: strings.NewReader(body)})
			if err != nil {
				t.Error(err)
				return
			}
			_, r, err := s.Open(t.Context(), ann, e.Key)
			if err != nil {
				t.Error(err)
				return
			}
			if read(t, r) != body {
				t.Errorf("%s holds another's bytes", e.Key)
			}
			if i%2 == 0 {
				if err := s.Delete(t.Context(), ann, e.Key); err != nil {
					t.Error(err)
				}
			}
			if err := s.sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, _, err := s.List(t.Context(), ann, Filter{})
	if err != nil || len(list) != 16 || len(w.stored(t)) != 16 {
		t.Fatalf("%d entries, %d files, %v", len(list), len(w.stored(t)), err)
	}
}
