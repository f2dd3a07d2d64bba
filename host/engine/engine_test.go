package engine

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
	"github.com/gantry-packs/gantry/registry/schema"
)

// program is a runner in Go: the engine neither knows nor cares that no sandbox is around it.
type program func(ctx context.Context, c *Call, input []byte) ([]byte, error)

func (p program) Run(ctx context.Context, c *Call, input []byte) ([]byte, error) {
	return p(ctx, c, input)
}

func echo(_ context.Context, _ *Call, input []byte) ([]byte, error) { return input, nil }

// house is an engine with its parts, on a store in memory. Its packs are of the handler type wasm and run program.
type house struct {
	*Engine
	t     testing.TB
	packs *registry.Set
	audit *audit.Log
	log   *bytes.Buffer // to be read when no call runs
}

// roomy are limits that no test hits by accident.
var roomy = Limits{Calls: 8, PerCaller: 8, Queue: 8, QueueWait: time.Second}

func newHouse(t testing.TB, l Limits, run program, packs ...*registry.Pack) *house {
	t.Helper()
	kv := store.NewMemory()
	t.Cleanup(func() {
		if err := kv.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &house{t: t, packs: registry.NewSet(), audit: audit.Open(kv, time.Hour, time.Now), log: &bytes.Buffer{}}
	for _, p := range packs {
		if err := h.packs.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	var calls atomic.Int64
	h.Engine = New(Config{
		Packs: h.packs, Runners: map[string]Runner{registry.Wasm: run}, Audit: h.audit, Limits: l, Now: time.Now,
		NewID: func() string { return fmt.Sprint("call-", calls.Add(1)) },
		Log:   slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Metrics: prometheus.NewRegistry(),
	})
	return h
}

// newPack makes a pack called test.run; change may say more of it.
func newPack(t testing.TB, input, output string, change ...func(*registry.Pack)) *registry.Pack {
	t.Helper()
	p := &registry.Pack{
		Manifest: registry.Manifest{Name: "test.run", Version: "v1", TimeoutS: 10, Handler: registry.Handler{Type: registry.Wasm}},
		Source:   registry.Marketplace,
	}
	var err error
	if p.Input, err = schema.Compile([]byte(input)); err != nil {
		t.Fatal(err)
	}
	if p.Output, err = schema.Compile([]byte(output)); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func request(input string) Request {
	return Request{
		Pack: "test.run", Input: []byte(input), RequestID: "req-1", Remote: "192.0.2.7:4711",
		Caller: auth.Caller{Subject: "ada", Client: "cli", Scopes: []string{"packs:call"}},
	}
}

// rows are the audit rows so far, newest first.
func (h *house) rows() []audit.Row {
	h.t.Helper()
	rows, _, err := h.audit.List(context.Background(), audit.Filter{Limit: 1000})
	if err != nil {
		h.t.Fatal(err)
	}
	return rows
}

// call makes a call and checks what holds for each: one audit row that says how it ended, nothing left in the gate.
func (h *house) call(ctx context.Context, r Request) (Envelope, *wire.Error) {
	h.t.Helper()
	before := len(h.rows())
	env, err := h.Call(ctx, r)
	status, code := "ok", ""
	we := wire.As(err)
	if we != nil {
		status, code = "error", string(we.Code)
	}
	rows := h.rows()
	if len(rows) != before+1 {
		h.t.Fatalf("%d audit rows after one call, %d before", len(rows), before)
	}
	got := rows[0]
	if got.Status != status || got.Error != code || got.Action != Action || got.Subject != r.Caller.Subject || got.Pack != cut(r.Pack) ||
		got.RequestID != r.RequestID || got.Remote != r.Remote || got.Client != r.Caller.Client || got.InputSHA256 != digest(r.Input) {
		h.t.Errorf("a call that ended with %q left the audit row %+v", code, got)
	}
	if running, waiting := h.gate.load(); running != 0 || waiting != 0 || len(h.gate.callers) != 0 {
		h.t.Errorf("after the call %d are running, %d waiting, callers %v", running, waiting, h.gate.callers)
	}
	return env, we
}

// refused checks an error's code and what its text says.
func refused(t *testing.T, err *wire.Error, code wire.Code, says string) {
	t.Helper()
	if err == nil || err.Code != code || !strings.Contains(err.Message, says) {
		t.Errorf("got %v; want %s: …%s…", err, code, says)
	}
}

func TestInput(t *testing.T) {
	const number = `{"type":"object","additionalProperties":false,"properties":{"n":{"type":"number"},"o":{"type":"object"}}}`
	async := func(p *registry.Pack) { p.Async = true }
	session := func(p *registry.Pack) { p.Session.Mode = "optional" }
	for _, tt := range []struct {
		name   string
		change func(*registry.Pack)
		input  string
		seen   string // by the pack
		code   wire.Code
		says   string
	}{
		{"nothing", nil, "", `{}`, "", ""},
		{"white space", nil, " \n", `{}`, "", ""},
		{"as it is", nil, `{ "n": 12345678901234567890123.4500 }`, `{ "n": 12345678901234567890123.4500 }`, "", ""},
		{"not JSON", nil, `{"n":`, "", wire.InvalidJSON, "ends in the middle"},
		{"two values", nil, `{} {}`, "", wire.InvalidJSON, "more after the JSON value"},
		{"a key twice", nil, `{"n":1,"n":2}`, "", wire.InvalidJSON, "twice"},
		{"a reserved key twice", nil, `{"_session_id":"a","\u005fsession_id":"b"}`, "", wire.InvalidJSON, "twice"},
		{"array", nil, `[1]`, "", wire.InvalidInput, "must be a JSON object"},
		{"null", nil, `null`, "", wire.InvalidInput, "must be a JSON object"},
		{"schema", nil, `{"n":"one"}`, "", wire.InvalidInput, "n: "},
		{"unknown field", nil, `{"m":1}`, "", wire.InvalidInput, "m: "},
		{"session id", nil, `{"_session_id":"s1","n":1e2}`, `{"n":1e2}`, "", ""},
		{"session id, escaped", nil, `{"n":-0.0,"\u005fsession\u005fid":{"deep":[1]}}`, `{"n":-0.0}`, "", ""},
		{"session id further in", nil, `{"o":{"_session_id":"s1","webhook_url":1}}`, `{"o":{"_session_id":"s1","webhook_url":1}}`, "", ""},
		{"session id, pack with sessions", session, `{"_session_id":"s1"}`, "", wire.SessionUnavailable, "no session has this _session_id"},
		{"webhook of a pack that answers at once", nil, `{"webhook_url":"https://example.com"}`, "", wire.InvalidInput, "webhook_url works with async packs only"},
		{"secret of a pack that answers at once", nil, `{"webhook_secret":"x"}`, "", wire.InvalidInput, "webhook_secret works with async packs only"},
		{"webhook", async, `{"webhook_url":"https://example.com","n":1,"webhook_secret":"x"}`, `{"n":1}`, "", ""},
		{"schema after the reserved fields", async, `{"webhook_secret":"hush","n":true}`, "", wire.InvalidInput, "n: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen []byte
			run := func(_ context.Context, _ *Call, input []byte) ([]byte, error) { seen = input; return []byte(`{}`), nil }
			p := newPack(t, number, "")
			if tt.change != nil {
				tt.change(p)
			}
			h := newHouse(t, roomy, run, p)
			env, err := h.call(t.Context(), request(tt.input))
			if tt.code != "" {
				refused(t, err, tt.code, tt.says)
				if seen != nil {
					t.Errorf("the pack ran and saw %s", seen)
				}
				return
			}
			if err != nil || string(seen) != tt.seen || env.Pack != "test.run" || env.Version != "v1" || string(env.Output) != `{}` {
				t.Errorf("the pack saw %s, the call gave %+v, %v", seen, env, err)
			}
		})
	}
}

func TestRefusedAtTheDoor(t *testing.T) {
	other := newPack(t, "", "", func(p *registry.Pack) { p.Name, p.Handler.Type = "test.command", registry.Command })
	h := newHouse(t, roomy, echo, newPack(t, "", ""), other)
	long := strings.Repeat("é", 100)
	for _, tt := range []struct {
		name   string
		pack   string
		scopes []string
		code   wire.Code
		says   string
	}{
		{"scope", "test.run", []string{"packs:read"}, wire.Forbidden, "packs:call"},
		{"no scope", "test.run", nil, wire.Forbidden, "packs:call"},
		{"scope before name", "test.none", nil, wire.Forbidden, "packs:call"},
		{"pack", "test.none", []string{"packs:*"}, wire.PackNotFound, `"test.none"`},
		{"no name", "", []string{"admin"}, wire.PackNotFound, "GET /api/v1/packs"},
		{"long name", long, []string{"admin"}, wire.PackNotFound, `"` + strings.Repeat("é", 32) + `…"`},
		{"name of broken text", "test.\xff", []string{"admin"}, wire.PackNotFound, `"test.\xff"`},
		{"runner", "test.command", []string{"admin"}, wire.SessionUnavailable, "command runner"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := request(`{}`)
			r.Pack, r.Caller.Scopes = tt.pack, tt.scopes
			if strings.HasSuffix(tt.pack, "\xff") { // the row keeps what is text of it
				_, err := h.Call(t.Context(), r)
				refused(t, wire.As(err), tt.code, tt.says)
				if row := h.rows()[0]; row.Pack != "test." || row.Error != string(tt.code) {
					t.Errorf("row %+v", row)
				}
				return
			}
			_, err := h.call(t.Context(), r)
			refused(t, err, tt.code, tt.says)
		})
	}
}

// A call that began runs to its end on the pack that it looked up, whatever is installed meanwhile.
func TestPackReplacedWhileRunning(t *testing.T) {
	began, goOn := make(chan *registry.Pack), make(chan struct{})
	run := func(_ context.Context, c *Call, _ []byte) ([]byte, error) {
		began <- c.Pack
		<-goOn
		return []byte(`{"version":"` + c.Pack.Version + `"}`), nil
	}
	only := func(v string) string { return `{"properties":{"version":{"const":"` + v + `"}}}` }
	h := newHouse(t, roomy, run, newPack(t, "", only("v1")))
	answers := make(chan string, 2)
	call := func() {
		env, err := h.Call(context.Background(), request(`{}`))
		answers <- fmt.Sprint(string(env.Output), err)
	}
	go call()
	old := <-began
	if err := h.packs.Add(newPack(t, "", only("v2"), func(p *registry.Pack) { p.Version = "v2" })); err != nil {
		t.Fatal(err)
	}
	go call()
	if replaced := <-began; replaced == old {
		t.Error("a call after the change runs the old pack")
	}
	close(goOn)
	got := map[string]bool{<-answers: true, <-answers: true}
	if !got[`{"version":"v1"}<nil>`] || !got[`{"version":"v2"}<nil>`] {
		t.Errorf("answers %v", got)
	}
}
