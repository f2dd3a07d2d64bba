package engine

import (
	"sync"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// What the blobs of one call may take together. Their number is bounded too: empty ones cost memory as well.
const (
	MaxBlobBytes = 96 << 20
	MaxBlobs     = 10_000
)

// Blobs keeps the large values of one call outside of the guest's memory. It is safe for concurrent use.
type Blobs struct {
	mu    sync.Mutex
	blobs map[int64][]byte
	next  int64
	total int64
}

// NewBlobs makes an empty set.
func NewBlobs() *Blobs { return &Blobs{blobs: map[int64][]byte{}} }

// Add keeps data, which must not change afterwards, and names it. Over the call's limit: handler_failed.
func (b *Blobs) Add(data []byte) (wire.BlobRef, error) { return b.Append(0, data) }

// Append adds data to blob id (0: a new one, which then owns data).
func (b *Blobs) Append(id int64, data []byte) (wire.BlobRef, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total+int64(len(data)) > MaxBlobBytes {
		return wire.BlobRef{}, wire.Failed("the call's blobs would exceed %d MiB", MaxBlobBytes>>20)
	}
	if id == 0 {
		if len(b.blobs) >= MaxBlobs {
			return wire.BlobRef{}, wire.Failed("the call would have more than %d blobs", MaxBlobs)
		}
		b.next++
		id = b.next
		b.blobs[id] = data
	} else {
		old, ok := b.blobs[id]
		if !ok {
			return wire.BlobRef{}, wire.Failed("no blob %d in this call", id)
		}
		b.blobs[id] = append(old[:len(old):cap(old)], data...)
	}
	b.total += int64(len(data))
	return wire.BlobRef{ID: id, Size: int64(len(b.blobs[id]))}, nil
}

// Get returns a blob's bytes, which must not be changed.
func (b *Blobs) Get(id int64) ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.blobs[id]
	return d, ok
}

// Drop forgets all blobs.
func (b *Blobs) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.blobs)
	b.total = 0
}
