package wasm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
)

// codeCache keeps compiled modules on disk: a Go module compiles in 2 s and loads in 0.1 s. Without a dir it keeps none.
type codeCache struct {
	dir   string
	cache wazero.CompilationCache
}

func openCodeCache(dir string) (*codeCache, error) {
	if dir == "" {
		return &codeCache{}, nil
	}
	// Machine code is loaded from there: nobody else may write it.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the compilation cache: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("protecting the compilation cache: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the compilation cache: %w", err)
	}
	return &codeCache{dir: dir, cache: cache}, nil
}

func (c *codeCache) use(cfg wazero.RuntimeConfig) wazero.RuntimeConfig {
	if c.cache == nil {
		return cfg
	}
	return cfg.WithCompilationCache(c.cache)
}

// compile compiles bin. A damaged file of the cache, or a full disk, fails the compilation; so the cache is emptied then and
// the module compiled once more. Any other failure is the module's, and costs nobody else's entries.
func (c *codeCache) compile(ctx context.Context, rt wazero.Runtime, bin []byte) (wazero.CompiledModule, error) {
	m, err := rt.CompileModule(ctx, bin)
	if err == nil || !damaged(err) {
		return m, err
	}
	entries, _ := filepath.Glob(filepath.Join(c.dir, "*", "*")) // the pattern is well-formed but for the dir: then none
	for _, e := range entries {
		_ = os.Remove(e)
	}
	return rt.CompileModule(ctx, bin)
}

// damaged says whether a failed compilation is the cache's fault. wazero has no type for its complaints about a file.
func damaged(err error) bool {
	var file *fs.PathError
	return errors.As(err, &file) || strings.HasPrefix(err.Error(), "compilationcache: ")
}

func (c *codeCache) close(ctx context.Context) error {
	if c.cache == nil {
		return nil
	}
	return c.cache.Close(ctx)
}
