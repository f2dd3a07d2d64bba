package rewrite

import "fmt"

// Prices. One unit of fuel is about the work of a short loop iteration, some nanoseconds.
const (
	// unitCode is how many bytes of code one unit pays for. Code without a loop runs each of its bytes at most once, so
	// a function is charged for all of its body when it is entered and a loop for its extent at each iteration. A flat
	// price of one would let a loop of a megabyte of straight code run for seconds between two ticks.
	unitCode = 256

	// bulkShift: one unit pays for 1 << bulkShift bytes copied or filled; 64 bytes take memmove a few nanoseconds.
	bulkShift = 6

	// entryShift is the same for tables, whose entries are 8 bytes.
	entryShift = 3

	// growPrice is charged for each memory.grow, which leaves the compiled code and may move the memory. The bytes are
	// not charged: memory only grows, up to its limit.
	growPrice = 1024
)

// What counts as more than one branch: a loop's probe adds two, the engine writes bulk operations as loops.
const (
	loopBranches = 4
	bulkBranches = 3
)

// meter rewrites function bodies. At every function's entry and every loop's header it adds
//
//	fuel -= price; if fuel <= 0 { fuel = tick() }
//
// and before every bulk operation it calls a function that does the same with a price made of the operation's length.
type meter struct {
	*module
	out       []byte // the section
	body      []byte // the function
	from      int    // what of the function's old body is not copied yet
	open      []block
	locals    int    // of all functions so far
	refill    []byte // if fuel <= 0 { fuel = tick() }, as a jump over the call: measured cheaper than an if in wazero
	fuel      uint32 // index of the global
	branches  int    // of this function so far
	namesData bool   // memory.init or data.drop occurs
}

// block is an open block, loop or if. Loops know where their extent begins and where their price stands.
type block struct{ start, price int }

func newMeter(m *module) *meter {
	c := &meter{module: m, fuel: uint32(m.globals)}
	c.refill = appendIndexed([]byte{opBlock, blockEmpty}, opGlobalGet, c.fuel)
	c.refill = append(c.refill, opI32Const, 0, opI32GtS, opBrIf, 0)
	c.refill = appendIndexed(c.refill, opCall, uint32(m.importedFuncs))
	c.refill = append(appendIndexed(c.refill, opGlobalSet, c.fuel), opEnd)
	return c
}

func appendIndexed(b []byte, op byte, index uint32) []byte {
	return appendU32(append(b, op), index)
}

// section rewrites the code section, which a module without functions may lack.
func (c *meter) section(r *reader) []byte {
	n := 0
	if c.has(sectionCode) {
		n = r.count("function bodies", maxFunctions)
	}
	if r.err == nil && n != c.funcs-c.importedFuncs {
		r.malformed("%d functions have code for %d", c.funcs-c.importedFuncs, n)
	}
	c.out = appendU32(make([]byte, 0, len(r.b)+len(r.b)/2), uint32(n)+1)
	for i := range n {
		f := r.part(r.u32())
		if len(f.b) > maxBody {
			f.fail(ErrTooLarge, "%d bytes of code in one function, the limit is %d; split it", len(f.b), maxBody)
		}
		c.function(&f)
		f.finish()
		if f.err != nil {
			r.err = fmt.Errorf("%w (in function %d)", f.err, c.importedFuncs+i)
			return nil
		}
		c.out = append(appendU32(c.out, uint32(len(c.body))), c.body...)
	}
	r.finish()
	last := c.charger()
	return append(appendU32(c.out, uint32(len(last))), last...)
}

func (c *meter) function(r *reader) {
	locals := c.readLocals(r)
	c.body, c.from, c.branches = c.body[:0], 0, 0
	c.copy(r, r.at)
	c.charge(len(r.b) + locals)
	c.open = append(c.open[:0], block{})
	for len(c.open) > 0 && r.err == nil {
		c.instruction(r)
	}
	c.copy(r, r.at)
}

// readLocals returns the number of locals declared.
func (c *meter) readLocals(r *reader) int {
	sum := 0
	for range r.count("groups of locals", maxLocals) {
		n := r.u32()
		if n > uint32(maxLocals-sum) {
			r.fail(ErrTooLarge, "more than %d locals in one function; split it", maxLocals)
			return 0
		}
		sum += int(n)
		readValueType(r)
	}
	c.locals += sum
	if c.locals > maxLocalsSum {
		r.fail(ErrTooLarge, "more than %d locals in all functions together", maxLocalsSum)
	}
	return sum
}

