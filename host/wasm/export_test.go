package wasm

import "context"

// GuestMemory is all that the instance whose host function runs under ctx can read: its linear memory, used or not, the
// blocks, freed ones too, and its input.
func GuestMemory(ctx context.Context) [][]byte {
	in := instanceOf(ctx)
	return [][]byte{in.memory.space, in.blocks.bytes[:cap(in.blocks.bytes)], in.input}
}
