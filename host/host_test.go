package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/plugins"
)

// settings are the defaults, in a data dir of the test's own.
func settings(t testing.TB, dir string) config.Config {
	t.Helper()
	cfg, err := config.FromEnv(func(name string) (string, bool) {
		v, ok := map[string]string{"GANTRY_DATA_DIR": dir, "GANTRY_ADMIN_PASSWORD": "correct horse battery staple"}[name]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// core is what the binary carries; without core.wasm the test is skipped, as in a checkout that was never built.
func core(t testing.TB) host.Core {
	t.Helper()
	c := host.Core{FS: plugins.FS(), Module: plugins.Core, Digest: plugins.CoreDigest()}
	if c.Digest == "" {
		t.Skip("run `make build` first: core.wasm is not there")
	}
	return c
}

func open(t testing.TB, dir string, c host.Core) *host.Host {
	t.Helper()
	h, err := host.Open(context.Background(), settings(t, dir), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func as(subject string) auth.Caller {
	return auth.Caller{Subject: subject, Scopes: []string{"packs:call"}}
}

func TestCallsCorePacks(t *testing.T) {
	h := open(t, t.TempDir(), core(t))
	var told []string
	if err := h.Warm(t.Context(), func(module string) { told = append(told, module) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0] != host.CoreModule {
		t.Errorf("compiled %v: all core packs are one module", told)
	}
	h.SetBaseURL("http://gantry.example")
	put, err := h.Engine.Call(t.Context(), engine.Request{Pack: "artifact.put", Input: []byte(`{"name":"a.txt","content":"hello"}`), Caller: as("ada")})
	if err != nil || len(put.Artifacts) != 1 || !strings.HasPrefix(put.Artifacts[0].URL, "http://gantry.example/") {
		t.Fatalf("%+v, %v", put, err)
	}
	for subject, want := range map[string]int{"ada": 1, "bob": 0} {
		env, err := h.Engine.Call(t.Context(), engine.Request{Pack: "artifact.list", Caller: as(subject)})
		var list struct{ Artifacts []wire.Artifact }
		if err != nil || json.Unmarshal(env.Output, &list) != nil || len(list.Artifacts) != want {
			t.Errorf("%s lists %s, %v; want %d artifacts", subject, env.Output, err, want)
		}
	}
}

func TestOneServicePerDataDir(t *testing.T) {
	c, dir := core(t), t.TempDir()
	first := open(t, dir, c)
	for range 2 {
		h, err := host.Open(t.Context(), settings(t, dir), c, slog.New(slog.DiscardHandler))
		if h != nil || err == nil || !strings.Contains(err.Error(), "is in use by process") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("opened a second time: %v, %v", h, err)
		}
	}
	if _, err := first.Engine.Call(t.Context(), engine.Request{Pack: "artifact.list", Caller: as("ada")}); err != nil {
		t.Errorf("the first service, after that: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	open(t, dir, c)
}

// What can't be opened is an error that names it, and leaves nothing open: the next Open in the same place works.
func TestOpenFails(t *testing.T) {
	good := core(t)
	unbuilt := good
	unbuilt.Digest = ""
	broken := good
	broken.FS = os.DirFS(t.TempDir() + "/none")
	foreign := good
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "bad.pack"), 0o755); err != nil {
		t.Fatal(err)
	}
	foreign.FS = os.DirFS(folder)
	for _, tt := range []struct {
		name string
		core host.Core
		dir  func(dir string) error // spoils the data dir
		says string
	}{
		{"core.wasm was never built", unbuilt, nil, "core.wasm has no digest"},
		{"no packs", broken, nil, "reading the core packs"},
		{"a folder that is no pack", foreign, nil, "core pack bad.pack: no file gantry-pack.yaml"},
		{"data dir is a file", good, func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "making the data dir"},
		{"signing key is a folder", good, func(dir string) error { return os.MkdirAll(filepath.Join(dir, "jwt.key"), 0o700) }, "jwt.key"},
		{"artifacts is a file", good, spoil("artifacts"), "artifacts"},
		{"cache is a file", good, spoil("cache"), "compilation cache"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if tt.dir != nil {
				if err := tt.dir(dir); err != nil {
					t.Fatal(err)
				}
			}
			h, err := host.Open(t.Context(), settings(t, dir), tt.core, slog.New(slog.DiscardHandler))
			if h != nil || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("%v, %v; want …%s…", h, err, tt.says)
			}
			for _, name := range []string{"jwt.key", "artifacts", "cache"} {
				if tt.dir != nil {
					_ = os.RemoveAll(filepath.Join(dir, name))
				}
			}
			if info, err := os.Stat(dir); err == nil && !info.IsDir() {
				return
			}
			open(t, dir, good)
		})
	}
}

func spoil(name string) func(dir string) error {
	return func(dir string) error {
		return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
}

// A binary whose core.wasm can't be read starts and says at each call what is missing, and the process lives.
func TestWithoutCoreModule(t *testing.T) {
	missing := errors.New("core.wasm is not built into this binary: run make build")
	h := open(t, t.TempDir(), host.Core{FS: plugins.FS(), Module: func() ([]byte, error) { return nil, missing }, Digest: "none"})
	if err := h.Warm(t.Context(), func(string) {}); err == nil || !strings.Contains(err.Error(), "run make build") {
		t.Errorf("Warm: %v", err)
	}
	for range 2 {
		_, err := h.Engine.Call(t.Context(), engine.Request{Pack: "artifact.list", Caller: as("ada")})
		if we := wire.As(err); we == nil || we.Code != wire.Internal {
			t.Errorf("a call: %v", err)
		}
	}
	// Another module under this digest is refused too.
	h = open(t, t.TempDir(), host.Core{FS: plugins.FS(), Module: func() ([]byte, error) { return []byte("\x00asm"), nil }, Digest: "none"})
	if err := h.Warm(t.Context(), func(string) {}); err == nil || !strings.Contains(err.Error(), "its hash has changed") {
		t.Errorf("Warm: %v", err)
	}
}

func TestReady(t *testing.T) {
	h := open(t, t.TempDir(), core(t))
	if parts := h.Ready(t.Context()); len(parts) != 2 || parts["store"] != "ok" || parts["engine"] != "ok" {
		t.Errorf("open: %v", parts)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for part, says := range h.Ready(t.Context()) {
		if says == "ok" || says == "" {
			t.Errorf("closed: %s is %q", part, says)
		}
	}
}

func TestFirstPassword(t *testing.T) {
	c, dir := core(t), t.TempDir()
	cfg := settings(t, dir)
	cfg.AdminPassword = ""
	var made []string
	for range 2 {
		h, err := host.Open(t.Context(), cfg, c, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, h.FirstPassword)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(made[0]) < 16 || made[1] != "" {
		t.Errorf("passwords of the first and second start: %q", made)
	}
}

// What runs in the background ends with Close, whether the start went well or not.
func TestNoGoroutineIsLeft(t *testing.T) {
	good := core(t)
	unbuilt := good
	unbuilt.Digest = ""
	cycle := func() {
		dir := t.TempDir()
		if _, err := host.Open(t.Context(), settings(t, dir), unbuilt, slog.New(slog.DiscardHandler)); err == nil {
			t.Fatal("opened without core.wasm")
		}
		h, err := host.Open(t.Context(), settings(t, dir), good, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Engine.Call(t.Context(), engine.Request{Pack: "memory.store", Caller: as("ada"), Input: []byte(`{}`)}); err == nil {
			t.Fatal("an empty input was taken")
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cycle() // what libraries start once and keep
	before := runtime.NumGoroutine()
	for range 3 {
		cycle()
	}
	for range 100 { // a goroutine that was told to end may take a moment
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, &stacks)
}