func (c *meter) instruction(r *reader) {
	at := r.at
	switch op := r.byte(); op {
	case opBlock, opIf:
		readBlockType(r, c.types)
		c.branch(r, 1)
		c.open = append(c.open, block{})
	case opLoop:
		readBlockType(r, c.types)
		c.branch(r, loopBranches)
		c.copy(r, r.at)
		c.open = append(c.open, block{start: at, price: c.charge(0)})
	case opEnd:
		last := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		if last.price > 0 {
			c.setPrice(last.price, r.at-last.start)
		}
	case opCall, opReturnCall, opRefFunc:
		c.copy(r, at)
		c.body = appendIndexed(c.body, op, c.shift(r.index("function", c.funcs)))
		c.from = r.at
	case opMemoryGrow:
		r.zero()
		c.copy(r, at)
		c.body = appendS32(append(c.body, opI32Const), growPrice)
		c.chargeLength(0)
		c.body = append(c.body, opDrop)
	case opBr, opBrIf, opBrTable:
		c.jump(r, op)
	case opBulk:
		c.bulk(r, at)
	default:
		c.operands(r, op)
	}
}

// jump reads the labels of a br, br_if or br_table.
func (c *meter) jump(r *reader, op byte) {
	more := 0
	if op == opBrTable {
		more = r.count("labels of br_table", maxBranches)
	}
	c.branch(r, more+1)
	for range more + 1 {
		r.u32()
	}
}

// bulk reads a saturating conversion or bulk operation that begins at the given place, and charges the latter.
// Its number must be written in one byte, as compilers do.
func (c *meter) bulk(r *reader, at int) {
	shift := byte(bulkShift)
	switch op := r.byte(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
		return
	case 8: // memory.init
		r.u32()
		r.zero()
		c.namesData = true
	case 9: // data.drop
		r.u32()
		c.namesData = true
		return
	case 10: // memory.copy
		r.zero()
		r.zero()
	case 11: // memory.fill
		r.zero()
	case 12, 14: // table.init, table.copy
		r.u32()
		r.u32()
		shift = entryShift
	case 15, 17: // table.grow, table.fill
		r.u32()
		shift = entryShift
	case 13, 16: // elem.drop, table.size
		r.u32()
		return
	default:
		if r.err == nil {
			r.fail(ErrUnsupported, "unknown instruction 0xfc %#x", op)
		}
	}
	c.branch(r, bulkBranches)
	c.copy(r, at)
	c.chargeLength(shift)
}

// branch counts what makes the control flow of a function larger.
func (c *meter) branch(r *reader, n int) {
	c.branches += n
	if c.branches > maxBranches {
		r.fail(ErrTooLarge, "more than %d branches in one function; split it", maxBranches)
	}
}

// copy copies the old body up to a place.
func (c *meter) copy(r *reader, to int) {
	if r.err == nil {
		c.body = append(c.body, r.b[c.from:to]...)
		c.from = to
	}
}

// charge adds a probe that charges for so many bytes of code and returns where its price stands.
func (c *meter) charge(extent int) int {
	c.body = append(appendIndexed(c.body, opGlobalGet, c.fuel), opI32Const)
	price := len(c.body)
	c.body = append(c.body, 0, 0, 0, opI32Sub)
	c.setPrice(price, extent)
	c.body = append(appendIndexed(c.body, opGlobalSet, c.fuel), c.refill...)
	return price
}

// setPrice writes a price in three bytes always, because a loop's is known only at its end.
func (c *meter) setPrice(at, extent int) {
	units := 1 + extent/unitCode // below 1 << 15: maxBody and maxLocals
	c.body[at], c.body[at+1], c.body[at+2] = byte(units)|0x80, byte(units>>7)|0x80, byte(units>>14)
}

// chargeLength charges the i32 on top of the stack, the length of the operation that follows, and leaves it there.
func (c *meter) chargeLength(shift byte) {
	c.body = appendIndexed(append(c.body, opI32Const, shift), opCall, c.shift(uint32(c.funcs)))
}

// charger is the body of the function (length, shift) -> length that chargeLength calls. It is appended after the
// guest's functions, which cannot name it; being a function it costs the compiler no branches at each use. The shift is
// unsigned and length>>shift is at most 1 << 29, so fuel, at most MaxBudget, cannot overflow.
func (c *meter) charger() []byte {
	b := appendIndexed([]byte{0}, opGlobalGet, c.fuel)
	b = append(b, opLocalGet, 0, opLocalGet, 1, opI32ShrU, opI32Sub)
	b = append(appendIndexed(b, opGlobalSet, c.fuel), c.refill...)
	return append(b, opLocalGet, 0, opEnd)
}
