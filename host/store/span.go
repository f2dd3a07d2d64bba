package store

import "bytes"

// span is the keys from lo to hi, hi not included; a nil hi has no end. All of them begin with prefix.
type span struct {
	prefix, lo, hi []byte
}

// spanOf is what a Scan walks. from is included in both directions; one outside of the prefix's keys counts as the edge
// it lies beyond, so that a walk away from them finds nothing.
func spanOf(prefix, from []byte, reverse bool) span {
	s := span{prefix: prefix, lo: prefix, hi: after(prefix)}
	switch {
	case from == nil:
	case reverse:
		if end := next(from); s.hi == nil || bytes.Compare(end, s.hi) < 0 {
			s.hi = end
		}
	case bytes.Compare(from, s.lo) > 0:
		s.lo = from
	}
	return s
}

func (s span) empty() bool { return s.hi != nil && bytes.Compare(s.lo, s.hi) >= 0 }

func (s span) holds(key []byte) bool {
	return bytes.Compare(key, s.lo) >= 0 && (s.hi == nil || bytes.Compare(key, s.hi) < 0)
}

// after is the smallest key above all that begin with prefix, or nil when there is none: the prefix is empty or all 0xff.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := bytes.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}

// next is the smallest key above key.
func next(key []byte) []byte {
	n := make([]byte, len(key)+1)
	copy(n, key)
	return n
}
