package vault

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/store"
)

// onDisk is a vault with one credential in a real data folder.
func onDisk(b *testing.B) *fixture {
	f := &fixture{dir: b.TempDir(), now: time.Now()}
	s, err := store.OpenBadger(filepath.Join(f.dir, "store"), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	f.store = s
	f.reopen(b)
	f.create(b, New{})
	return f
}

func BenchmarkOpen(b *testing.B) {
	f := onDisk(b)
	for b.Loop() {
		f.reopen(b)
	}
}

func BenchmarkTake(b *testing.B) {
	f := onDisk(b)
	for b.Loop() {
		if _, err := f.take(b, "key"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTakeParallel(b *testing.B) {
	f := onDisk(b)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := f.take(b, "key"); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
