package wasm

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// held is a module's bytes, given out when the gate opens, and how often.
type held struct {
	bin  []byte
	gate chan struct{}
	read atomic.Int32
}

func (h *held) module() ([]byte, error) {
	h.read.Add(1)
	<-h.gate
	return h.bin, nil
}

func TestSingleFlight(t *testing.T) {
	r := openRunner(t, Config{})
	h := &held{bin: tiny(t), gate: make(chan struct{})}
	p := pack(h.bin, "run", reading(h.module))
	var started, group sync.WaitGroup
	for range 100 {
		started.Add(1)
		group.Go(func() {
			started.Done()
			if _, err := do(t, r, p, ""); err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
	close(h.gate)
	group.Wait()
	if n := h.read.Load(); n != 1 {
		t.Errorf("100 first calls compiled %d times", n)
	}
}

func TestCallerGoesAwayWhileCompiling(t *testing.T) {
	r := openRunner(t, Config{})
	h := &held{bin: tiny(t), gate: make(chan struct{})}
	p := pack(h.bin, "run", reading(h.module))
	ctx, leave := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	go func() { _, err := doIn(ctx, r, p, ""); first <- err }()
	for h.read.Load() == 0 {
		runtime.Gosched()
	}
	go func() { _, err := doIn(t.Context(), r, p, ""); second <- err }()
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	close(h.gate)
	if err := <-second; err != nil {
		t.Errorf("the second: %v", err)
	}
	if n := h.read.Load(); n != 1 {
		t.Errorf("compiled %d times", n)
	}
}

// in waits until the runner's module has so many calls.
func in(r *Runner, p *registry.Pack, uses int) *module {
	for {
		r.mu.Lock()
		m := r.modules[p.Digest]
		if m != nil && m.uses == uses {
			r.mu.Unlock()
			return m
		}
		r.mu.Unlock()
		runtime.Gosched()
	}
}

func TestReleaseWhileRunning(t *testing.T) {
	bin, gate := guest(t), make(chan struct{})
	functions := lent()
	functions[3].JSON = func(context.Context, *engine.Call, []byte) (any, error) { <-gate; return nil, nil }
	r := openRunner(t, Config{CacheDir: scratch + "/cache", Functions: functions})
	p, other := pack(bin, "wait"), pack(bin, "noop")
	must(t, r, other, "")

	done := make(chan error)
	go func() { _, err := doIn(t.Context(), r, p, ""); done <- err }()
	old := in(r, p, 1)
	r.Release(p, []*registry.Pack{other})
	if in(r, p, 1) != old {
		t.Error("a module went that another pack has")
	}
	r.Release(p, nil)
	if len(r.modules) != 0 || old.compiled == nil {
		t.Errorf("%d modules are known, compiled %v, while a call runs", len(r.modules), old.compiled)
	}
	must(t, r, other, "") // compiled again, from the same bytes
	close(gate)
	if err := <-done; err != nil {
		t.Errorf("the running call: %v", err)
	}
	if old.compiled != nil {
		t.Error("the old module is still open")
	}
	must(t, r, other, "") // the new one didn't go with the old one
	r.Release(other, nil)
	if len(r.modules) != 0 {
		t.Errorf("%d modules left", len(r.modules))
	}
}

func TestReleaseWhileCompiling(t *testing.T) {
	r := openRunner(t, Config{})
	h := &held{bin: tiny(t), gate: make(chan struct{})}
	p := pack(h.bin, "run", reading(h.module))
	done := make(chan error)
	go func() { _, err := doIn(t.Context(), r, p, ""); done <- err }()
	m := in(r, p, 1)
	r.Release(p, nil)
	close(h.gate)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if m.compiled != nil || len(r.modules) != 0 {
		t.Errorf("compiled %v, %d modules", m.compiled, len(r.modules))
	}
}

func TestBrokenModules(t *testing.T) {
	r := openRunner(t, Config{})
	path := scratch + "/no/such/core.wasm"
	for name, c := range map[string]struct {
		p    *registry.Pack
		code wire.Code
		text string
	}{
		"unreadable": {pack(nil, "run", reading(func() ([]byte, error) { return os.ReadFile(path) })), wire.Internal, "cannot be read"},
		"changed":    {pack(tiny(t), "run", reading(func() ([]byte, error) { return guest(t), nil })), wire.Internal, "hash has changed"},
		"panicking":  {pack(tiny(t), "run", reading(func() ([]byte, error) { panic("of a parser") })), wire.Internal, "the log has the cause"},
		"not wasm":   {pack([]byte("#!/bin/sh"), "run"), wire.HandlerFailed, "not a WebAssembly core module"},
		"damaged":    {pack(tiny(t)[:20], "run"), wire.HandlerFailed, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // a failure is not remembered
				_, err := do(t, r, c.p, "")
				refused(t, err, c.code, c.text)
			}
		})
	}
	if len(r.modules) != 0 {
		t.Errorf("%d modules left", len(r.modules))
	}
	must(t, r, pack(tiny(t), "run"), "")
}

func TestClose(t *testing.T) {
	r, bin := runner(t), guest(t)
	must(t, r, pack(bin, "noop"), "")
	var group sync.WaitGroup
	for _, export := range hostile {
		group.Go(func() {
			_, err := do(t, r, pack(bin, export), "")
			refused(t, err, wire.Overloaded, "shutting down")
		})
	}
	in(r, pack(bin, "noop"), len(hostile))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	_, err := do(t, r, pack(bin, "noop"), "")
	refused(t, err, wire.Overloaded, "shutting down")
	refused(t, r.Warm(t.Context(), pack(bin, "noop")), wire.Overloaded, "shutting down")
	if r.Ready() == nil {
		t.Error("ready after Close")
	}
}

func TestCloseWhileCompiling(t *testing.T) {
	r := openRunner(t, Config{}) // no cache: compiling takes a second or more
	p := pack(guest(t), "noop")
	done := make(chan error)
	go func() { _, err := doIn(t.Context(), r, p, ""); done <- err }()
	in(r, p, 1)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil { // else it has ended before Close
		refused(t, err, wire.Overloaded, "shutting down")
	}
}

// Two thousand calls leave nothing behind, however they end.
func TestNoLeak(t *testing.T) {
	r, bin := runner(t), guest(t)
	ends := []string{"noop", "sum", "litter", "crash", "exit", "error", "outside", "burst", "eat"}
	round := func(n int) {
		for i := range n {
			export := ends[i%len(ends)]
			if export == "eat" && i%27 != 0 {
				export = "echo"
			}
			_, _ = do(t, r, pack(bin, export, memory(16)), `{"numbers":[1,2,3]}`)
		}
		for range 3 {
			runtime.GC()
		}
	}
	round(200)
	goroutines, resident := runtime.NumGoroutine(), residentBytes(t)
	round(2000)
	if n := runtime.NumGoroutine(); n > goroutines+5 {
		t.Errorf("%d goroutines became %d", goroutines, n)
	}
	if now := residentBytes(t); now > resident+64<<20 {
		t.Errorf("%d MiB of memory became %d", resident>>20, now>>20)
	}
	if m := in(r, pack(bin, "noop"), 0); m == nil || len(r.modules) != 1 {
		t.Errorf("%d modules", len(r.modules))
	}
}

// residentBytes is what the process holds, or 0 where it can't be told.
func residentBytes(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Logf("the memory is not watched: %v", err)
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return kb << 10
}

// A guest's sleep is the host's: as long as asked, but never past the call.
func TestSleeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		from := time.Now()
		sleeper(ctx)(int64(time.Second))
		if took := time.Since(from); took != time.Second {
			t.Errorf("a second took %v", took)
		}
		sleeper(ctx)(int64(time.Hour))
		if took := time.Since(from); took != time.Minute {
			t.Errorf("the call of a minute took %v", took)
		}
		sleeper(ctx)(-1)
	})
}
