// Package plugins carries the core packs: one folder each, named as the pack, with a manifest and the Go that does the work.
// The packs compile to one module, core.wasm, that holds the Go runtime once for all of them (catalogue: core/main.go).
// build.sh builds it into built/, from where it is embedded; without it everything still compiles and only [Core] fails.
package plugins

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// maxModule is more than build.sh lets core.wasm grow to, in bytes: what unpacks to more is not what was built.
const maxModule = 16 << 20

//go:embed */gantry-pack.yaml
var manifests embed.FS

//go:embed built
var built embed.FS

var errNotBuilt = errors.New("core.wasm is not built into this binary: run make build")

// FS holds one folder for each pack, with its gantry-pack.yaml.
func FS() fs.FS { return manifests }

// Core returns the module that runs all core packs. Each call unpacks it anew: 4 MB that nobody keeps after compiling.
func Core() ([]byte, error) { return unpack(built) }

// CoreDigest is the hex SHA-256 of the module that [Core] returns, or "" if it was not built.
func CoreDigest() string { return digest(built) }

func unpack(from fs.FS) ([]byte, error) {
	packed, err := fs.ReadFile(from, "built/core.wasm.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("reading core.wasm: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking core.wasm: %w", err)
	}
	module, err := io.ReadAll(io.LimitReader(z, maxModule+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking core.wasm: %w", err)
	}
	if len(module) > maxModule {
		return nil, fmt.Errorf("unpacking core.wasm: over %d MiB", maxModule>>20)
	}
	return module, nil
}

// digest reads what build.sh wrote beside the module, so that a start doesn't unpack it only to know its name.
func digest(from fs.FS) string {
	if text, err := fs.ReadFile(from, "built/core.sha256"); err == nil {
		return strings.TrimSpace(string(text))
	}
	module, err := unpack(from)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(module)
	return hex.EncodeToString(sum[:])
}
