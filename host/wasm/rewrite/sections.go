package rewrite

// Instructions of constant expressions.
const (
	opGlobalGet = 0x23
	opI32Const  = 0x41
	opI64Const  = 0x42
	opF32Const  = 0x43
	opF64Const  = 0x44
	opRefNull   = 0xd0
	opRefFunc   = 0xd2
	opVector    = 0xfd
	opEnd       = 0x0b
)

// shift gives a function's index in the rewritten module: the tick function takes the first index after the imports.
func (m *module) shift(f uint32) uint32 {
	if f >= uint32(m.importedFuncs) {
		return f + 1
	}
	return f
}

// grown returns a vector's body with so many items more.
func grown(r reader, more uint32, items []byte) []byte {
	n := uint32(0)
	if len(r.b) > 0 {
		n = r.u32()
	}
	out := appendU32(make([]byte, 0, len(r.b)+len(items)+5), n+more)
	return append(append(out, r.b[r.at:]...), items...)
}

// typeSection adds () -> i32, the tick function's type, and (i32, i32) -> i32, the charger's.
func (w *rewriter) typeSection() []byte {
	return grown(w.reader(sectionType), 2, []byte{0x60, 0, 1, typeI32, 0x60, 2, typeI32, typeI32, 1, typeI32})
}

func (w *rewriter) importSection() []byte {
	tick := appendName(appendName(nil, w.options.TickModule), w.options.TickName)
	return grown(w.reader(sectionImport), 1, appendU32(append(tick, byte(Func)), uint32(w.types)))
}

func (w *rewriter) functionSection() []byte {
	return grown(w.reader(sectionFunction), 1, appendU32(nil, uint32(w.types)+1))
}

func (w *rewriter) tableSection(r *reader) []byte {
	n := r.u32()
	out := appendU32(nil, n)
	for range n {
		kind, l := readReferenceType(r), readLimits(r, 1<<32-1)
		if l.min > w.options.MaxTable {
			r.fail(ErrTooLarge, "a table of %d entries, the limit is %d", l.min, w.options.MaxTable)
		}
		if r.err != nil {
			return nil
		}
		top := w.options.MaxTable
		if l.bounded {
			top = min(top, l.max)
		}
		out = appendU32(appendU32(append(out, kind, 1), l.min), top)
	}
	return out
}

// globalSection appends the fuel, an i32 that begins at 0 so that the first function asks for a budget. Its index is past
// those of the module, whose own indices are checked against the old number of globals.
func (w *rewriter) globalSection(r *reader) []byte {
	n := uint32(0)
	if w.has(sectionGlobal) {
		n = r.u32()
	}
	out := appendU32(make([]byte, 0, len(r.b)+16), n+1)
	for range n {
		out = append(out, readValueType(r), readMutability(r))
		out = w.constant(out, r)
		if r.err != nil {
			return nil
		}
	}
	return append(out, typeI32, 1, opI32Const, 0, opEnd)
}

func (w *rewriter) exportSection(r *reader) []byte {
	n := r.u32()
	out := appendU32(make([]byte, 0, len(r.b)+int(n)), n)
	for range n {
		out = appendName(out, r.name())
		kind, index := r.byte(), r.u32()
		if Kind(kind) == Func {
			index = w.shift(index)
		}
		out = appendU32(append(out, kind), index)
	}
	return out
}

func (w *rewriter) startSection(r *reader) []byte {
	return appendU32(nil, w.shift(r.index("function", w.funcs)))
}

// elementSection rewrites all eight forms of segments. Bit 0 of the form: passive or declarative (no table, no offset);
// bit 1: a table index is written, or declarative; bit 2: entries are expressions rather than function indices.
func (w *rewriter) elementSection(r *reader) []byte {
	n := r.count("element segments", maxElements)
	out := appendU32(make([]byte, 0, len(r.b)+len(r.b)/4), uint32(n))
	for range n {
		form := r.u32()
		if form > 7 {
			r.malformed("unknown element segment %d", form)
		}
		out = appendU32(out, form)
		if form&1 == 0 {
			if form&2 != 0 {
				out = appendU32(out, r.index("table", w.tables))
			}
			out = w.constant(out, r)
		}
		if form&3 != 0 {
			out = append(out, w.elementKind(r, form))
		}
		out = w.elementEntries(out, r, form&4 != 0)
		if r.err != nil {
			return nil
		}
	}
	return out
}

func (w *rewriter) elementKind(r *reader, form uint32) byte {
	if form&4 != 0 {
		return readReferenceType(r)
	}
	kind := r.byte()
	if kind != 0 {
		r.malformed("unknown kind of element %d", kind)
	}
	return kind
}

func (w *rewriter) elementEntries(out []byte, r *reader, expressions bool) []byte {
	n := r.count("entries of element segments", maxEntries-w.entries)
	w.entries += n
	out = appendU32(out, uint32(n))
	for range n {
		if expressions {
			out = w.constant(out, r)
		} else {
			out = appendU32(out, w.shift(r.index("function", w.funcs)))
		}
		if r.err != nil {
			return nil
		}
	}
	return out
}

// constant copies a constant expression: one instruction and its end.
func (w *rewriter) constant(out []byte, r *reader) []byte {
	start := r.at
	switch op := r.byte(); op {
	case opRefFunc:
		out = appendU32(append(out, op), w.shift(r.index("function", w.funcs)))
		start = r.at
	case opGlobalGet:
		r.index("global", w.globals)
	case opI32Const:
		r.signed(32)
	case opI64Const:
		r.signed(64)
	case opF32Const:
		r.take(4)
	case opF64Const:
		r.take(8)
	case opRefNull:
		readReferenceType(r)
	case opVector:
		if r.byte() != vectorConst {
			r.malformed("a vector instruction other than v128.const in an initial value")
		}
		r.take(16)
	default:
		r.fail(ErrUnsupported, "instruction %#x in an initial value (the extended constants proposal)", op)
	}
	if r.byte() != opEnd {
		r.fail(ErrUnsupported, "an initial value of more than one instruction (the extended constants proposal)")
	}
	if r.err != nil {
		return nil
	}
	return append(out, r.b[start:r.at]...)
}
