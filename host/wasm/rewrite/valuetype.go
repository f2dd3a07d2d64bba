package rewrite

// Value types as they are written.
const (
	typeI32       = 0x7f
	typeV128      = 0x7b
	typeFuncref   = 0x70
	typeExternref = 0x6f
	blockEmpty    = 0x40
)

func isValueType(b byte) bool {
	return b >= typeV128 && b <= typeI32 || b == typeFuncref || b == typeExternref
}

func readValueType(r *reader) byte {
	b := r.byte()
	if r.err == nil && !isValueType(b) {
		r.fail(ErrUnsupported, "a value of type %#x (typed references, garbage collection or exceptions)", b)
	}
	return b
}

func readReferenceType(r *reader) byte {
	b := r.byte()
	if r.err == nil && b != typeFuncref && b != typeExternref {
		r.fail(ErrUnsupported, "a reference of type %#x (typed references, garbage collection or exceptions)", b)
	}
	return b
}

func readMutability(r *reader) byte {
	b := r.byte()
	if b > 1 {
		r.malformed("a global is neither constant nor mutable (%#x)", b)
	}
	return b
}

// limits are the sizes of a table or memory. max means something only if bounded.
type limits struct {
	min, max uint32
	bounded  bool
}

func readLimits(r *reader, most uint32) limits {
	flags := r.byte()
	switch {
	case flags&^1 == 2:
		r.fail(ErrUnsupported, "shared memory (threads); compile without threads")
	case flags&^3 == 4:
		r.fail(ErrUnsupported, "a 64-bit memory or table (memory64); compile for wasm32")
	case flags > 1:
		r.malformed("unknown limits %#x", flags)
	}
	l := limits{min: r.u32(), bounded: flags == 1}
	if l.bounded {
		l.max = r.u32()
	}
	if r.err == nil && (l.min > most || l.bounded && (l.max > most || l.max < l.min)) {
		r.malformed("limits %d to %d are impossible", l.min, l.max)
	}
	return l
}

// readBlockType reads the type of a block, loop or if.
func readBlockType(r *reader, types int) {
	v := r.signed(33)
	switch {
	case r.err != nil:
	case v >= int64(types):
		r.malformed("type %d does not exist, the module has %d", v, types)
	case v < -64 || v < 0 && !isValueType(byte(v)&0x7f) && byte(v)&0x7f != blockEmpty:
		r.fail(ErrUnsupported, "a block of type %d (typed references, garbage collection or exceptions)", v)
	}
}
