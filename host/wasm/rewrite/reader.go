package rewrite

import (
	"fmt"
	"unicode/utf8"
)

// reader reads a part of a module. The first mistake sticks in err and moves the reader to the end, so that callers may
// read on (they get zeros) and look at err once; nothing is ever read or allocated past the end of b.
type reader struct {
	b    []byte
	at   int
	base int // where b begins in the module, for the positions in errors
	err  error
}

// fail keeps the first mistake.
func (r *reader) fail(kind error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: at byte %d: %s", kind, r.base+r.at, fmt.Sprintf(format, args...))
	}
	r.at = len(r.b)
}

func (r *reader) malformed(format string, args ...any) { r.fail(ErrMalformed, format, args...) }

func (r *reader) left() int { return len(r.b) - r.at }

// finish fails if something is left.
func (r *reader) finish() {
	if r.err == nil && r.left() > 0 {
		r.malformed("%d more bytes than its contents need", r.left())
	}
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.malformed("the file or section ends too early")
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

// take returns the next n bytes; they alias the module.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.malformed("%d bytes are announced, %d are left", n, r.left())
		return nil
	}
	part := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return part
}

// part returns a reader of the next n bytes.
func (r *reader) part(n uint32) reader {
	at := r.base + r.at
	return reader{b: r.take(n), base: at, err: r.err}
}

// u32 reads an unsigned LEB128 number of at most 32 bits and 5 bytes.
func (r *reader) u32() uint32 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		r.at++
		return uint32(r.b[r.at-1])
	}
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.malformed("a number has more than 32 bits")
	return 0
}

// signed reads a signed LEB128 number of the given bits (32, 33 or 64). Bits past them must repeat the sign.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if last := bits - shift; last < 7 {
			if top := int8(c<<1) >> last; c >= 0x80 || top != 0 && top != -1 {
				break
			}
		}
		if c < 0x80 {
			if shift+7 < 64 && c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.malformed("a number has more than %d bits", bits)
	return 0
}

// count reads the number of items of a vector, each of at least one byte.
func (r *reader) count(what string, limit int) int {
	n := r.u32()
	if n > uint32(limit) {
		r.fail(ErrTooLarge, "%d %s, the limit is %d", n, what, limit)
		return 0
	}
	if int(n) > r.left() {
		r.malformed("%d %s are announced, %d bytes are left", n, what, r.left())
		return 0
	}
	return int(n)
}

func (r *reader) name() string {
	n := r.u32()
	if n > maxName {
		r.fail(ErrTooLarge, "a name of %d bytes, the limit is %d", n, maxName)
		return ""
	}
	s := string(r.take(n))
	if !utf8.ValidString(s) {
		r.malformed("a name is not UTF-8")
		return ""
	}
	return s
}

// index reads an index into n things.
func (r *reader) index(what string, n int) uint32 {
	i := r.u32()
	if r.err == nil && int64(i) >= int64(n) {
		r.malformed("%s %d does not exist, the module has %d", what, i, n)
		return 0
	}
	return i
}

// zero reads the byte that is the index of the only memory. A longer way to write zero is refused, as engines do.
func (r *reader) zero() {
	if r.byte() != 0 && r.err == nil {
		r.fail(ErrUnsupported, "a second memory (the multi-memory proposal)")
	}
}

func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendS32(b []byte, v int32) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendName(b []byte, s string) []byte { return append(appendU32(b, uint32(len(s))), s...) }
