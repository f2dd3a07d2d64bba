package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"

	"github.com/gantry-packs/gantry/registry/schema"
)

// Options says what a pack's folder doesn't.
type Options struct {
	Source  string                            // Core or Marketplace
	Modules map[string]func() ([]byte, error) // modules outside of the folder, such as core.wasm; asked when first needed
	Digest  map[string]string                 // hex SHA-256 of each of them
}

// Load reads the pack in fsys, the pack's folder: its manifest and schemas are checked, its module or command must be there.
// Nothing in the folder is followed out of it: what is not a regular file is refused. The module is read when it is first
// needed. The error names the field or the file.
func Load(fsys fs.FS, o Options) (*Pack, error) {
	text, err := readFile(fsys, ManifestFile, MaxManifestBytes)
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if o.Source != Core && o.Source != Marketplace {
		return nil, fmt.Errorf("the source %s is neither %s nor %s", shown(o.Source), Core, Marketplace)
	}
	p := &Pack{Manifest: *m, Source: o.Source}
	if p.Input, err = schema.Compile(m.InputSchema); err != nil {
		return nil, fmt.Errorf("input_schema: %w", err)
	}
	if p.Output, err = schema.Compile(m.OutputSchema); err != nil {
		return nil, fmt.Errorf("output_schema: %w", err)
	}
	if m.Handler.Type == Wasm {
		err = p.findModule(fsys, o)
	} else if file, ok := m.Handler.File(); ok {
		if _, err = regular(fsys, file); err != nil {
			err = fmt.Errorf("handler.command[0]: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// findModule sets Module and Digest.
func (p *Pack) findModule(fsys fs.FS, o Options) error {
	name := p.Handler.Module
	if shared, ok := o.Modules[name]; ok {
		if p.Digest = o.Digest[name]; p.Digest == "" {
			return fmt.Errorf("handler.module: the shared module %s has no digest", name)
		}
		p.Module = shared
		return nil
	}
	data, err := readFile(fsys, name, MaxModuleBytes)
	if err != nil {
		return fmt.Errorf("handler.module: %w", err)
	}
	digest := hexSum(data)
	p.Digest = digest
	p.Module = func() ([]byte, error) {
		data, err := readFile(fsys, name, MaxModuleBytes)
		if err != nil {
			return nil, err
		}
		if hexSum(data) != digest {
			return nil, fmt.Errorf("%s has changed since the pack was loaded", name)
		}
		return data, nil
	}
	return nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// regular finds a regular file; links and devices are none.
func regular(fsys fs.FS, name string) (fs.FileInfo, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("no file %s in the pack: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return info, nil
}

// readFile reads a regular file of at most limit bytes. A larger one is an error, not a shorter file.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := regular(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes: at most %d", name, info.Size(), limit)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has grown past %d bytes", name, limit)
	}
	return data, nil
}
