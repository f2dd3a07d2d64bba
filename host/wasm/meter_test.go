package wasm

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/wasm/rewrite"
)

// ways are the ways to stop a guest: not at all, the fuel meter, and wazero's own, which starts a goroutine for each call and
// makes the guest look at a flag in memory.
var ways = []struct {
	name    string
	metered bool
	cfg     wazero.RuntimeConfig
}{
	{"unmetered", false, wazero.NewRuntimeConfig()},
	{"metered", true, wazero.NewRuntimeConfig()},
	{"close-on-done", false, wazero.NewRuntimeConfig().WithCloseOnContextDone(true)},
}

// warmed is one instance that answers again and again, which no pack's does: what is measured is the guest alone.
type warmed struct {
	mod api.Module
	in  *instance
	ctx context.Context
}

func warm(b *testing.B, way int, bin []byte) *warmed {
	b.Helper()
	if ways[way].metered {
		var err error
		if bin, err = rewrite.Prepare(bin, rewrite.Options{TickModule: meterModule, TickName: tickName, MaxTable: maxTable, MaxGap: maxGap}); err != nil {
			b.Fatal(err)
		}
	}
	rt := wazero.NewRuntimeWithConfig(b.Context(), ways[way].cfg)
	b.Cleanup(func() { rt.Close(context.Background()) })
	r := &Runner{runtime: rt}
	if err := r.lend(b.Context(), lent()); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	b.Cleanup(cancel)
	in := &instance{call: &engine.Call{Pack: pack(bin, "sum")}, runner: r, stderr: tail{ctx: ctx}, blocks: arena{limit: 1 << 20}}
	ctx = context.WithValue(ctx, instanceKey{}, in)
	mod, err := rt.InstantiateWithConfig(ctx, bin, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	return &warmed{mod, in, ctx}
}

func (w *warmed) call(b *testing.B, export, input string) {
	w.in.input, w.in.blocks.bytes, w.in.blocks.blocks = []byte(input), nil, nil
	if _, err := invoke(w.ctx, w.mod, export); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkMeter compares what stopping costs a guest that works with JSON. The ways take turns and their medians are compared,
// so that a busy machine disturbs all alike.
func BenchmarkMeter(b *testing.B) {
	const calls = 20
	bin := guest(b)
	var guests []*warmed
	for i := range ways {
		guests = append(guests, warm(b, i, bin))
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, g := range guests {
			from := time.Now()
			for range calls {
				g.call(b, "sum", numbers)
			}
			took[i] = append(took[i], time.Since(from))
		}
	}
	b.ReportMetric(0, "ns/op")
	median := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2].Nanoseconds()) }
	plain := median(took[0])
	b.ReportMetric(plain/calls/1000, ways[0].name+"-µs")
	for i, way := range ways[1:] {
		b.ReportMetric(median(took[i+1])/plain, way.name+"-ratio")
	}
}

// BenchmarkStall is how long the rest of the process stands still while a guest loops for a good half second, more if it is stopped often.
func BenchmarkStall(b *testing.B) {
	const rounds = "200000000"
	bin := guest(b)
	for i, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			g := warm(b, i, bin)
			var longest time.Duration
			for b.Loop() {
				done, stall := make(chan struct{}), make(chan time.Duration)
				go func() { stall <- longestPause(done) }()
				g.call(b, "burn", rounds)
				close(done)
				longest = max(longest, <-stall)
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "stall-ms")
		})
	}
}

// longestPause runs the collector again and again and returns the longest time that it took.
func longestPause(done chan struct{}) (longest time.Duration) {
	for {
		select {
		case <-done:
			return longest
		default:
		}
		from := time.Now()
		runtime.GC()
		longest = max(longest, time.Since(from))
	}
}
