package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
	"github.com/gantry-packs/gantry/registry/schema"
)

type packTestCommand struct {
	packDir
}

// Run runs every example in a host that lives in a temporary folder and ends with the command.
func (c *packTestCommand) Run(ctx context.Context, p *process) error {
	folder, closer, err := c.open()
	if err != nil {
		return err
	}
	defer closer.Close()
	if _, err := manifest(folder); err != nil {
		return err
	}
	pack, err := registry.Load(folder, registry.Options{Source: registry.Marketplace})
	if err != nil {
		return err
	}
	if len(pack.Examples) == 0 {
		return fmt.Errorf("%s has no examples to run: add some to its manifest", pack.Name)
	}
	return throwaway(ctx, p, func(h *host.Host) error {
		if err := h.Packs.Add(pack); err != nil {
			return fmt.Errorf("adding the pack: %w", err)
		}
		return runExamples(ctx, p, h, pack)
	})
}

// throwaway opens a host in a temporary folder, with defaults and nothing from the environment, and removes it after f.
func throwaway(ctx context.Context, p *process, f func(*host.Host) error) (err error) {
	packs, err := core()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gantry-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg, err := settings(with(func(string) (string, bool) { return "", false }, "GANTRY_DATA_DIR", dir))
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	h, err := host.Open(ctx, cfg, packs, log)
	if err != nil {
		return fmt.Errorf("opening a host: %w", err)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return f(h)
}

// runExamples prints a line an example, and under a failed one what differs.
func runExamples(ctx context.Context, p *process, h *host.Host, pack *registry.Pack) error {
	failed := 0
	for i, e := range pack.Examples {
		name := e.Name
		if name == "" {
			name = fmt.Sprintf("examples[%d]", i)
		}
		start := time.Now()
		var differences []string
		err := p.err.During("running "+name, func(func(string)) (err error) {
			differences, err = runExample(ctx, h, pack.Name, e)
			return err
		})
		if err != nil {
			return err
		}
		if len(differences) == 0 {
			fmt.Fprintf(p.out, "ok    %s  %d ms\n", printable(name), time.Since(start).Milliseconds())
			continue
		}
		failed++
		fmt.Fprintf(p.out, "FAIL  %s\n", printable(name))
		for _, d := range differences {
			fmt.Fprintf(p.out, "        %s\n", printable(d))
		}
	}
	fmt.Fprintf(p.out, "%s: %d of %d examples passed\n", pack.Name, len(pack.Examples)-failed, len(pack.Examples))
	if failed > 0 {
		return errReported
	}
	return nil
}

// runExample calls the pack and says in what the answer differs from the expected one. An error means that the run itself
// was broken off.
func runExample(ctx context.Context, h *host.Host, pack string, e registry.Example) ([]string, error) {
	answer, err := h.Engine.Call(ctx, engine.Request{Pack: pack, Input: e.Input, Caller: auth.Caller{Subject: "pack-test", Scopes: []string{"admin"}}})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		got := wire.As(err)
		if e.ExpectedError == string(got.Code) {
			return nil, nil
		}
		if e.ExpectedError != "" {
			return []string{fmt.Sprintf("expected the error %s, got %s", e.ExpectedError, got)}, nil
		}
		return []string{got.Error()}, nil
	}
	if e.ExpectedError != "" {
		return []string{fmt.Sprintf("expected the error %s, got the output %s", e.ExpectedError, clip(answer.Output))}, nil
	}
	return compare(e.ExpectedOutputSubset, answer.Output)
}

func compare(expected json.RawMessage, output []byte) ([]string, error) {
	if len(expected) == 0 {
		return nil, nil
	}
	want, err := schema.Decode(expected)
	if err != nil {
		return nil, fmt.Errorf("expected_output_subset: %w", err)
	}
	got, err := schema.Decode(output)
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	return differences("output", want, got), nil
}
