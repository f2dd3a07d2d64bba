package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/gantry-packs/gantry"
	"github.com/gantry-packs/gantry/registry"
)

// templates are the files of a new pack; a name loses its .tmpl.
//
//go:embed scaffold/*.tmpl
var templates embed.FS

const pdkFolder = "third_party/gantry" // where the development kit lies in a new pack

type packNewCommand struct {
	Name string `arg:"" help:"The pack's name, such as text.greet."`
	Dir  string `arg:"" optional:"" help:"The folder to make. Default: the name."`
}

// scaffold is what the templates may say.
type scaffold struct {
	Name   string // text.greet
	Module string // text-greet: the Go module and program
	Go     string // the go line of this build's go.mod
	Folder string // of the development kit
}

// Run writes the pack into a folder that is new or empty.
func (c *packNewCommand) Run(p *process) error {
	if !registry.ValidName(c.Name) {
		return usageError{fmt.Errorf("a pack's name is two to four words of a-z, 0-9 and _ with dots between, such as text.greet, not %q", c.Name)}
	}
	dir := c.Dir
	if dir == "" {
		dir = c.Name
	}
	if err := makeEmpty(dir); err != nil {
		return err
	}
	goLine, err := goVersionLine()
	if err != nil {
		return err
	}
	s := scaffold{Name: c.Name, Module: strings.NewReplacer(".", "-", "_", "-").Replace(c.Name), Go: goLine, Folder: pdkFolder}
	if err := errors.Join(writeTemplates(dir, s), writePDK(dir, goLine)); err != nil {
		return fmt.Errorf("writing the pack: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "wrote %s\nnext:  cd %s && go test . && gantry pack build && gantry pack check && gantry pack test\n", dir, dir)
	return err
}

// makeEmpty makes dir, or takes it as it is when nothing is in it.
func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the pack's folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking into the pack's folder: %w", err)
	}
	if len(entries) > 0 {
		return usageError{fmt.Errorf("%s is not empty: name a new folder", dir)}
	}
	return nil
}

// goVersionLine is the go line of this build's go.mod: the development kit needs that version.
func goVersionLine() (string, error) {
	mod, err := gantry.PDK.ReadFile("go.mod")
	if err != nil {
		return "", fmt.Errorf("reading the embedded go.mod: %w", err)
	}
	for line := range strings.Lines(string(mod)) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "go "); ok {
			return version, nil
		}
	}
	return "", errors.New("the embedded go.mod has no go line")
}

func writeTemplates(dir string, s scaffold) error {
	t, err := template.ParseFS(templates, "scaffold/*.tmpl")
	if err != nil {
		return err
	}
	for _, one := range t.Templates() {
		var b bytes.Buffer
		if err := one.Execute(&b, s); err != nil {
			return err
		}
		name := strings.TrimSuffix(one.Name(), ".tmpl")
		if name == "gitignore" {
			name = ".gitignore"
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writePDK lays the development kit beside the pack, as a module of its own without its tests.
func writePDK(dir, goLine string) error {
	root := filepath.Join(dir, filepath.FromSlash(pdkFolder))
	err := fs.WalkDir(gantry.PDK, "pdk", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := gantry.PDK.ReadFile(name)
		if err != nil {
			return err
		}
		target := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, source, 0o644)
	})
	if err != nil {
		return err
	}
	mod := "module github.com/gantry-packs/gantry\n\ngo " + goLine + "\n"
	return os.WriteFile(filepath.Join(root, "go.mod"), []byte(mod), 0o644)
}
