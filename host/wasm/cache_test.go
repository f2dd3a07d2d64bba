package wasm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestDamagedCache(t *testing.T) {
	bin := tiny(t)
	for name, damage := range map[string]func([]byte) []byte{
		"none":      func(b []byte) []byte { return b },
		"empty":     func([]byte) []byte { return nil },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"short":     func(b []byte) []byte { return b[:len(b)-1] },
		"garbage":   func(b []byte) []byte { return bytes.Repeat([]byte{0xa5}, len(b)) },
		"a bit of the code": func(b []byte) []byte {
			b[len(b)-40] ^= 1
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			must(t, openRunner(t, Config{CacheDir: dir}), pack(bin, "run"), "")
			files := cached(t, dir)
			if len(files) != 1 {
				t.Fatalf("%d files in the cache", len(files))
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, damage(b), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			must(t, openRunner(t, Config{CacheDir: dir}), pack(bin, "run"), "")
			must(t, openRunner(t, Config{CacheDir: dir}), pack(bin, "run"), "")
		})
	}
}

func cached(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Code that can be written by others can be run by others.
func TestCacheIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	openRunner(t, Config{CacheDir: dir})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		t.Errorf("the cache's mode is %o", mode)
	}
}

// A module that can't be compiled must not cost the others their entries.
func TestInvalidModuleLeavesCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	r := openRunner(t, Config{CacheDir: dir})
	must(t, r, pack(tiny(t), "run"), "")
	_, err := do(t, r, pack(assembly{result: status, code: cat(0x01)}.bin(), "run"), "")
	refused(t, err, wire.HandlerFailed, "cannot be compiled")
	if n := len(cached(t, dir)); n != 1 {
		t.Errorf("%d files in the cache, want 1", n)
	}
}

// A cache that can't be written costs time, no calls.
func TestCacheGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	r := openRunner(t, Config{CacheDir: dir})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	must(t, r, pack(tiny(t), "run"), "")
}
