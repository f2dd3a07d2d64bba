package rewrite

import "slices"

// segment is an active data segment at a constant offset.
type segment struct {
	at   uint64
	data []byte
	run  int // the run that it is part of
}

func (s *segment) end() uint64 { return s.at + uint64(len(s.data)) }

// readData reads the data section. fixed: it must stay as it is, because a segment is passive or its offset is not known
// yet, or because the memory is another's and what lies between the segments may not be zero.
func (w *rewriter) readData(r *reader) (segments []segment, fixed bool) {
	n := 0
	if w.has(sectionData) {
		n = r.count("data segments", maxSegments)
	}
	w.checkDataCount(r, n)
	fixed = len(w.Memories) != 1 || w.Memories[0].Imported
	segments = make([]segment, 0, n)
	for range n {
		var s segment
		switch form := r.u32(); form {
		case 1:
			fixed = true
		case 2:
			r.index("memory", len(w.Memories))
			fallthrough
		case 0:
			var known bool
			s.at, known = w.offset(r)
			fixed = fixed || !known
		default:
			r.malformed("unknown data segment %d", form)
		}
		s.data = r.take(r.u32())
		if r.err != nil {
			return nil, true
		}
		segments = append(segments, s)
	}
	r.finish()
	return segments, fixed
}

func (w *rewriter) checkDataCount(r *reader, n int) {
	if !w.has(sectionDataCount) {
		return
	}
	c := w.reader(sectionDataCount)
	announced := c.u32()
	c.finish()
	if c.err != nil || announced != uint32(n) {
		r.malformed("the data count section does not announce the %d data segments", n)
	}
}

// offset reads where an active segment goes; not known if that depends on an imported global.
func (w *rewriter) offset(r *reader) (at uint64, known bool) {
	start := *r
	w.constant(nil, r)
	if r.err != nil || start.byte() != opI32Const {
		return 0, false
	}
	return uint64(uint32(start.signed(32))), true
}

// maxRunHeader is the most bytes before a segment's data: form, offset expression, length.
const maxRunHeader = 1 + 7 + 5

// run is a stretch of memory that becomes one segment.
type run struct {
	at, end uint64
	body    int // where its bytes begin in the section
}

// mergeData writes segments that lie at most gap bytes apart as one. Go's linker leaves out every eight zeros and so
// makes tens of thousands of segments, which an engine applies one by one for each instance. Segments take effect in
// their order, so later ones win where they overlap. Never more zeros are added than there are bytes of data.
func mergeData(segments []segment, gap int) []byte {
	runs, total := findRuns(segments, uint64(gap))
	out := appendU32(make([]byte, 0, total+uint64(len(runs)*maxRunHeader)+5), uint32(len(runs)))
	for i := range runs {
		n := runs[i].end - runs[i].at
		out = appendS32(append(out, 0, opI32Const), int32(uint32(runs[i].at)))
		out = appendU32(append(out, opEnd), uint32(n))
		runs[i].body = len(out)
		out = out[:len(out)+int(n)] // fresh from make and within its capacity: zeros
	}
	for i := range segments {
		s := &segments[i]
		to := &runs[s.run]
		copy(out[to.body+int(s.at-to.at):], s.data)
	}
	return out
}

// findRuns assigns every segment to a run and returns the runs by address, and the sum of their lengths.
func findRuns(segments []segment, gap uint64) (runs []run, total uint64) {
	order := make([]int, len(segments))
	var zeros uint64 // still to be spent
	for i := range segments {
		order[i] = i
		zeros += uint64(len(segments[i].data))
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if segments[a].at < segments[b].at {
			return -1
		} else if segments[a].at > segments[b].at {
			return 1
		}
		return 0
	})
	for _, i := range order {
		s := &segments[i]
		if n := len(runs); n > 0 {
			last := &runs[n-1]
			var hole uint64
			if s.at > last.end {
				hole = s.at - last.end
			}
			if hole <= min(gap, zeros) {
				zeros -= hole
				last.end = max(last.end, s.end())
				s.run = n - 1
				continue
			}
		}
		s.run = len(runs)
		runs = append(runs, run{at: s.at, end: s.end()})
	}
	for _, u := range runs {
		total += u.end - u.at
	}
	return runs, total
}
