package wasm

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

const (
	guestDeadline = 400 * time.Millisecond
	// late bounds how long after its deadline a guest may run and how long it may hold the others up. It is far above what
	// is measured, because the machine of the tests may be busy; what it must tell apart is minutes.
	late = 3 * time.Second
)

// others calls a small pack and the collector again and again, and tells the longest that either took.
func others(ctx context.Context, t *testing.T, r *Runner, p *registry.Pack) (wait func() time.Duration) {
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		longest time.Duration
	)
	watch := func(step func()) {
		group.Go(func() {
			for ctx.Err() == nil {
				from := time.Now()
				step()
				took := time.Since(from)
				mu.Lock()
				longest = max(longest, took)
				mu.Unlock()
			}
		})
	}
	watch(func() {
		if _, err := r.Run(t.Context(), &engine.Call{Pack: p}, nil); err != nil {
			t.Errorf("another call: %v", err)
		}
	})
	watch(func() { runtime.GC(); time.Sleep(time.Millisecond) })
	return func() time.Duration { group.Wait(); return longest }
}

// hostile are the guest's exports that never return by themselves.
var hostile = []string{"spin", "recurse", "sleep", "wait", "clearing", "dice", "scatter", "poll"}

func TestDeadline(t *testing.T) {
	r, bin := runner(t), guest(t)
	small := pack(tiny(t), "run")
	must(t, r, small, "")
	must(t, r, pack(bin, "noop"), "")
	for _, export := range hostile {
		t.Run(export, func(t *testing.T) {
			ctx := within(t, guestDeadline)
			wait := others(ctx, t, r, small)
			from := time.Now()
			_, err := doIn(ctx, r, pack(bin, export, memory(128)), "")
			took := time.Since(from)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			refused(t, err, wire.Timeout, "")
			stall := wait()
			t.Logf("stopped after %v; the longest of the others took %v", took, stall)
			if took > guestDeadline+late || stall > late {
				t.Errorf("stopped after %v; the longest of the others took %v", took, stall)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	r, bin := runner(t), guest(t)
	must(t, r, pack(bin, "noop"), "")
	for _, export := range hostile {
		t.Run(export, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			_, err := doIn(ctx, r, pack(bin, export, memory(128)), "")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			refused(t, err, wire.Canceled, "")
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	r, bin := runner(t), guest(t)
	var group sync.WaitGroup
	for mb, text := range map[int]string{0: "64 MiB", 24: "24 MiB", 100: "100 MiB"} { // one module for all
		group.Go(func() {
			_, err := do(t, r, pack(bin, "eat", memory(mb)), "")
			refused(t, err, wire.HandlerFailed, "ran out of its "+text+" of memory")
		})
	}
	group.Wait()
	_, err := do(t, r, pack(bin, "noop", memory(1)), "")
	refused(t, err, wire.HandlerFailed, "raise handler.memory_mb")
}

// The SDK keeps the headers of its blocks where a guest can write. This guest does, and the SDK's kernel then looks for a free
// block for ever, deaf to timeouts, while Go's collector waits for it: the process stands. It is why the SDK isn't used; never
// run it there.
func TestCorruptedBlocks(t *testing.T) {
	r, p := runner(t), pack(guest(t), "corrupt")
	must(t, r, p, "")
	out, err := doIn(within(t, late), r, p, "")
	if err != nil || out != "{}" {
		t.Errorf("got %q, %v", out, err)
	}
}
