package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// scratch holds what the tests share: built guests and their compiled code.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "gantry-wasm-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

var buildPack, buildABI = sync.OnceValues(func() ([]byte, error) { return build("pack") }), sync.OnceValues(func() ([]byte, error) { return build("abi") })

// build compiles a guest of testdata/guests.
func build(name string) ([]byte, error) {
	out := filepath.Join(scratch, name+".wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-o", out, "./testdata/guests/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return os.ReadFile(out)
}

// guest is the module of testdata/guests/pack.
func guest(t testing.TB) []byte { return built(t, buildPack) }

func built(t testing.TB, build func() ([]byte, error)) []byte {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// runner shares the cache of compiled code with the other tests' runners.
func runner(t testing.TB) *Runner {
	return openRunner(t, Config{CacheDir: filepath.Join(scratch, "cache")})
}

func openRunner(t testing.TB, c Config) *Runner {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Functions == nil {
		c.Functions = lent()
	}
	c.Setting = func(name string) (string, bool) {
		return map[string]string{"region": "north", "secret": "hidden", "empty": ""}[name], name != "unset"
	}
	r, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// lent is what the guests may call: with and without a permission, quick, broken and slow.
func lent() []Function {
	return []Function{
		{Name: "upper", Permission: registry.PermMemory, JSON: func(_ context.Context, _ *engine.Call, req []byte) (any, error) {
			if string(req) == "fail" {
				return nil, errors.New("secret of the host")
			}
			return strings.ToUpper(string(req)), nil
		}},
		{Name: "count", Permission: registry.PermArtifacts, Params: 1, Raw: func(_ context.Context, _ *engine.Call, b Blocks, p []uint64) uint64 {
			data, _ := b.Read(p[0])
			return uint64(len(data))
		}},
		{Name: "burst", JSON: func(context.Context, *engine.Call, []byte) (any, error) {
			var none []int
			return none[len("x")], nil
		}},
		{Name: "wait", JSON: func(ctx context.Context, _ *engine.Call, _ []byte) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	}
}

type edit func(*registry.Pack)

// pack is one of the guest's exports with all permissions.
func pack(bin []byte, export string, edits ...edit) *registry.Pack {
	sum := sha256.Sum256(bin)
	p := &registry.Pack{
		Manifest: registry.Manifest{
			Name: "test." + export, Handler: registry.Handler{Type: registry.Wasm, Module: "test.wasm", Export: export},
			Permissions: &registry.Permissions{Memory: true, Artifacts: true}, Config: []string{"region", "unset", "empty"},
		},
		Source: registry.Marketplace, Digest: hex.EncodeToString(sum[:]),
		Module: func() ([]byte, error) { return bin, nil },
	}
	for _, e := range edits {
		e(p)
	}
	return p
}

func memory(mb int) edit                       { return func(p *registry.Pack) { p.Handler.MemoryMB = mb } }
func source(s string) edit                     { return func(p *registry.Pack) { p.Source = s } }
func permissions(q *registry.Permissions) edit { return func(p *registry.Pack) { p.Permissions = q } }
func reading(read func() ([]byte, error)) edit { return func(p *registry.Pack) { p.Module = read } }

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// do calls a pack with time enough.
func do(t testing.TB, r *Runner, p *registry.Pack, input string) (string, error) {
	t.Helper()
	return doIn(within(t, time.Minute), r, p, input)
}

func doIn(ctx context.Context, r *Runner, p *registry.Pack, input string) (string, error) {
	out, err := r.Run(ctx, &engine.Call{Pack: p, RequestID: "req-1", Blobs: engine.NewBlobs()}, []byte(input))
	return string(out), err
}

// must is do for a call that succeeds.
func must(t testing.TB, r *Runner, p *registry.Pack, input string) string {
	t.Helper()
	out, err := do(t, r, p, input)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return out
}

// refused checks an error as the caller sees it: its code, a part of its text, and that nothing of the host is in it.
func refused(t testing.TB, err error, code wire.Code, part string) {
	t.Helper()
	e := wire.As(err)
	if e == nil {
		t.Fatalf("no error, want %s with %q", code, part)
	}
	if e.Code != code || !strings.Contains(e.Message, part) {
		t.Errorf("got %s: %s\nwant %s with %q\ncause: %v", e.Code, e.Message, code, part, errors.Unwrap(e))
	}
	for _, leak := range []string{"goroutine", "wasm stack", ".go:", "wazero", scratch, "0x", "/tmp"} {
		if strings.Contains(e.Message+string(e.Details), leak) {
			t.Errorf("the caller reads %q in %q", leak, e.Message)
		}
	}
}
