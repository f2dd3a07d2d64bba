package wasm

import (
	"bytes"
	"testing"
)

// FuzzArena drives an arena as a guest might and holds it against a map: blocks are zero, keep their bytes, never overlap,
// stay within the limit, and nothing panics.
func FuzzArena(f *testing.F) {
	f.Add([]byte{0, 8, 0, 8, 1, 0, 0, 200, 1, 1, 2, 40, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		const limit = 4 << 10
		a := arena{limit: limit}
		live := map[uint64][]byte{}
		for i := 0; i+1 < len(ops); i += 2 {
			n := uint64(ops[i+1])
			switch ops[i] % 4 {
			case 0:
				if offset := a.alloc(n * 8); offset != 0 {
					b, ok := a.read(offset)
					if !ok || len(b) != int(n*8) || bytes.Count(b, []byte{0}) != len(b) || live[offset] != nil {
						t.Fatalf("block %d of %d bytes: %v %v", offset, n*8, b, ok)
					}
					for j := range b {
						b[j] = ops[i+1] | 1
					}
					live[offset] = bytes.Clone(b)
				}
			case 1:
				a.free(firstOffset + n*8)
				delete(live, firstOffset+n*8)
			case 2:
				a.store64(uint64(limit)+n, n) // outside of the limit, so never in a block
				a.free(^n)
			case 3:
				a.load64(^n)
				a.length(n)
			}
			if len(a.bytes) > limit {
				t.Fatalf("%d bytes", len(a.bytes))
			}
			for offset, want := range live {
				if got, ok := a.read(offset); !ok || !bytes.Equal(got, want) {
					t.Fatalf("block %d holds %v, want %v", offset, got, want)
				}
			}
		}
	})
}
