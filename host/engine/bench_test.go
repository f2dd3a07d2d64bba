package engine

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/hosttest"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/plugins"
	"github.com/gantry-packs/gantry/registry"
	"github.com/gantry-packs/gantry/registry/schema"
)

// post is an input of a kilobyte for blog.publish, stored what the pack answers to it. The schemas are the pack's own; what
// runs is a Go function that does nothing.
var (
	post   = []byte(`{"format":"markdown","title":"Hello","tags":["a","b"],"status":"draft","body":"` + strings.Repeat("All work and no play. ", 45) + `"}`)
	stored = []byte(`{"destination":"artifact","format":"markdown","body_source":"input","status":"artifact_saved",` +
		`"artifact_key":"blog.publish/0123456789abcdef-hello.md","artifact_url":"http://127.0.0.1:8080/api/v1/artifacts/x?exp=1&sig=2","size":990}`)
)

func blogPublish(b *testing.B) *registry.Pack {
	b.Helper()
	folder, err := fs.Sub(plugins.FS(), "blog.publish")
	if err != nil {
		b.Fatal(err)
	}
	p, err := registry.Load(folder, registry.Options{
		Source: registry.Core, Modules: map[string]func() ([]byte, error){"core.wasm": plugins.Core}, Digest: map[string]string{"core.wasm": "none"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// unaudited is a store that throws away what an audit log appends.
type unaudited struct{ store.Store }

func (unaudited) Append(context.Context, ...store.Row) error { return nil }

func openStore(b *testing.B) store.Store {
	b.Helper()
	s, err := store.OpenBadger(b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkCall takes the price of a call apart, the sandbox left out: everything, everything but the audit row, and then
// the steps by themselves.
func BenchmarkCall(b *testing.B) {
	pack := blogPublish(b)
	run := program(func(context.Context, *Call, []byte) ([]byte, error) { return stored, nil })
	newEngine := func(kv store.Store) *Engine {
		packs := registry.NewSet()
		if err := packs.Add(pack); err != nil {
			b.Fatal(err)
		}
		return New(Config{
			Packs: packs, Runners: map[string]Runner{registry.Wasm: run}, Audit: audit.Open(kv, time.Hour, time.Now),
			Limits: Limits{Calls: 64, PerCaller: 64, Queue: 1024, QueueWait: time.Minute}, Now: time.Now, NewID: func() string { return "call" },
			Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		})
	}
	r := request(string(post))
	r.Pack = pack.Name
	whole := func(e *Engine) func() error {
		return func() error { _, err := e.Call(b.Context(), r); return err }
	}
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"full", whole(newEngine(openStore(b)))},
		{"no-audit", whole(newEngine(unaudited{store.NewMemory()}))},
		{"checks", func() error { return check(pack) }},
		{"decode", func() error { _, err := schema.Decode(post); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			done := hosttest.MeasureCPU(b)
			for b.Loop() {
				if err := bench.do(); err != nil {
					b.Fatal(err)
				}
			}
			done()
		})
	}
	for _, callers := range []int{2, 64} {
		b.Run(fmt.Sprintf("full-%d-callers", callers), func(b *testing.B) {
			b.ReportAllocs()
			call := whole(newEngine(openStore(b)))
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			done := hosttest.MeasureCPU(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call(); err != nil {
						b.Error(err)
						return
					}
				}
			})
			done()
		})
	}
}

// check is what the schemas and the strict reading of JSON cost a call.
func check(p *registry.Pack) error {
	c := &Call{Pack: p, Blobs: NewBlobs()}
	if _, err := prepare(c, post); err != nil {
		return err
	}
	_, err := deliver(c, stored)
	return err
}

// BenchmarkGate lets calls in and out, alone and in a crowd that has to wait.
func BenchmarkGate(b *testing.B) {
	for _, callers := range []int{2, 64} {
		b.Run(fmt.Sprintf("%d-callers", callers), func(b *testing.B) {
			b.ReportAllocs()
			g := newGate(Limits{Calls: 8, PerCaller: 8, Queue: 1024, QueueWait: time.Minute})
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					leave, err := g.enter(b.Context(), [...]string{"a", "b", "c", "d"}[i%4])
					if err != nil {
						continue // more of one caller than may wait
					}
					leave()
				}
			})
		})
	}
}

// BenchmarkBase64 turns a file of a megabyte into a handle and back into text.
func BenchmarkBase64(b *testing.B) {
	p := newPack(b, files, files)
	input := []byte(`{"one":"` + strings.Repeat("QUJD", 1<<18) + `"}`)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		c := &Call{Pack: p, Blobs: NewBlobs()}
		in, err := prepare(c, input)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := deliver(c, in); err != nil {
			b.Fatal(err)
		}
	}
}
