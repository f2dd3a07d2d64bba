package rewrite_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/gantry-packs/gantry/host/wasm/rewrite"
)

var options = rewrite.Options{TickModule: "gantry:meter", TickName: "tick", MaxTable: 10_000, MaxGap: 64}

var errStopped = errors.New("stopped by tick")

// engine is one wazero runtime with the tick function, WASI, and env.double for tests of imports.
type engine struct {
	wazero.Runtime
	budget int32
	ticks  int
	limit  int // ticks after which the guest is stopped, 0 for never
}

func newEngine(t testing.TB) *engine {
	t.Helper()
	ctx := context.Background()
	config := wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages(2048).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall)
	e := &engine{Runtime: wazero.NewRuntimeWithConfig(ctx, config), budget: 10_000}
	t.Cleanup(func() { e.Close(ctx) })
	tick := api.GoFunc(func(_ context.Context, stack []uint64) {
		if e.ticks++; e.limit > 0 && e.ticks > e.limit {
			panic(errStopped)
		}
		stack[0] = api.EncodeI32(e.budget)
	})
	i32 := []api.ValueType{api.ValueTypeI32}
	_, err := e.NewHostModuleBuilder(options.TickModule).NewFunctionBuilder().
		WithGoFunction(tick, nil, i32).Export(options.TickName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	double := func(_ context.Context, stack []uint64) { stack[0] = uint64(uint32(stack[0]) * 2) }
	_, err = e.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoFunction(api.GoFunc(double), i32, i32).Export("double").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wasi_snapshot_preview1.MustInstantiate(ctx, e)
	return e
}

// start instantiates a module; the instance is closed with the test.
func (e *engine) start(t testing.TB, bin []byte) api.Module {
	t.Helper()
	ctx := context.Background()
	m, err := e.InstantiateWithConfig(ctx, bin, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		t.Fatalf("instantiate: %v", err)
	}
	t.Cleanup(func() { m.Close(ctx) })
	return m
}

func invoke(t testing.TB, m api.Module, name string, args ...uint64) ([]uint64, error) {
	t.Helper()
	f := m.ExportedFunction(name)
	if f == nil {
		t.Fatalf("no export %q", name)
	}
	return f.Call(context.Background(), args...)
}

func prepare(t testing.TB, bin []byte) []byte {
	t.Helper()
	out, err := rewrite.Prepare(bin, options)
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	return out
}

var guest = sync.OnceValues(func() ([]byte, error) {
	source, err := os.ReadFile("testdata/guest.go.txt")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o600); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "guest.wasm")
	c := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, "main.go")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if text, err := c.CombinedOutput(); err != nil {
		return nil, errors.New(string(text))
	}
	return os.ReadFile(out)
})

// goGuest builds testdata/guest.go.txt, once for all tests.
func goGuest(t testing.TB) []byte {
	t.Helper()
	bin, err := guest()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}
