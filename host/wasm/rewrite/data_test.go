package rewrite

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// image applies a data section of active segments to a memory, as an engine does.
func image(t *testing.T, section []byte, size int) (memory []byte, segments, total int) {
	t.Helper()
	w := rewriter{module: &module{Module: Module{Memories: []Limits{{Min: 1}}}}}
	w.sections[sectionData].body = section
	r := w.reader(sectionData)
	read, fixed := w.readData(&r)
	if r.err != nil || fixed {
		t.Fatalf("the merged section is not readable: %v, fixed %v", r.err, fixed)
	}
	memory = make([]byte, size)
	for _, s := range read {
		copy(memory[s.at:s.end()], s.data)
		total += len(s.data)
	}
	return memory, len(read), total
}

// Whatever the segments, overlapping and in any order, memory is the same after merging and not much is written.
func TestMergedDataIsTheSameMemory(t *testing.T) {
	const size = 4096
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		var segments []segment
		want, sum := make([]byte, size), 0
		for range random.IntN(40) {
			s := segment{at: uint64(random.IntN(size - 64)), data: make([]byte, random.IntN(1+random.IntN(64)))}
			for i := range s.data {
				s.data[i] = byte(random.Uint32())
			}
			copy(want[s.at:], s.data)
			sum += len(s.data)
			segments = append(segments, s)
		}
		got, n, total := image(t, mergeData(segments, random.IntN(100)), size)
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: memory differs", round)
		}
		if n > len(segments) || total > 2*sum {
			t.Fatalf("round %d: %d segments of %d bytes became %d of %d", round, len(segments), sum, n, total)
		}
	}
}

func TestDistantSegmentsStayApart(t *testing.T) {
	segments := []segment{{at: 0, data: []byte("a")}, {at: 1<<32 - 1, data: []byte("b")}, {at: 9, data: []byte("cdefghijkl")}}
	section := mergeData(segments, 8)
	want := "\x02" + "\x00\x41\x00\x0b\x13" + "a\x00\x00\x00\x00\x00\x00\x00\x00cdefghijkl" + "\x00\x41\x7f\x0b\x01b"
	if string(section) != want {
		t.Errorf("got %q, want %q", section, want)
	}
}

// What lies between the segments of a memory that is another's may be that other's data.
func TestDataOfImportedMemoryStays(t *testing.T) {
	section := []byte("\x02" + "\x00\x41\x00\x0b\x01a" + "\x00\x41\x04\x0b\x01b")
	for _, imported := range []bool{false, true} {
		w := rewriter{module: &module{Module: Module{Memories: []Limits{{Min: 1, Imported: imported}}}}}
		w.sections[sectionData].body = section
		r := w.reader(sectionData)
		if _, fixed := w.readData(&r); fixed != imported || r.err != nil {
			t.Errorf("imported %v: fixed %v, %v", imported, fixed, r.err)
		}
	}
}
