package host_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/hosttest"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// watch adds up the time between its start and stop. Calls of a benchmark come one at a time.
type watch struct{ total time.Duration }

func (w *watch) start() (stop func()) {
	began := time.Now()
	return func() { w.total += time.Since(began) }
}

// perCall reports the time as a metric of one iteration.
func (w *watch) perCall(b *testing.B, name string) {
	b.ReportMetric(float64(w.total.Nanoseconds())/1000/float64(b.N), name)
}

// watchedRunner measures what the sandbox takes, host functions included.
type watchedRunner struct {
	engine.Runner
	watch *watch
}

func (r watchedRunner) Run(ctx context.Context, c *engine.Call, input []byte) ([]byte, error) {
	defer r.watch.start()()
	return r.Runner.Run(ctx, c, input)
}

// watchedStore measures what the audit row takes.
type watchedStore struct {
	store.Store
	watch *watch
}

func (s watchedStore) Append(ctx context.Context, rows ...store.Row) error {
	defer s.watch.start()()
	return s.Store.Append(ctx, rows...)
}

// shares is the host's engine with watches around the sandbox and the audit log.
type shares struct {
	*engine.Engine
	sandbox, audit watch
}

func watched(h *host.Host) *shares {
	s := &shares{}
	s.Engine = engine.New(engine.Config{
		Packs: h.Packs, Runners: map[string]engine.Runner{registry.Wasm: watchedRunner{h.Wasm, &s.sandbox}},
		Audit:  audit.Open(watchedStore{h.Store, &s.audit}, h.Config.AuditRetention, time.Now),
		Limits: engine.Limits{Calls: 64, PerCaller: 16, Queue: 128, QueueWait: 5 * time.Second},
		Now:    time.Now, NewID: uuid.NewString, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	return s
}

// BenchmarkCall calls core packs in a whole service without its door, and says which share of a call is the sandbox, which
// the audit row, and which the rest: strict JSON, schemas, gate, metrics.
func BenchmarkCall(b *testing.B) {
	h := open(b, b.TempDir(), core(b))
	if err := h.Warm(b.Context(), func(string) {}); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name, pack, input string
		code              wire.Code
	}{
		{"list", "artifact.list", `{"limit":10}`, ""},
		{"refusal", "blog.publish", `{"format":"markdown","title":"Hello"}`, wire.InvalidInput}, // by the pack itself: neither body nor prompt
		{"forget", "memory.forget", `{"category":"none"}`, ""},                                  // a transaction without a change
		{"put", "artifact.put", `{"name":"a.txt","content":"hello"}`, ""},                       // makes a file
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := watched(h)
			r := engine.Request{Pack: bench.pack, Input: []byte(bench.input), Caller: as("ada")}
			b.ReportAllocs()
			done := hosttest.MeasureCPU(b)
			for b.Loop() {
				if _, err := s.Call(b.Context(), r); err != nil && wire.As(err).Code != bench.code {
					b.Fatal(err)
				}
			}
			done()
			s.sandbox.perCall(b, "sandbox-µs/op")
			s.audit.perCall(b, "audit-µs/op")
			rest := watch{b.Elapsed() - s.sandbox.total - s.audit.total}
			rest.perCall(b, "rest-µs/op")
		})
	}
}

// BenchmarkOpen opens and closes a service that has been there before: what a start costs besides compiling.
func BenchmarkOpen(b *testing.B) {
	c, dir := core(b), b.TempDir()
	for b.Loop() {
		h, err := host.Open(b.Context(), settings(b, dir), c, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
