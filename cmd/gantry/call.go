package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

const maxInputBytes = 48 << 20 // what the service takes

type callCommand struct {
	Pack   string `arg:"" help:"The pack's name, such as plan.save."`
	Input  string `arg:"" optional:"" help:"The input: a JSON object, - for stdin, or @file. Default {}."`
	Output bool   `help:"Print the pack's output alone, not the envelope." xor:"shape"`
	Raw    bool   `help:"Print the answer as it was sent." xor:"shape"`
	Remote remote `embed:""`
}

// Run calls the pack and prints what it answered.
func (c *callCommand) Run(ctx context.Context, p *process) error {
	input, err := c.input(p)
	if err != nil {
		return err
	}
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	var raw []byte
	err = p.err.During("calling "+c.Pack, func(func(string)) (err error) {
		raw, err = s.do(ctx, http.MethodPost, "/api/v1/packs/"+url.PathEscape(c.Pack), input)
		return err
	})
	var answered *serviceError
	if errors.As(err, &answered) {
		answered.Pack = c.Pack
	}
	if err != nil {
		return err
	}
	return c.print(p.out, raw)
}

// input reads the input from where the argument says.
func (c *callCommand) input(p *process) ([]byte, error) {
	var r io.Reader = strings.NewReader(c.Input)
	switch {
	case c.Input == "":
		return []byte("{}"), nil
	case c.Input == "-":
		r = p.in
	case strings.HasPrefix(c.Input, "@"):
		f, err := os.Open(c.Input[1:])
		if err != nil {
			return nil, usageError{fmt.Errorf("reading the input: %w", err)}
		}
		defer f.Close()
		r = f
	}
	input, err := io.ReadAll(io.LimitReader(r, maxInputBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	if len(input) > maxInputBytes {
		return nil, usageError{fmt.Errorf("the input is larger than %d MiB", maxInputBytes>>20)}
	}
	return input, nil
}

// print writes the answer in the shape that was asked for. Indenting works on the bytes, so numbers stay as spelt.
func (c *callCommand) print(w io.Writer, raw []byte) error {
	if c.Raw {
		_, err := w.Write(raw)
		return err
	}
	if c.Output {
		var envelope struct {
			Output json.RawMessage `json:"output"`
		}
		if err := json.Unmarshal(raw, &envelope); err != nil || envelope.Output == nil {
			return errors.New("the answer has no output: is this Gantry? See it with --raw")
		}
		raw = envelope.Output
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("the answer is not JSON (see it with --raw): %w", err)
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(w)
	return err
}
