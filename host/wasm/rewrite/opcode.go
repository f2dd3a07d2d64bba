package rewrite

// Instructions that metering treats specially.
const (
	opBlock      = 0x02
	opLoop       = 0x03
	opIf         = 0x04
	opBr         = 0x0c
	opBrIf       = 0x0d
	opBrTable    = 0x0e
	opCall       = 0x10
	opReturnCall = 0x12
	opDrop       = 0x1a
	opLocalGet   = 0x20
	opGlobalSet  = 0x24
	opMemoryGrow = 0x40
	opI32GtS     = 0x4a
	opI32Sub     = 0x6b
	opI32ShrU    = 0x76
	opBulk       = 0xfc // saturating conversions and bulk operations
)

const vectorConst = 0x0c

// operand is what follows an instruction's byte.
type operand byte

const (
	operandUnknown operand = iota
	operandNone
	operandIndex    // a local or table: left to the engine, nothing of theirs moves
	operandGlobal   // checked: the fuel must stay out of reach
	operandIndirect // a type and a table
	operandMemory   // alignment and offset
	operandZero     // the only memory's index
	operandS32
	operandS64
	operandF32
	operandF64
	operandReference
	operandSelect
	operandVector
)

// operands tells the operands of the one-byte instructions of WebAssembly 2.0 and of the tail call proposal.
var operands = func() (t [256]operand) {
	set := func(from, to byte, o operand) {
		for i := int(from); i <= int(to); i++ {
			t[i] = o
		}
	}
	set(0x00, 0x01, operandNone)     // unreachable, nop
	set(0x05, 0x05, operandNone)     // else
	set(0x0f, 0x0f, operandNone)     // return
	set(0x11, 0x11, operandIndirect) // call_indirect
	set(0x13, 0x13, operandIndirect) // return_call_indirect
	set(0x1a, 0x1b, operandNone)     // drop, select
	set(0x1c, 0x1c, operandSelect)
	set(0x20, 0x22, operandIndex) // locals
	set(0x23, 0x24, operandGlobal)
	set(0x25, 0x26, operandIndex)  // table.get, table.set
	set(0x28, 0x3e, operandMemory) // loads and stores
	set(0x3f, 0x3f, operandZero)   // memory.size
	set(0x41, 0x41, operandS32)
	set(0x42, 0x42, operandS64)
	set(0x43, 0x43, operandF32)
	set(0x44, 0x44, operandF64)
	set(0x45, 0xc4, operandNone) // arithmetic
	set(0xd0, 0xd0, operandReference)
	set(0xd1, 0xd1, operandNone) // ref.is_null
	set(opVector, opVector, operandVector)
	return t
}()

// operands reads the operands of the instruction op.
func (m *module) operands(r *reader, op byte) {
	switch operands[op] {
	case operandNone:
	case operandIndex:
		r.u32()
	case operandGlobal:
		r.index("global", m.globals)
	case operandIndirect:
		r.index("type", m.types)
		r.u32()
	case operandMemory:
		readMemoryOperands(r)
	case operandZero:
		r.zero()
	case operandS32:
		r.signed(32)
	case operandS64:
		r.signed(64)
	case operandF32:
		r.take(4)
	case operandF64:
		r.take(8)
	case operandReference:
		readReferenceType(r)
	case operandSelect:
		if r.byte() != 1 {
			r.malformed("a select of other than one type")
		}
		readValueType(r)
	case operandVector:
		readVector(r)
	default:
		refuse(r, op)
	}
}

func readMemoryOperands(r *reader) {
	if align := r.u32(); align >= 32 {
		r.fail(ErrUnsupported, "a second memory (the multi-memory proposal) or a damaged alignment")
	}
	r.u32()
}

// refuse names the proposal that an instruction is of.
func refuse(r *reader, op byte) {
	switch {
	case r.err != nil:
	case op >= 0x06 && op <= 0x0a, op == 0x18, op == 0x19, op == 0x1f:
		r.fail(ErrUnsupported, "instruction %#x of the exception handling proposal; compile without it", op)
	case op == 0x14, op == 0x15, op >= 0xd3 && op <= 0xd6:
		r.fail(ErrUnsupported, "instruction %#x of the typed references proposal; compile without it", op)
	case op == 0xfb:
		r.fail(ErrUnsupported, "instruction %#x of the garbage collection proposal; compile without it", op)
	case op == 0xfe:
		r.fail(ErrUnsupported, "instruction %#x of the threads proposal; compile without threads and atomics", op)
	default:
		r.fail(ErrUnsupported, "unknown instruction %#x", op)
	}
}

// readVector reads a SIMD instruction after its prefix. Its number is a LEB128 number of one or two bytes; longer ways
// to write it are refused, because wazero reads only the first byte (the second of two, 01, it takes for a nop) and
// would find other instructions in what follows.
func readVector(r *reader) {
	op := r.byte()
	if op >= 0x80 {
		if r.byte() != 1 && r.err == nil {
			r.fail(ErrUnsupported, "a vector instruction beyond SIMD 128 (such as relaxed SIMD); compile without it")
		}
	}
	switch {
	case op <= 0x0b, op == 0x5c, op == 0x5d:
		readMemoryOperands(r)
	case op == vectorConst, op == 0x0d: // and i8x16.shuffle
		r.take(16)
	case op >= 0x15 && op <= 0x22: // lanes
		r.byte()
	case op >= 0x54 && op <= 0x5b: // loads and stores of lanes
		readMemoryOperands(r)
		r.byte()
	}
}
