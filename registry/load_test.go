package registry

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func folder(manifest string) fstest.MapFS {
	return fstest.MapFS{ManifestFile: {Data: []byte(manifest)}, "pack.wasm": {Data: []byte("\x00asm")}, "upper": {Data: []byte("#!/bin/sh\n"), Mode: 0o755}}
}

const commandManifest = `name: text.upper
version: v1
description: Makes text loud.
handler: {type: command, command: [./upper]}
`

func TestLoad(t *testing.T) {
	fsys := folder(minimal + "input_schema: {required: [text]}\n")
	p, err := Load(fsys, Options{Source: Marketplace})
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "text.upper" || p.Source != Marketplace || p.Digest != "cd5d4935a48c0672cb06407bb443bc0087aff947c6b864bac886982c73b3027f" {
		t.Errorf("loaded %+v", p)
	}
	if err := p.Input.Validate(map[string]any{}); err == nil || err.Error() != "text: missing (required)" {
		t.Errorf("Input: %v", err)
	}
	if err := p.Output.Validate(map[string]any{}); err != nil {
		t.Errorf("Output: %v", err)
	}
	if module, err := p.Module(); err != nil || !bytes.Equal(module, []byte("\x00asm")) {
		t.Errorf("Module() = %q, %v", module, err)
	}
	fsys["pack.wasm"] = &fstest.MapFile{Data: []byte("\x00asm, other")}
	if _, err := p.Module(); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("a module that was changed under us: %v", err)
	}
}

func TestLoadSharedModule(t *testing.T) {
	asked := 0
	o := Options{
		Source:  Core,
		Modules: map[string]func() ([]byte, error){"core.wasm": func() ([]byte, error) { asked++; return nil, errors.New("never built") }},
		Digest:  map[string]string{"core.wasm": "abc"},
	}
	fsys := folder(strings.Replace(minimal, "pack.wasm", "core.wasm", 1))
	p, err := Load(fsys, o)
	if err != nil || p.Digest != "abc" || asked != 0 {
		t.Fatalf("%+v, %v, asked %d times", p, err, asked)
	}
	if _, err := p.Module(); err == nil || asked != 1 {
		t.Errorf("Module(): %v, asked %d times", err, asked)
	}
	o.Digest = nil
	if _, err := Load(fsys, o); err == nil {
		t.Error("a shared module without a digest")
	}
}

func TestLoadCommand(t *testing.T) {
	p, err := Load(folder(commandManifest), Options{Source: Marketplace})
	if err != nil || p.Module != nil || p.Digest != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Load(folder(strings.Replace(commandManifest, "./upper", "python3", 1)), Options{Source: Marketplace}); err != nil {
		t.Error(err)
	}
}

func TestLoadRefuses(t *testing.T) {
	big := folder(minimal)
	big["pack.wasm"] = &fstest.MapFile{Data: make([]byte, MaxModuleBytes+1)}
	longManifest := folder(minimal + strings.Repeat("#", MaxManifestBytes))
	tests := map[string]struct {
		fsys   fs.FS
		source string
		reason string
	}{
		"no manifest":     {fstest.MapFS{}, Core, ManifestFile},
		"long manifest":   {longManifest, Core, "at most 262144"},
		"manifest":        {folder("name: x"), Core, ManifestFile + ": name"},
		"input schema":    {folder(minimal + "input_schema: {type: strnig}\n"), Core, "input_schema: the schema is not valid"},
		"output schema":   {folder(minimal + "output_schema: {$ref: 'https://evil.test/'}\n"), Core, "output_schema: $ref"},
		"schema is text":  {folder(minimal + "input_schema: any\n"), Core, "input_schema: the schema must be"},
		"no module":       {folder(strings.Replace(minimal, "pack.wasm", "no.wasm", 1)), Core, "handler.module: no file no.wasm"},
		"core's module":   {folder(strings.Replace(minimal, "pack.wasm", "core.wasm", 1)), Marketplace, "no file core.wasm"},
		"large module":    {big, Core, "handler.module: pack.wasm has 50331649 bytes"},
		"no command":      {folder(strings.Replace(commandManifest, "./upper", "./no", 1)), Marketplace, "handler.command[0]: no file no"},
		"unknown sources": {folder(minimal), "", "neither core nor marketplace"},
	}
	for name, tt := range tests {
		if _, err := Load(tt.fsys, Options{Source: tt.source}); err == nil || !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("%s: %v; want an error that says %q", name, err, tt.reason)
		}
	}
}

// A pack can't make the host read files of its own by links, nor hang on a folder.
func TestLoadFollowsNoLinks(t *testing.T) {
	for _, name := range []string{ManifestFile, "pack.wasm", "upper"} {
		dir := t.TempDir()
		outside := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(outside, []byte(minimal), 0o600); err != nil {
			t.Fatal(err)
		}
		text := minimal
		if name == "upper" {
			text = commandManifest
		}
		for file, data := range map[string]string{ManifestFile: text, "pack.wasm": "\x00asm", "upper": ""} {
			if file == name {
				if err := os.Symlink(outside, filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Load(os.DirFS(dir), Options{Source: Marketplace}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s is a link: %v", name, err)
		}
	}
	if _, err := Load(fstest.MapFS{ManifestFile: {Data: []byte(minimal)}, "pack.wasm": {Mode: fs.ModeDir | 0o755}}, Options{Source: Core}); err == nil {
		t.Error("a module that is a folder")
	}
}
