package wasm

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/gantry-packs/gantry/host/engine"
)

// Limits of one instance besides its linear memory.
const (
	maxLogLines   = 1000     // of Extism's log functions; further ones are dropped
	maxLogLine    = 4 << 10  // bytes
	maxStderr     = 16 << 10 // bytes kept of what the guest writes to stdout and stderr
	fuelBudget    = 50_000   // units between two looks at the deadline: some 50 to 500 µs of guest code
	maxGuestError = 4 << 10  // bytes of an error text that isn't ours
)

// instance is one call's instance of a module: what the host functions know of it.
type instance struct {
	call    *engine.Call
	runner  *Runner
	input   []byte
	output  []byte
	failure []byte // what error_set was given
	failed  bool
	blocks  arena
	memory  *linear
	stderr  tail
	lines   int

	inputBlock uint64 // where input_offset has put the input, 0 until it is asked for
}

type instanceKey struct{}

func instanceOf(ctx context.Context) *instance { return ctx.Value(instanceKey{}).(*instance) }

// call makes an instance, calls the pack's export in it and throws it away, whatever happened: an instance that has trapped
// would answer the next call from a broken state.
func (r *Runner) call(ctx context.Context, m *module, c *engine.Call, input []byte) ([]byte, error) {
	limit := c.Pack.MemoryMB() << 20
	memory, err := newLinear(limit)
	if err != nil {
		return nil, fmt.Errorf("reserving %d MiB for an instance: %w", limit>>20, err)
	}
	in := &instance{call: c, runner: r, input: input, memory: memory, blocks: arena{limit: max(limit, 2*len(input)+(8<<20))}}
	defer memory.release()
	ctx = experimental.WithMemoryAllocator(context.WithValue(ctx, instanceKey{}, in), memory)
	code, err := r.run(ctx, m, in)
	if in.stderr.n > 0 {
		r.log.Debug("pack wrote to stderr", "pack", c.Pack.Name, "request_id", c.RequestID, "text", in.stderr.String())
	}
	if err != nil {
		return nil, in.explain(ctx, err)
	}
	if in.failed {
		return nil, in.guestError()
	}
	if code != 0 {
		return nil, in.exited(code)
	}
	return in.output, nil
}

func (r *Runner) run(ctx context.Context, m *module, in *instance) (code int32, err error) {
	// A fault of the engine itself must end this call, not the process.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the wasm engine panicked: %v", p)
		}
	}()
	// Anonymous, so that many can live at the same time; wazero's defaults are a fake clock and fixed "random" bytes.
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithSysWalltime().WithSysNanotime().WithNanosleep(sleeper(ctx)).WithRandSource(rand.Reader).
		WithStdout(&in.stderr).WithStderr(&in.stderr)
	mod, err := r.runtime.InstantiateModule(ctx, m.compiled, cfg)
	if err != nil {
		return 0, err
	}
	defer mod.Close(context.WithoutCancel(ctx))
	if err := initialize(ctx, mod); err != nil {
		return 0, err
	}
	export := in.call.Pack.Handler.Export
	if export == "" {
		export = in.call.Pack.Name
	}
	res, err := mod.ExportedFunction(export).Call(ctx)
	if err != nil || len(res) == 0 {
		return 0, err
	}
	return api.DecodeI32(res[0]), nil
}

// initialize runs what a reactor wants run before its exports, as Extism's SDKs do.
func initialize(ctx context.Context, mod api.Module) error {
	for _, name := range []string{"_initialize", "__wasm_call_ctors"} {
		if f := mod.ExportedFunction(name); f != nil && len(f.Definition().ParamTypes()) == 0 {
			if _, err := f.Call(ctx); err != nil {
				return err
			}
			break // _initialize calls the constructors itself
		}
	}
	if f := mod.ExportedFunction("hs_init"); f != nil && len(f.Definition().ParamTypes()) == 2 {
		_, err := f.Call(ctx, 0, 0)
		return err
	}
	return nil
}

// sleeper makes the guest's sleep end with its call.
func sleeper(ctx context.Context) func(ns int64) {
	return func(ns int64) {
		t := time.NewTimer(time.Duration(ns))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
}

// logLine passes a line of the pack's own log on.
func (in *instance) logLine(ctx context.Context, level slog.Level, text []byte) {
	if in.lines++; in.lines > maxLogLines {
		return
	}
	in.runner.log.Log(ctx, level, "pack log", "pack", in.call.Pack.Name, "request_id", in.call.RequestID, "text", string(text[:min(len(text), maxLogLine)]))
}

// tail keeps the last maxStderr bytes written to it.
type tail struct {
	buf bytes.Buffer
	n   int
}

// Write implements io.Writer and never fails: a guest that talks too much goes on.
func (t *tail) Write(p []byte) (int, error) {
	t.n += len(p)
	t.buf.Write(p[max(0, len(p)-maxStderr):])
	if over := t.buf.Len() - maxStderr; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buf.String() }
