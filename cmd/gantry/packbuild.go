package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gantry-packs/gantry/registry"
)

var errNoGo = errors.New("go is not in PATH: install Go from https://go.dev/dl (the pack itself needs nothing else)")

type packBuildCommand struct {
	packDir
}

// Run compiles the folder's program to the module file that the manifest names.
func (c *packBuildCommand) Run(ctx context.Context, p *process) error {
	folder, closer, err := c.open()
	if err != nil {
		return err
	}
	defer closer.Close()
	m, err := manifest(folder)
	if err != nil {
		return err
	}
	module := m.Handler.Module
	if m.Handler.Type != registry.Wasm || module == "" {
		return usageError{fmt.Errorf("%s has no wasm module to build: its handler is %q", m.Name, m.Handler.Type)}
	}
	if !filepath.IsLocal(module) {
		return usageError{fmt.Errorf("handler.module is %q: name a file inside the pack's folder", module)}
	}
	start := time.Now()
	if err := p.err.During("compiling "+module, func(func(string)) error { return buildModule(ctx, c.Dir, module) }); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(c.Dir, module))
	if err != nil {
		return fmt.Errorf("looking at the module: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "%s  %.1f MB in %.1f s\n", module, float64(info.Size())/1e6, time.Since(start).Seconds())
	return err
}

// buildModule runs the Go compiler in dir. What it prints comes back as the error's text.
func buildModule(ctx context.Context, dir, module string) error {
	program, err := exec.LookPath("go")
	if err != nil {
		return errNoGo
	}
	cmd := exec.CommandContext(ctx, program, "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", module, ".")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}
