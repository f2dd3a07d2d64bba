// Package wasm runs packs that are WebAssembly modules: one compiled module per digest, one fresh instance per call, the
// Extism ABI on wazero. A module is rewritten before it is compiled (see rewrite): it counts fuel, so a guest that never
// returns is stopped at its deadline and never holds up the rest of the process.
//
// Extism's ABI is implemented here natively, in env.go; its Go SDK is the oracle of the tests. RATIONALE.md says why.
package wasm

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

const pageBytes = 64 << 10

// Config is what a runner is made of.
type Config struct {
	CacheDir  string     // compiled modules; empty: none are kept
	Functions []Function // what modules may be lent
	// Setting answers config_get for a name that the pack's manifest lists; only what every pack may know belongs there.
	Setting func(name string) (string, bool)
	Log     *slog.Logger
}

// Runner runs modules. It is safe for concurrent use.
type Runner struct {
	log     *slog.Logger
	setting func(name string) (string, bool)
	table   map[string]Function
	runtime wazero.Runtime
	cache   *codeCache

	compiling sync.Mutex // wazero can't compile the same module twice at the same time
	mu        sync.Mutex
	modules   map[string]*module // by digest
	closed    bool
	running   sync.WaitGroup // calls and compilations

	life context.Context // ends with Close, and with it all that is running
	end  context.CancelFunc
}

var errClosed = wire.Errorf(wire.Overloaded, "the service is shutting down")

// Open starts the engine. Nothing is compiled yet.
func Open(ctx context.Context, c Config) (*Runner, error) {
	r := &Runner{log: c.Log, setting: c.Setting, table: byName(c.Functions), modules: map[string]*module{}}
	r.life, r.end = context.WithCancel(context.WithoutCancel(ctx))
	// No limit of memory here, which would refuse modules that declare a larger maximum: each instance has its own.
	cfg := wazero.NewRuntimeConfig().WithDebugInfoEnabled(false)
	var err error
	if r.cache, err = openCodeCache(c.CacheDir); err != nil {
		return nil, err
	}
	// No WithCloseOnContextDone: it makes guests 2.7 to 5 times slower. The fuel meter stops them.
	r.runtime = wazero.NewRuntimeWithConfig(ctx, r.cache.use(cfg))
	if err := r.lend(ctx, c.Functions); err != nil {
		return nil, fmt.Errorf("starting the wasm engine: %w", err)
	}
	return r, nil
}

// Run calls the pack's export in an instance that serves this call and no other.
func (r *Runner) Run(ctx context.Context, c *engine.Call, input []byte) ([]byte, error) {
	m, err := r.acquire(ctx, c.Pack)
	if err != nil {
		return nil, err
	}
	defer r.release(m)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(r.life, func() { stop(errClosed) })()
	if err := m.check(c.Pack, r.table); err != nil {
		return nil, wire.Failed("%v", err)
	}
	return r.call(ctx, m, c, input)
}

// Warm compiles the pack's module, so that its first call needn't wait for it.
func (r *Runner) Warm(ctx context.Context, p *registry.Pack) error {
	m, err := r.acquire(ctx, p)
	if err != nil {
		return err
	}
	r.release(m)
	return nil
}

// Ready says whether the engine takes calls.
func (r *Runner) Ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("closed")
	}
	return nil
}

// Close stops the calls that are running, waits for them and ends the engine: code must not be freed under a running guest.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	r.running.Wait()
	ctx := context.Background()
	if err := r.runtime.Close(ctx); err != nil {
		return err
	}
	return r.cache.close(ctx)
}
