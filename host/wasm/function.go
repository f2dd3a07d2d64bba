package wasm

import (
	"context"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/registry"
)

// Function is one thing the host lends to modules, imported from extism:host/user. Exactly one of JSON and Raw is set.
type Function struct {
	Name       string
	Permission registry.Permission
	Help       string // one line, for the docs

	// JSON takes one JSON request and answers a value to be marshalled into {"ok": …}; an error becomes {"error": …}.
	// In wasm: (block i64) -> (block i64).
	JSON func(ctx context.Context, c *engine.Call, req []byte) (any, error)

	// Raw moves bytes without JSON: params i64s in, one i64 out. Blocks are reached through Blocks.
	Raw    func(ctx context.Context, c *engine.Call, b Blocks, params []uint64) uint64
	Params int
}

// Blocks is the calling instance's Extism memory: blocks of bytes named by their offset.
type Blocks interface {
	// Read returns the block's bytes (not to be kept after the function returns), or false.
	Read(offset uint64) ([]byte, bool)
	// Write makes a new block that holds data and returns its offset, 0 if there is no data or the instance's limit is reached.
	Write(data []byte) uint64
}
