package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/gantry-packs/gantry/registry"
)

type packCommands struct {
	New   packNewCommand   `cmd:"" help:"Write a new wasm pack in Go, which builds without a network."`
	Build packBuildCommand `cmd:"" help:"Compile a pack's module with the Go toolchain."`
	Check packCheckCommand `cmd:"" help:"List what is wrong with a pack."`
	Test  packTestCommand  `cmd:"" help:"Run a pack's examples in the real engine."`
}

// packDir is the argument of the commands that work on a pack's folder.
type packDir struct {
	Dir string `arg:"" optional:"" default:"." help:"The pack's folder."`
}

// errReported ends a command with exit code 1 whose findings are printed already.
var errReported = errors.New("findings were printed")

// open opens the folder; nothing outside of it can be read through the result, whatever links it holds.
func (d packDir) open() (fs.FS, io.Closer, error) {
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("opening the pack's folder: %w", err)}
	}
	return root.FS(), root, nil
}

// manifest reads gantry-pack.yaml alone, for what must work before the module is built.
func manifest(folder fs.FS) (*registry.Manifest, error) {
	info, err := fs.Stat(folder, registry.ManifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("no %s here: name the pack's folder, or make one with gantry pack new", registry.ManifestFile)}
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the manifest: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > registry.MaxManifestBytes {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", registry.ManifestFile, registry.MaxManifestBytes)
	}
	raw, err := fs.ReadFile(folder, registry.ManifestFile)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	return registry.ParseManifest(raw)
}
