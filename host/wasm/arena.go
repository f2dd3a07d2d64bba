package wasm

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// arena is an instance's Extism memory: blocks named by their offset. The host trusts nothing that a guest can write: the
// blocks' bounds are kept apart from their bytes. (The SDK's kernel keeps them in between, where a guest can overwrite them
// and make the kernel's search for a free block endless.)
type arena struct {
	bytes  []byte
	blocks []block // by offset
	limit  int
}

type block struct {
	offset, length int
	freed          bool
}

// firstOffset is above 0, which means no block.
const firstOffset = 16

// alloc makes a block of n zero bytes; 0 if the limit is reached, or if n is 0, as in Extism.
func (a *arena) alloc(n uint64) uint64 {
	offset := max(len(a.bytes), firstOffset)
	if n == 0 || n > uint64(a.limit) || offset+int(n) > a.limit || len(a.blocks) >= maxBlocks {
		return 0
	}
	end := offset + int(n)
	if end > cap(a.bytes) {
		a.bytes = slices.Grow(a.bytes, end-len(a.bytes))
	}
	old := len(a.bytes)
	a.bytes = a.bytes[:end]
	clear(a.bytes[old:]) // a freed block's bytes may stand there
	a.blocks = append(a.blocks, block{offset: offset, length: int(n)})
	return uint64(offset)
}

// maxBlocks bounds the blocks of one instance: one of a byte costs the host 24 more.
const maxBlocks = 1 << 20

// write makes a block that holds data; 0 if there is no data or the limit is reached.
func (a *arena) write(data []byte) uint64 {
	offset := a.alloc(uint64(len(data)))
	if offset != 0 {
		copy(a.bytes[offset:], data)
	}
	return offset
}

// find returns the index of the live block that begins at offset, or -1.
func (a *arena) find(offset uint64) int {
	i, ok := slices.BinarySearchFunc(a.blocks, offset, func(b block, o uint64) int { return cmp.Compare(uint64(b.offset), o) })
	if !ok || a.blocks[i].freed {
		return -1
	}
	return i
}

// read returns the block's bytes, valid until the next alloc.
func (a *arena) read(offset uint64) ([]byte, bool) {
	i := a.find(offset)
	if i < 0 {
		return nil, false
	}
	b := a.blocks[i]
	return a.bytes[b.offset : b.offset+b.length : b.offset+b.length], true
}

// length is that of the block, 0 if there is none.
func (a *arena) length(offset uint64) uint64 {
	b, _ := a.read(offset)
	return uint64(len(b))
}

// free gives a block back; a wrong offset is ignored, as Extism does. Its bytes are used again once all behind it are free.
func (a *arena) free(offset uint64) {
	i := a.find(offset)
	if i < 0 {
		return
	}
	a.blocks[i].freed = true
	for n := len(a.blocks); n > 0 && a.blocks[n-1].freed; n = len(a.blocks) {
		a.bytes = a.bytes[:a.blocks[n-1].offset]
		a.blocks = a.blocks[:n-1]
	}
}

// slice is the n bytes at offset, wherever blocks begin.
func (a *arena) slice(offset, n uint64) ([]byte, bool) {
	if offset > uint64(len(a.bytes)) || n > uint64(len(a.bytes))-offset {
		return nil, false
	}
	return a.bytes[offset : offset+n], true
}

func (a *arena) load64(offset uint64) (uint64, bool) {
	b, ok := a.slice(offset, 8)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

func (a *arena) store64(offset, v uint64) bool {
	b, ok := a.slice(offset, 8)
	if ok {
		binary.LittleEndian.PutUint64(b, v)
	}
	return ok
}
