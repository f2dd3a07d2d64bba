package rewrite_test

import (
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/wasm/rewrite"
)

func BenchmarkPrepare(b *testing.B) {
	bin := goGuest(b)
	b.SetBytes(int64(len(bin)))
	for b.Loop() {
		if _, err := rewrite.Prepare(bin, options); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMetering runs guests as they are and prepared, in turn, and reports how much longer the latter take.
func BenchmarkMetering(b *testing.B) {
	tight := wasm(types(functype(i32, i32)), functions(0), exports(export("work", 0, 0)), code(bodyWith(1, loop, void,
		localGet, 1, localGet, 0, "\x73", i32c(7), "\x77", localSet, 1, // x = rotl(x ^ i, 7)
		localGet, 0, i32c(1), sub, localTee, 0, brIf, 0, end, localGet, 1)))
	calls := wasm(types(functype(i32, i32)), functions(0), exports(export("work", 0, 0)), code(body(
		localGet, 0, i32c(2), "\x49", iff, i32, localGet, 0, els,
		localGet, 0, i32c(1), sub, call, 0, localGet, 0, i32c(2), sub, call, 0, add, end)))
	for _, g := range []struct {
		name string
		bin  []byte
		n    uint64
	}{{"loop", tight, 10_000_000}, {"fibonacci", calls, 30}, {"go-json", goGuest(b), 200}} {
		b.Run(g.name, func(b *testing.B) {
			e := newEngine(b)
			e.budget = 100_000
			plain, metered := e.start(b, g.bin), e.start(b, prepare(b, g.bin))
			least := [2]time.Duration{1 << 62, 1 << 62} // the least of many rounds is what the machine's other work disturbs least
			e.ticks = 0
			for b.Loop() {
				for i, m := range [2]func() error{
					func() error { _, err := invoke(b, plain, "work", g.n); return err },
					func() error { _, err := invoke(b, metered, "work", g.n); return err },
				} {
					start := time.Now()
					if err := m(); err != nil {
						b.Fatal(err)
					}
					least[i] = min(least[i], time.Since(start))
				}
			}
			b.ReportMetric(float64(least[1])/float64(least[0]), "metered/plain")
			b.ReportMetric(float64(e.ticks)/float64(b.N), "ticks/op")
			b.ReportMetric(float64(least[1].Milliseconds()), "ms-metered")
		})
	}
}
