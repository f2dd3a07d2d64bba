package wasm

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/gantry-packs/gantry/host/engine"
)

// Limits of one instance besides its linear memory.
const (
	maxLogLines   = 1000     // of Extism's log functions; further ones are dropped
	maxLogLine    = 4 << 10  // bytes
	maxStderr     = 16 << 10 // bytes kept of what the guest writes to stdout and stderr
	fuelBudget    = 50_000   // units between two looks at the deadline: some 50 to 500 µs of guest code
	maxGuestError = 4 << 10  // bytes of a pack's error message, and of its details
	maxErrorBlock = 1 << 20  // bytes looked at of what error_set was given
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
	in := &instance{call: c, runner: r, input: input, memory: memory, stderr: tail{ctx: ctx}, blocks: arena{limit: max(limit, 2*len(input)+(8<<20))}}
	defer memory.release()
	ctx = experimental.WithMemoryAllocator(context.WithValue(ctx, instanceKey{}, in), memory)
	code, err := r.run(ctx, m, in)
	if in.stderr.n > 0 {
		r.log.Debug("pack wrote to stderr", "pack", c.Pack.Name, "request_id", c.RequestID, "text", c.Secrets.MaskString(in.stderr.String()))
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
		return 0, unlinked{err}
	}
	defer mod.Close(context.WithoutCancel(ctx))
	if err := initialize(ctx, mod); err != nil {
		return 0, err
	}
	return invoke(ctx, mod, exportOf(in.call.Pack))
}

// invoke calls an export that takes nothing and returns a status or nothing.
func invoke(ctx context.Context, mod api.Module, export string) (code int32, err error) {
	f := mod.ExportedFunction(export)
	if d := f.Definition(); len(d.ParamTypes()) > 0 || len(d.ResultTypes()) > 0 && !slices.Equal(d.ResultTypes(), i32) {
		return 0, refusal("its export " + export + " must take nothing and return one i32")
	}
	res, err := f.Call(ctx)
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 0: // C's exit(0) after the work, as Extism takes it
		return 0, nil
	case err != nil || len(res) == 0:
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

// logLine passes a line of the pack's own log on, masked before it is cut: half a secret would not be found.
func (in *instance) logLine(ctx context.Context, level slog.Level, text []byte) {
	if in.lines++; in.lines > maxLogLines {
		return
	}
	text = in.call.Secrets.Mask(text)
	in.runner.log.Log(ctx, level, "pack log", "pack", in.call.Pack.Name, "request_id", in.call.RequestID, "text", string(text[:min(len(text), maxLogLine)]))
}

// tail keeps the last maxStderr bytes written to it.
type tail struct {
	ctx context.Context // of the call
	buf bytes.Buffer
	n   int
}

// Write implements io.Writer. It takes all, so that a guest that talks too much goes on, until its call has ended: one call of
// WASI's fd_write may write a million times.
func (t *tail) Write(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	t.n += len(p)
	t.buf.Write(p[max(0, len(p)-maxStderr):])
	if over := t.buf.Len() - maxStderr; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buf.String() }
