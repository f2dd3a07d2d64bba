package wasm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/gantry-packs/gantry/host/wasm/rewrite"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// Limits of a module.
const (
	maxTable = 1 << 20 // entries of a table: 8 MiB of host memory
	maxGap   = 256     // zero bytes written between two data segments to make them one
)

// module is one compiled module, shared by all packs and calls with its digest.
type module struct {
	digest   string
	done     chan struct{} // closed when compiled, or err is set
	err      error
	compiled wazero.CompiledModule
	shape    rewrite.Module
	uses     int  // calls that hold it, under Runner.mu
	retired  bool // no pack has it any more: closed when uses is 0
}

// acquire returns the pack's compiled module, compiling it if this is the first call; concurrent callers wait for one
// compilation. release must follow.
func (r *Runner) acquire(ctx context.Context, p *registry.Pack) (*module, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errClosed
	}
	m, ok := r.modules[p.Digest]
	if !ok {
		m = &module{digest: p.Digest, done: make(chan struct{})}
		r.modules[p.Digest] = m
		// Detached from the caller: its going away must not fail the others that wait.
		r.running.Go(func() { r.compile(m, p) })
	}
	m.uses++
	r.running.Add(1)
	r.mu.Unlock()
	select {
	case <-m.done:
	case <-ctx.Done():
		r.release(m)
		return nil, ctx.Err()
	}
	if m.err != nil {
		r.release(m)
		return nil, m.err
	}
	return m, nil
}

func (r *Runner) release(m *module) {
	defer r.running.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	m.uses--
	r.dispose(m)
}

// Release lets go of a pack that has left the set; its module is closed when no pack of remaining has it and the last of its
// calls has ended.
func (r *Runner) Release(p *registry.Pack, remaining []*registry.Pack) {
	if slices.ContainsFunc(remaining, func(q *registry.Pack) bool { return q.Digest == p.Digest }) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.modules[p.Digest]; m != nil {
		delete(r.modules, p.Digest)
		m.retired = true
		r.dispose(m)
	}
}

// dispose closes a retired module that nobody uses; under r.mu.
func (r *Runner) dispose(m *module) {
	if !m.retired || m.uses > 0 {
		return
	}
	select {
	case <-m.done:
		if m.compiled != nil {
			_ = m.compiled.Close(context.Background())
			m.compiled = nil
		}
	default: // still compiling: compile disposes of it
	}
}

// compile fills m in. A failure is told to those who wait and forgotten, so that the next call tries again.
func (r *Runner) compile(m *module, p *registry.Pack) {
	err := r.build(m, p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		m.err = err
		if r.modules[m.digest] == m {
			delete(r.modules, m.digest)
		}
	}
	close(m.done)
	r.dispose(m)
}

func (r *Runner) build(m *module, p *registry.Pack) (err error) {
	// Strangers' code is parsed here, on a goroutine of our own, where a panic would end the process. For the same reason wazero
	// is given no workers: nobody could recover their panics. The price is that a compilation can't be stopped.
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("compiling the module of %s panicked: %v\n%s", p.Name, v, debug.Stack())
		}
	}()
	bin, err := p.Module()
	if err != nil {
		return wire.Errorf(wire.Internal, "the module of %s cannot be read; the log says why", p.Name).Because(err)
	}
	if sum := sha256.Sum256(bin); hex.EncodeToString(sum[:]) != p.Digest {
		return wire.Errorf(wire.Internal, "the module of %s is not the one that was loaded: its hash has changed", p.Name)
	}
	if m.shape, err = rewrite.Inspect(bin); err != nil {
		return wire.Failed("the module of %s cannot be run: %v", p.Name, err)
	}
	metered, err := rewrite.Prepare(bin, rewrite.Options{TickModule: meterModule, TickName: tickName, MaxTable: maxTable, MaxGap: maxGap})
	if err != nil {
		return wire.Failed("the module of %s cannot be run: %v", p.Name, err)
	}
	r.compiling.Lock()
	defer r.compiling.Unlock()
	started := time.Now()
	m.compiled, err = r.cache.compile(r.life, r.runtime, metered)
	switch {
	case err == nil:
	case damaged(err): // not the pack's fault, and the text names paths of this machine
		return fmt.Errorf("compiling the module of %s: %w", p.Name, err)
	default:
		return wire.Failed("the module of %s cannot be compiled: %s", p.Name, firstLine(err.Error())).Because(err)
	}
	r.log.Debug("module compiled", "module", p.Handler.Module, "bytes", len(bin), "took", time.Since(started))
	return nil
}

// Check says whether a pack's module could run: a module that the engine takes, with the pack's export, importing only what
// its manifest allows. It compiles nothing. Several findings are joined.
func Check(p *registry.Pack, functions []Function) error {
	bin, err := p.Module()
	if err != nil {
		return err
	}
	shape, err := rewrite.Inspect(bin)
	if err != nil {
		return err
	}
	if _, err := rewrite.Prepare(bin, rewrite.Options{TickModule: meterModule, TickName: tickName, MaxTable: maxTable, MaxGap: maxGap}); err != nil {
		return err
	}
	return (&module{shape: shape}).check(p, byName(functions))
}

// check holds the module against the pack's manifest. A core pack shares its module with others, so what it may be lent is
// checked when it asks; an installed module that imports more than its manifest allows isn't even instantiated.
func (m *module) check(p *registry.Pack, table map[string]Function) error {
	var errs []error
	export := exportOf(p)
	if !slices.ContainsFunc(m.shape.Exports, func(e rewrite.Export) bool { return e.Name == export && e.Kind == rewrite.Func }) {
		errs = append(errs, fmt.Errorf("%s exports no function called %s", p.Handler.Module, export))
	}
	for _, i := range m.shape.Imports {
		if err := checkImport(i, p, table); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", p.Handler.Module, err))
		}
	}
	for _, l := range m.shape.Memories {
		if need := uint64(l.Min) * pageBytes; need > uint64(p.MemoryMB())<<20 {
			errs = append(errs, fmt.Errorf("%s starts with %d MiB of memory, its manifest allows %d: raise handler.memory_mb", p.Handler.Module, need>>20, p.MemoryMB()))
		}
	}
	return errors.Join(errs...)
}

func checkImport(i rewrite.Import, p *registry.Pack, table map[string]Function) error {
	if i.Kind != rewrite.Func {
		return fmt.Errorf("imports %s.%s, which is not a function: a pack brings its own memory, tables and globals", i.Module, i.Name)
	}
	switch i.Module {
	case userModule:
		f, ok := table[i.Name]
		if !ok {
			return fmt.Errorf("imports %s, which this service does not lend", i.Name)
		}
		if p.Source != registry.Core && !p.Allows(f.Permission) {
			return fmt.Errorf("imports %s, but its manifest does not ask for permissions.%s", i.Name, f.Permission)
		}
	case envModule:
		if !slices.ContainsFunc(env, func(f envFunction) bool { return f.name == i.Name }) {
			return fmt.Errorf("imports %s.%s, which Extism does not have", i.Module, i.Name)
		}
	case ioModule, wasiModule:
	default:
		return fmt.Errorf("imports %s.%s: a pack may import from %s only", i.Module, i.Name,
			strings.Join([]string{userModule, envModule, ioModule, wasiModule}, ", "))
	}
	return nil
}

// exportOf is the name of the function that runs the pack.
func exportOf(p *registry.Pack) string { return cmp.Or(p.Handler.Export, p.Name) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
