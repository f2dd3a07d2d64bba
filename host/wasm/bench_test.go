package wasm

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/wasm/rewrite"
	"github.com/gantry-packs/gantry/plugins"
)

const (
	numbers = `{"numbers":[1,2,3.5,4,5,6,7,8,9,10]}`
	// An article that blog.publish refuses after having read it: no host function is called.
	article = `{"format":"markdown","title":"A title","body":"text","destination":"nowhere"}`
)

// BenchmarkCall is a whole call in a fresh instance.
func BenchmarkCall(b *testing.B) {
	r, bin := runner(b), guest(b)
	for _, c := range []struct {
		name, export, input string
		bin                 []byte
	}{{"tiny", "run", "", tiny(b)}, {"noop", "noop", "", bin}, {"JSON", "sum", numbers, bin}, {"echo 1 MiB", "echo", string(make([]byte, 1<<20)), bin}} {
		b.Run(c.name, func(b *testing.B) {
			p := pack(c.bin, c.export)
			must(b, r, p, c.input)
			b.ReportAllocs()
			for b.Loop() {
				must(b, r, p, c.input)
			}
		})
	}
}

// core is the module of the core packs, or the benchmark is skipped.
func core(b *testing.B) []byte {
	b.Helper()
	bin, err := plugins.Core()
	if err != nil {
		b.Skip(err)
	}
	return bin
}

// everything is a stand-in for each function that a module imports.
func everything(bin []byte) []Function {
	shape, err := rewrite.Inspect(bin)
	if err != nil {
		panic(err)
	}
	params := map[string]int{"blob_read": 3, "blob_write": 2, "count": 1}
	var out []Function
	for _, i := range shape.Imports {
		f := Function{Name: i.Name, Params: params[i.Name]}
		if f.Params > 0 {
			f.Raw = func(context.Context, *engine.Call, Blocks, []uint64) uint64 { return 0 }
		} else {
			f.JSON = func(context.Context, *engine.Call, []byte) (any, error) { return nil, nil }
		}
		if i.Module == userModule {
			out = append(out, f)
		}
	}
	return out
}

// BenchmarkParts says where the time of a call goes.
func BenchmarkParts(b *testing.B) {
	for _, c := range []struct {
		name, export, input string
		bin                 []byte
	}{{"guest", "sum", numbers, guest(b)}, {"core", "blog.publish", article, core(b)}} {
		b.Run(c.name, func(b *testing.B) {
			r := openRunner(b, Config{CacheDir: filepath.Join(scratch, "cache"), Functions: everything(c.bin)})
			p := pack(c.bin, c.export)
			_, _ = do(b, r, p, c.input)
			m, err := r.acquire(b.Context(), p)
			if err != nil {
				b.Fatal(err)
			}
			defer r.release(m)
			var parts [3]time.Duration
			for b.Loop() {
				one(b, r, m, &engine.Call{Pack: p}, []byte(c.input), &parts)
			}
			for i, unit := range []string{"instantiate-µs", "initialize-µs", "run-µs"} {
				b.ReportMetric(float64(parts[i].Microseconds())/float64(b.N), unit)
			}
		})
	}
}

// one is a call with a clock in it.
func one(b *testing.B, r *Runner, m *module, c *engine.Call, input []byte, parts *[3]time.Duration) {
	space, err := newLinear(c.Pack.MemoryMB() << 20)
	if err != nil {
		b.Fatal(err)
	}
	defer space.release()
	in := &instance{call: c, runner: r, input: input, memory: space, stderr: tail{ctx: b.Context()}, blocks: arena{limit: 8 << 20}}
	ctx := experimental.WithMemoryAllocator(context.WithValue(b.Context(), instanceKey{}, in), space)
	step := func(i int, do func() error) {
		from := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		parts[i] += time.Since(from)
	}
	var mod api.Module
	step(0, func() (err error) {
		mod, err = r.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(rand.Reader))
		return err
	})
	step(1, func() error { return initialize(ctx, mod) })
	step(2, func() error { _, err := invoke(ctx, mod, exportOf(c.Pack)); return err })
	_ = mod.Close(ctx)
}

// BenchmarkCompile is what the first call of a module waits for.
func BenchmarkCompile(b *testing.B) {
	bin := core(b)
	p := pack(bin, "blog.publish")
	warm := func(b *testing.B, dir string) {
		r := openRunner(b, Config{CacheDir: dir, Functions: everything(bin)})
		if err := r.Warm(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			warm(b, "")
		}
	})
	b.Run("from the disk", func(b *testing.B) {
		dir := b.TempDir()
		warm(b, dir)
		for b.Loop() {
			warm(b, dir)
		}
	})
}
