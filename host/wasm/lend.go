package wasm

import (
	"context"
	"encoding/json"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// The namespaces that a module may import from, and the meter's, which it may not.
const (
	envModule   = "extism:host/env"
	userModule  = "extism:host/user"
	ioModule    = "gantry:io"
	wasiModule  = wasi_snapshot_preview1.ModuleName
	meterModule = "gantry:meter"
	tickName    = "tick"
)

func byName(functions []Function) map[string]Function {
	t := make(map[string]Function, len(functions))
	for _, f := range functions {
		t[f.Name] = f
	}
	return t
}

// lend links every host module into the runtime. Which pack may use what is said by [module.check] and, at each call, by user.
func (r *Runner) lend(ctx context.Context, functions []Function) error {
	watched := experimental.WithFunctionListenerFactory(ctx, deadline{})
	if _, err := wasi_snapshot_preview1.Instantiate(watched, r.runtime); err != nil {
		return err
	}
	b := r.runtime.NewHostModuleBuilder(envModule)
	for _, f := range env {
		do := f.do
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, s []uint64) {
			mustGoOn(ctx)
			do(ctx, instanceOf(ctx), s)
		}), f.params, f.results).Export(f.name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return err
	}
	b = r.runtime.NewHostModuleBuilder(userModule)
	for _, f := range functions {
		params := []api.ValueType{api.ValueTypeI64}
		for len(params) < f.Params {
			params = append(params, api.ValueTypeI64)
		}
		b.NewFunctionBuilder().WithGoFunction(user(f), params, i64).Export(f.Name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return err
	}
	if err := lendIO(ctx, r.runtime); err != nil {
		return err
	}
	_, err := r.runtime.NewHostModuleBuilder(meterModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(tick), nil, i32).Export(tickName).Instantiate(ctx)
	return err
}

// tick is called by the guest each time its fuel runs out. Being Go code, it also lets the scheduler and the collector in.
func tick(ctx context.Context, s []uint64) {
	mustGoOn(ctx)
	s[0] = fuelBudget
}

// mustGoOn ends the guest if its call has ended. Every host function asks, since fuel doesn't pay for what the host does: a
// loop whose every round clears 64 MiB would run for minutes between two ticks.
func mustGoOn(ctx context.Context) {
	if ctx.Err() != nil {
		panic(stopped{context.Cause(ctx)})
	}
}

// deadline is mustGoOn for functions that are not ours.
type deadline struct{}

// NewFunctionListener implements experimental.FunctionListenerFactory.
func (d deadline) NewFunctionListener(api.FunctionDefinition) experimental.FunctionListener { return d }

// Before implements experimental.FunctionListener.
func (deadline) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	mustGoOn(ctx)
}

// After implements experimental.FunctionListener.
func (deadline) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

// Abort implements experimental.FunctionListener.
func (deadline) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}

// user wraps a lent function: the running pack's permission is checked at every call.
func user(f Function) api.GoFunc {
	return func(ctx context.Context, s []uint64) {
		in := instanceOf(ctx)
		mustGoOn(ctx)
		if f.Raw != nil {
			if !in.call.Pack.Allows(f.Permission) {
				panic(refusal(denied(f)))
			}
			s[0] = f.Raw(ctx, in.call, blocks{&in.blocks}, s[:f.Params])
			return
		}
		s[0] = in.blocks.write(answer(ctx, in, f, s[0]))
		if s[0] == 0 {
			panic(refusal("the host's answers filled its memory: free the blocks that were read"))
		}
	}
}

func denied(f Function) string {
	return "its manifest does not ask for permissions." + string(f.Permission) + ", which " + f.Name + " needs"
}

// answer runs a JSON function and gives the reply's bytes.
func answer(ctx context.Context, in *instance, f Function, request uint64) []byte {
	reply := func() (r wire.Reply) {
		if !in.call.Pack.Allows(f.Permission) {
			return wire.Reply{Error: wire.Failed("%s: %s", in.call.Pack.Name, denied(f))}
		}
		req, ok := in.blocks.read(request)
		if !ok {
			return wire.Reply{Error: wire.Failed("%s was given no block", f.Name)}
		}
		v, err := f.JSON(ctx, in.call, req)
		if err == nil {
			r.OK, err = json.Marshal(v)
		}
		if err != nil {
			r = wire.Reply{Error: in.hidden(f, err)}
		}
		return r
	}()
	mustGoOn(ctx) // else the guest has no time left to make anything of it
	b, err := json.Marshal(reply)
	if err != nil {
		panic(refusal("the host's answer could not be written"))
	}
	return b
}

// hidden logs what a guest must not read and returns what it may.
func (in *instance) hidden(f Function, err error) *wire.Error {
	e := wire.As(err)
	if e.Code == wire.Internal {
		in.runner.log.Error("host function failed", "function", f.Name, "pack", in.call.Pack.Name, "request_id", in.call.RequestID, "error", in.call.Secrets.MaskString(err.Error()))
	}
	return e
}

// blocks shows an arena to a Raw function.
type blocks struct{ a *arena }

func (b blocks) Read(offset uint64) ([]byte, bool) { return b.a.read(offset) }
func (b blocks) Write(data []byte) uint64          { return b.a.write(data) }

// lendIO links gantry:io, bulk copies between a guest's own memory and the host's: Extism's functions move eight bytes a call,
// 40 ms for a MiB. Our PDK uses them; a module of any other Extism PDK needs none.
func lendIO(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(ioModule)
	export := func(name string, params, results []api.ValueType, do func(in *instance, m api.Memory, s []uint64) bool) {
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, s []uint64) {
			mustGoOn(ctx)
			if m := mod.Memory(); m == nil || !do(instanceOf(ctx), m, s) {
				panic(outside)
			}
		}), params, results).Export(name)
	}
	t32, t64 := api.ValueTypeI32, api.ValueTypeI64
	// The upper halves of i32 parameters are not zero.
	export("read_input", []api.ValueType{t32, t32}, nil, func(in *instance, m api.Memory, s []uint64) bool {
		n := uint64(uint32(s[1]))
		return n <= uint64(len(in.input)) && m.Write(uint32(s[0]), in.input[:n])
	})
	export("load", []api.ValueType{t64, t32, t32}, nil, func(in *instance, m api.Memory, s []uint64) bool {
		b, ok := in.blocks.slice(s[0], uint64(uint32(s[2])))
		return ok && m.Write(uint32(s[1]), b)
	})
	export("store", []api.ValueType{t32, t32}, []api.ValueType{t64}, func(in *instance, m api.Memory, s []uint64) bool {
		b, ok := m.Read(uint32(s[0]), uint32(s[1]))
		if ok {
			s[0] = in.blocks.write(b)
		}
		return ok
	})
	_, err := b.Instantiate(ctx)
	return err
}
