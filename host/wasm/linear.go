package wasm

import (
	"errors"

	"github.com/tetratelabs/wazero/experimental"
)

// linear is the linear memory of one instance, limited by the manifest of the pack that runs in it: packs with different
// limits share one compiled module. wazero calls Free as soon as a guest exits, while its own code is still on the stack, so
// Free does nothing and the owner of the instance calls release when nothing of it runs any more.
type linear struct {
	space   []byte
	refused bool // the guest asked for more than its limit
	taken   bool
}

func newLinear(limit int) (*linear, error) {
	space, err := reserve(limit)
	if err != nil {
		return nil, err
	}
	return &linear{space: space}, nil
}

var errSecondMemory = errors.New("a module may have one memory")

// Allocate implements experimental.MemoryAllocator for the one memory of the instance.
func (l *linear) Allocate(_, _ uint64) experimental.LinearMemory {
	if l.taken {
		panic(errSecondMemory)
	}
	l.taken = true
	return l
}

// Reallocate implements experimental.LinearMemory; nil makes memory.grow answer -1.
func (l *linear) Reallocate(size uint64) []byte {
	if size > uint64(len(l.space)) {
		l.refused = true
		return nil
	}
	return l.space[:size:size]
}

// Free implements experimental.LinearMemory.
func (l *linear) Free() {}

func (l *linear) release() {
	unreserve(l.space)
	l.space = nil
}
