package imports

import (
	"bytes"
	"context"
	"math"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/wasm"
)

// maxPart is the most of a blob that one blob_read copies, in bytes; a module asks again for the rest.
const maxPart = 4 << 20

// readBlob answers a block with up to params[2] bytes of blob params[0] from offset params[1], or 0 if there is no such
// blob, nothing at that offset, or no memory left.
func readBlob(_ context.Context, c *engine.Call, b wasm.Blocks, params []uint64) uint64 {
	id, offset, length := params[0], params[1], params[2]
	if id > math.MaxInt64 {
		return 0
	}
	data, ok := c.Blobs.Get(int64(id))
	if !ok || offset >= uint64(len(data)) || length == 0 {
		return 0
	}
	data = data[offset:]
	return b.Write(data[:min(uint64(len(data)), length, maxPart)])
}

// writeBlob appends the block params[1] (0: nothing) to the blob params[0] (0: a new one) and answers the blob's id, or 0 if
// there is no such blob or block, or the call's limit is reached.
func writeBlob(_ context.Context, c *engine.Call, b wasm.Blocks, params []uint64) uint64 {
	id, block := params[0], params[1]
	if id > math.MaxInt64 {
		return 0
	}
	var data []byte
	if block != 0 {
		part, ok := b.Read(block)
		if !ok {
			return 0
		}
		data = bytes.Clone(part) // the block is the module's again when this returns
	}
	ref, err := c.Blobs.Append(int64(id), data)
	if err != nil {
		return 0
	}
	return uint64(ref.ID)
}
