package audit

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/store"
)

// benchRows is how many rows BenchmarkList looks through; a million takes a minute to write.
const benchRows = 100_000

func openBadger(b *testing.B) *Log {
	b.Helper()
	s, err := store.OpenBadger(b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return Open(s, 2160*time.Hour, time.Now)
}

func benchRow(i int) Row {
	r := Row{
		RequestID: fmt.Sprintf("req-%012d", i), Subject: fmt.Sprintf("agent-%d", i%50), Client: "cli", Action: "pack.call",
		Pack: fmt.Sprintf("pack.p%d", i%20), Status: "ok", DurationMS: 12.5, Remote: "192.0.2.7:4711",
		InputSHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	}
	if i%1000 == 0 {
		r.Status, r.Error = "error", "handler_failed"
	}
	return r
}

// BenchmarkAppend writes rows from many producers at once; each waits for its commit.
func BenchmarkAppend(b *testing.B) {
	for _, producers := range []int{1, 32, 256} {
		b.Run(fmt.Sprint(producers), func(b *testing.B) {
			l := openBadger(b)
			b.SetParallelism(producers)
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if err := l.Append(b.Context(), benchRow(i)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkList reads one page of 100 rows by different filters.
func BenchmarkList(b *testing.B) {
	l := openBadger(b)
	fill(b, l)
	middle := l.now()
	for _, bench := range []struct {
		name   string
		filter Filter
	}{
		{"newest", Filter{}},
		{"subject", Filter{Subject: "agent-7"}},
		{"rare status", Filter{Status: "error"}},
		{"subject and rare status", Filter{Subject: "agent-0", Status: "error"}},
		{"subject and pack", Filter{Subject: "agent-7", Pack: "pack.p7"}},
		{"nothing in common", Filter{Subject: "agent-7", Pack: "pack.p8", Status: "ok"}},
		{"to", Filter{To: middle.Add(-time.Second)}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := l.List(b.Context(), bench.filter); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill writes benchRows rows from 64 producers.
func fill(b *testing.B, l *Log) {
	b.Helper()
	todo := make(chan int)
	done := make(chan error, 64)
	for range cap(done) {
		go func() {
			var err error
			for i := range todo {
				if err == nil {
					err = l.Append(b.Context(), benchRow(i))
				}
			}
			done <- err
		}()
	}
	for i := range benchRows {
		todo <- i
	}
	close(todo)
	for range cap(done) {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}
