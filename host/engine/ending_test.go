package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

func TestOutput(t *testing.T) {
	const output = `{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}`
	for _, tt := range []struct{ name, output, says string }{
		{"right", `{"n": 1.2300000000000000000004 }`, ""},
		{"nothing", ``, "not JSON"},
		{"text", `hello`, "not JSON"},
		{"two values", `{"n":1}{"n":1}`, "not JSON"},
		{"a key twice", `{"n":1,"n":2}`, "not JSON"},
		{"broken text", "{\"n\":1,\"s\":\"\xff\"}", "not JSON"},
		{"array", `[]`, "not a JSON object"},
		{"null", `null`, "not a JSON object"},
		{"schema", `{"n":"1"}`, "output_schema does not allow: n: "},
		{"missing", `{}`, "output_schema does not allow: n: missing"},
		{"too deep", `{"n":1,"d":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "levels deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(context.Context, *Call, []byte) ([]byte, error) { return []byte(tt.output), nil }
			env, err := newHouse(t, roomy, run, newPack(t, "", output)).call(t.Context(), request(`{}`))
			if tt.says != "" {
				refused(t, err, wire.InvalidOutput, tt.says)
			} else if err != nil || string(env.Output) != tt.output {
				t.Errorf("output %s, %v", env.Output, err)
			}
		})
	}
}

var errUpstream = errors.New("password hunter2 was refused")

// untilEnd waits for the call's end and answers an error of its own.
func untilEnd(err error) program {
	return func(ctx context.Context, _ *Call, _ []byte) ([]byte, error) { <-ctx.Done(); return nil, err }
}

// Every call has one ending and one audit row (see house.call), and the next call runs as if nothing had been.
func TestEndings(t *testing.T) {
	fails := func(err error) program {
		return func(context.Context, *Call, []byte) ([]byte, error) { return nil, err }
	}
	for _, tt := range []struct {
		name   string
		run    program
		hangUp time.Duration // 0: never
		limit  time.Duration // of the caller's own context; 0: none
		code   wire.Code
		says   string
	}{
		{"the pack says no", fails(wire.Failed("the upstream is down")), 0, 0, wire.HandlerFailed, "the upstream is down"},
		{"behind other words", fails(errors.Join(errUpstream, wire.Failed("the upstream is down"))), 0, 0, wire.HandlerFailed, "the upstream is down"},
		{"an error that isn't ours", fails(errUpstream), 0, 0, wire.Internal, "the log has the cause"},
		{"panic", func(context.Context, *Call, []byte) ([]byte, error) { panic("hunter2") }, 0, 0, wire.Internal, "the log has the cause"},
		{"nil pointer", func(context.Context, *Call, []byte) ([]byte, error) { var c *Call; return nil, errors.New(c.ID) }, 0, 0, wire.Internal, "the log has the cause"},
		{"deadline", untilEnd(context.DeadlineExceeded), 0, 0, wire.Timeout, "test.run ran past its limit of 10s"},
		{"deadline, whatever the runner says", untilEnd(wire.Failed("killed")), 0, 0, wire.Timeout, "ran past its limit"},
		{"deadline, and an error that isn't ours", untilEnd(errUpstream), 0, 0, wire.Timeout, "ran past its limit"},
		{"hang-up", untilEnd(context.Canceled), time.Second, 0, wire.Canceled, "the caller went away"},
		{"hang-up, whatever the runner says", untilEnd(wire.Failed("killed")), time.Second, 0, wire.Canceled, "the caller went away"},
		{"hang-up before the deadline", untilEnd(errUpstream), 9 * time.Second, 0, wire.Canceled, "the caller went away"},
		{"the caller's own deadline", untilEnd(errUpstream), 0, 5 * time.Second, wire.Timeout, "ran past its deadline"},
		{"a pack that says timeout itself", fails(wire.Errorf(wire.Timeout, "the page took 30 s")), 0, 0, wire.Timeout, "the page took 30 s"},
		{"a context that is not the call's", fails(context.Canceled), 0, 0, wire.Canceled, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := tt.run
				h := newHouse(t, roomy, func(ctx context.Context, c *Call, in []byte) ([]byte, error) { return run(ctx, c, in) }, newPack(t, "", ""))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.hangUp > 0 {
					time.AfterFunc(tt.hangUp, cancel)
				}
				if tt.limit > 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.limit)
					defer cancel()
				}
				env, err := h.call(ctx, request(`{}`))
				refused(t, err, tt.code, tt.says)
				if env.Output != nil || strings.Contains(err.Message, "hunter2") {
					t.Errorf("the caller gets %+v, %v", env, err)
				}
				if tt.code == wire.Internal && !strings.Contains(h.log.String(), "hunter2") && !strings.Contains(h.log.String(), "nil pointer") {
					t.Errorf("the log doesn't say why:\n%s", h.log)
				}
				run = echo
				if env, err := h.call(t.Context(), request(`{"a":1}`)); err != nil || string(env.Output) != `{"a":1}` {
					t.Errorf("the next call gave %+v, %v", env, err)
				}
			})
		})
	}
}

// The deadline is the pack's, counted from when it starts, and the row's duration is the whole call's.
func TestDeadlineStartsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPack(t, "", "", func(p *registry.Pack) { p.TimeoutS = 3 })
		run := func(ctx context.Context, _ *Call, _ []byte) ([]byte, error) {
			time.Sleep(2 * time.Second)
			return []byte(`{}`), ctx.Err()
		}
		h := newHouse(t, Limits{Calls: 1, PerCaller: 1, Queue: 1, QueueWait: time.Minute}, run, p)
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				env, err := h.Call(t.Context(), request(`{}`))
				ended <- err
				if env.Duration < 2*time.Second || env.Duration > 4*time.Second {
					t.Errorf("took %v", env.Duration)
				}
			}()
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if rows := h.rows(); len(rows) != 2 || rows[0].DurationMS != 4000 || rows[1].DurationMS != 2000 {
			t.Errorf("rows %+v", rows)
		}
	})
}

// A call that was given up while it waited never ran, and is in the audit log all the same.
func TestHangUpWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := 0
		run := func(ctx context.Context, _ *Call, _ []byte) ([]byte, error) {
			began++
			time.Sleep(5 * time.Second)
			return []byte(`{}`), nil
		}
		h := newHouse(t, Limits{Calls: 1, PerCaller: 1, Queue: 1, QueueWait: time.Minute}, run, newPack(t, "", ""))
		first := make(chan error)
		go func() { _, err := h.Call(t.Context(), request(`{}`)); first <- err }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := h.Call(ctx, request(`{"second":true}`))
		refused(t, wire.As(err), wire.Canceled, "went away")
		if rows := h.rows(); len(rows) != 1 || rows[0].Error != "canceled" {
			t.Errorf("rows %+v", rows)
		}
		if err := <-first; err != nil || began != 1 || len(h.rows()) != 2 {
			t.Errorf("the first call: %v; %d began", err, began)
		}
	})
}

// Full house: each of the two refusals is counted against the right one, and audited.
func TestFullHouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		run := func(context.Context, *Call, []byte) ([]byte, error) { <-hold; return []byte(`{}`), nil }
		h := newHouse(t, Limits{Calls: 2, PerCaller: 1, Queue: 2, QueueWait: time.Minute}, run, newPack(t, "", ""))
		ended := make(chan error, 8)
		call := func(subject string) {
			r := request(`{}`)
			r.Caller.Subject = subject
			go func() { _, err := h.Call(t.Context(), r); ended <- err }()
			synctest.Wait()
		}
		call("ada")
		call("bob")
		call("ada")
		call("ada") // one of hers runs, one waits
		refused(t, wire.As(<-ended), wire.RateLimited, "1 of your calls are running and 1 waiting")
		call("bob")
		call("cyd") // the queue has two
		refused(t, wire.As(<-ended), wire.Overloaded, "2 calls are waiting")
		close(hold)
		for range 4 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		limited, _, _ := h.audit.List(t.Context(), audit.Filter{Status: "error"})
		if len(h.rows()) != 6 || len(limited) != 2 || limited[0].Subject != "cyd" || limited[1].Subject != "ada" {
			t.Errorf("rows %+v", h.rows())
		}
	})
}
