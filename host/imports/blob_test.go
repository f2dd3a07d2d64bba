package imports

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// blocks is an instance's block memory: offsets count up from 1, and room is what is left of it, in bytes.
type blocks struct {
	data map[uint64][]byte
	room int
}

func (b *blocks) Read(offset uint64) ([]byte, bool) {
	d, ok := b.data[offset]
	return d, ok
}

func (b *blocks) Write(data []byte) uint64 {
	if len(data) > b.room {
		return 0
	}
	b.room -= len(data)
	id := uint64(len(b.data) + 1)
	b.data[id] = bytes.Clone(data)
	return id
}

func TestReadBlob(t *testing.T) {
	c := newCall("alice")
	small, err := c.Blobs.Add([]byte("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Blobs.Add(make([]byte, maxPart+1)); err != nil {
		t.Fatal(err)
	}
	id := uint64(small.ID)
	tests := map[string]struct {
		id, offset, length uint64
		room               int
		want               string
	}{
		"all":             {id, 0, 10, 100, "0123456789"},
		"middle":          {id, 3, 2, 100, "34"},
		"past the end":    {id, 8, 100, 100, "89"},
		"huge length":     {id, 0, math.MaxUint64, 100, "0123456789"},
		"at the end":      {id, 10, 1, 100, ""},
		"huge offset":     {id, math.MaxUint64, 1, 100, ""},
		"negative offset": {id, uint64(1) << 63, 1, 100, ""},
		"nothing":         {id, 0, 0, 100, ""},
		"no blob 0":       {0, 0, 1, 100, ""},
		"unknown":         {99, 0, 1, 100, ""},
		"negative id":     {math.MaxUint64, 0, 1, 100, ""},
		"no memory":       {id, 0, 10, 5, ""},
		"a part at once":  {id + 1, 0, math.MaxInt64, maxPart + 1, strings.Repeat("\x00", maxPart)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := &blocks{map[uint64][]byte{}, tt.room}
			block := readBlob(t.Context(), c, b, []uint64{tt.id, tt.offset, tt.length})
			if got := string(b.data[block]); got != tt.want || (block == 0) != (tt.want == "") {
				t.Errorf("block %d with %d bytes, want %d", block, len(got), len(tt.want))
			}
		})
	}
}

func TestWriteBlob(t *testing.T) {
	c := newCall("alice")
	b := &blocks{map[uint64][]byte{}, math.MaxInt}
	block := b.Write([]byte("hello "))
	id := writeBlob(t.Context(), c, b, []uint64{0, block})
	copy(b.data[block], "XXXXXX") // the module writes over its block afterwards
	if again := writeBlob(t.Context(), c, b, []uint64{id, b.Write([]byte("world"))}); again != id {
		t.Fatalf("appending to %d answered %d", id, again)
	}
	if got, _ := c.Blobs.Get(int64(id)); string(got) != "hello world" {
		t.Errorf("kept %q", got)
	}
	empty := writeBlob(t.Context(), c, b, []uint64{0, 0})
	if got, ok := c.Blobs.Get(int64(empty)); empty == 0 || !ok || len(got) != 0 {
		t.Errorf("an empty blob: %d, %q", empty, got)
	}
	for name, params := range map[string][]uint64{
		"unknown blob":  {99, block},
		"negative id":   {math.MaxUint64, block},
		"unknown block": {0, 99},
	} {
		if got := writeBlob(t.Context(), c, b, params); got != 0 {
			t.Errorf("%s: %d", name, got)
		}
	}
}

func TestBlobsHaveALimit(t *testing.T) {
	c := newCall("alice")
	b := &blocks{map[uint64][]byte{}, math.MaxInt}
	block := b.Write(make([]byte, 32<<20))
	for i := range 4 {
		id := writeBlob(t.Context(), c, b, []uint64{0, block})
		if (id == 0) != (i == 3) {
			t.Errorf("blob %d of 32 MiB: %d", i+1, id)
		}
	}
}
