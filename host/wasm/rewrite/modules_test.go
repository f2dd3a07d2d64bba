package rewrite_test

// example is a module with the results that its export "run" has.
type example struct {
	name string
	bin  []byte
	args []uint64
	want []uint64
}

var run0 = exports(export("run", 0, 0))

// examples work before and after Prepare alike. Most name functions by index in one of the places where they shift.
func examples() []example {
	void0, i0, i1 := functype("", ""), functype("", i32), functype(i32, i32)
	double := cat(str("env"), str("double"), 0, 1)
	return []example{
		{name: "constant", want: []uint64{42}, bin: wasm(types(i0), functions(0), run0, code(body(i32c(42))))},
		{name: "loop sums to n", args: []uint64{100_000}, want: []uint64{705082704},
			bin: wasm(types(i1), functions(0), run0, code(bodyWith(1, block, void, loop, void,
				localGet, 0, "\x45", brIf, 1,
				localGet, 0, localGet, 1, add, localSet, 1,
				localGet, 0, i32c(1), sub, localSet, 0, br, 0, end, end, localGet, 1)))},
		{name: "calls beyond an import", args: []uint64{4}, want: []uint64{19},
			bin: wasm(types(i0, i1), imports(double), functions(1, 1), exports(export("run", 0, 1)),
				code(body(localGet, 0, call, 0, call, 2), body(localGet, 0, i32c(11), add)))},
		{name: "exported import", args: []uint64{4}, want: []uint64{9},
			bin: wasm(types(i0, i1), imports(double), functions(1), exports(export("d", 0, 0), export("run", 0, 1)),
				code(body(localGet, 0, call, 0, i32c(1), add)))},
		{name: "start sets a global", want: []uint64{77},
			bin: wasm(types(void0, i0), functions(1, 0), globals(cat(i32, 1, i32c(0), end)), run0, start(1),
				code(body(globalGet, 0), body(i32c(77), globalSet, 0)))},
		{name: "recursion", args: []uint64{20}, want: []uint64{6765},
			bin: wasm(types(i1), functions(0), run0, code(body(localGet, 0, i32c(2), "\x49", iff, i32, localGet, 0, els,
				localGet, 0, i32c(1), sub, call, 0, localGet, 0, i32c(2), sub, call, 0, add, end)))},
		{name: "tail calls", args: []uint64{100_000}, want: []uint64{7},
			bin: wasm(types(i1), functions(0, 0), run0, code(
				body(localGet, 0, "\x45", iff, i32, i32c(7), els, localGet, 0, i32c(1), sub, "\x12\x01", end),
				body(localGet, 0, "\x12\x00")))},
		{name: "br_table loop", args: []uint64{9}, want: []uint64{30}, bin: brTable()},
		{name: "multi-value loop", args: []uint64{5}, want: []uint64{120}, bin: multiValue()},
		{name: "simd", args: []uint64{3}, want: []uint64{15}, bin: simd()},
		{name: "bulk memory", want: []uint64{0x07070707 + 0x64636261}, bin: bulkMemory()},
		{name: "active data named by index", want: []uint64{0x64006261}, bin: wasm(types(i0), functions(0), memory(0, 1), run0,
			dataCount(2), code(body(i32c(0), i32c(0), i32c(0), "\xfc\x08\x01\x00", "\xfc\x09\x01", i32c(0), "\x28\x02\x00")),
			data(cat(0, i32c(0), end, str("ab")), cat(2, 0, i32c(3), end, str("d"))))},
		{name: "bulk tables", want: []uint64{11 + 22 + 5}, bin: bulkTables()},
		{name: "element forms", args: []uint64{0}, want: []uint64{11}, bin: elementForms()},
		{name: "element forms, by table index", args: []uint64{1}, want: []uint64{22}, bin: elementForms()},
		{name: "element forms, expressions", args: []uint64{2}, want: []uint64{33}, bin: elementForms()},
		{name: "element forms, expressions by table index", args: []uint64{3}, want: []uint64{22}, bin: elementForms()},
		{name: "global with ref.func", want: []uint64{22}, bin: globalReference()},
		{name: "saturating conversion", want: []uint64{0x7fffffff},
			bin: wasm(types(i0), functions(0), run0, code(body("\x43\x00\x00\x80\x7f", "\xfc\x00")))},
		{name: "memory.grow and size", want: []uint64{1 + 3}, bin: wasm(types(i0), functions(0), memory(0, 1), run0,
			code(body(i32c(2), "\x40\x00", "\x3f\x00", add)))},
		{name: "long numbers", want: []uint64{5}, bin: wasm(types(i0), functions(0, 0), run0,
			code(body(call, "\x81\x80\x80\x80\x00"), body(0x41, "\x85\x80\x80\x80\x00")))},
		{name: "typed select and reference tests", want: []uint64{1}, bin: wasm(types(i0), functions(0), run0,
			code(body("\xd0\x70", "\xd0\x70", i32c(1), "\x1c\x01\x70", "\xd1")))},
		{name: "custom sections anywhere", want: []uint64{3}, bin: wasm(custom("a", "x"), types(i0), custom("b", ""),
			functions(0), run0, code(body(i32c(3))), custom("name", "\x00\x02\x01m"))},
	}
}

// brTable counts its argument down by twos or threes, adding 4 or 5.
func brTable() []byte {
	return wasm(types(functype(i32, i32)), functions(0), run0, code(bodyWith(1,
		loop, void, block, void, block, void, block, void,
		localGet, 0, i32c(3), "\x70", "\x0e\x02\x00\x01\x02", end,
		localGet, 0, "\x45", brIf, 1, localGet, 1, i32c(5), add, localSet, 1, localGet, 0, i32c(1), sub, localSet, 0, br, 2, end,
		localGet, 1, i32c(4), add, localSet, 1, localGet, 0, i32c(1), sub, localSet, 0, br, 1, end,
		localGet, 0, iff, void, localGet, 1, i32c(1), add, localSet, 1, localGet, 0, i32c(1), sub, localSet, 0, br, 1, end,
		end, localGet, 1)))
}

// multiValue computes a factorial in a loop whose two parameters are the counter and the product.
func multiValue() []byte {
	return wasm(types(functype(i32, i32), functype(i32+i32, i32+i32), functype("", i32+i32)), functions(0), run0,
		code(bodyWith(2, localGet, 0, i32c(1), loop, 1, localSet, 2, localTee, 1,
			localGet, 2, localGet, 1, "\x6c", // product *= counter
			localSet, 2, i32c(1), sub, localTee, 1, localGet, 2, localGet, 1, i32c(1), "\x4a", brIf, 0, end,
			localSet, 2, drop, localGet, 2)))
}

// simd uses instructions with every sort of operand, numbers of one and two bytes, in a loop.
func simd() []byte {
	c := "\xfd\x0c\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00"
	return wasm(types(functype(i32, i32)), functions(0), memory(0, 1),
		globals(cat(v128, 0, c, end)), run0,
		code(sized(cat(2, 1, i32, 1, v128, cat(
			loop, void,
			localGet, 2, globalGet, 0, "\xfd\xae\x01", localSet, 2, // i32x4.add
			i32c(16), localGet, 2, "\xfd\x0b\x04\x00", // v128.store
			i32c(16), "\xfd\x00\x04\x00", // v128.load
			i32c(16), localGet, 2, "\xfd\x56\x02\x00\x01", // v128.load32_lane 1
			"\xfd\x0d\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x1e\x0f", // i8x16.shuffle
			"\xfd\xa0\x01", // i32x4.abs
			drop,
			localGet, 0, i32c(1), sub, localTee, 0, brIf, 0, end,
			localGet, 2, "\xfd\x1b\x01", // i32x4.extract_lane 1
			localGet, 2, "\xfd\x1b\x02", add), end))))
}

// bulkMemory fills, copies and initialises from a passive segment, so its data section must stay as it is.
func bulkMemory() []byte {
	return wasm(types(functype("", i32)), functions(0), memory(0, 1), run0, dataCount(2), code(body(
		i32c(8), i32c(7), i32c(4), "\xfc\x0b\x00",
		i32c(64), i32c(8), i32c(4), "\xfc\x0a\x00\x00",
		i32c(128), i32c(0), i32c(4), "\xfc\x08\x01\x00", "\xfc\x09\x01",
		i32c(64), "\x28\x02\x00", i32c(128), "\x28\x02\x00", add)),
		data(cat(0, i32c(0), end, str("zz")), cat(1, str("abcd"))))
}

// bulkTables moves functions 2 (11) and 3 (22) through tables with every table instruction.
func bulkTables() []byte {
	i0 := functype("", i32)
	return wasm(types(i0, functype(i32, i32)), imports(cat(str("env"), str("double"), 0, 1)), functions(0, 0, 0),
		tables(cat(funcref, 0, 4)), exports(export("run", 0, 1)),
		elements(cat(1, 0, vec([]byte{2}, []byte{3})), cat(3, 0, vec([]byte{2}))),
		code(body(
			i32c(0), i32c(0), i32c(2), "\xfc\x0c\x00\x00", "\xfc\x0d\x00", // table.init, elem.drop
			i32c(2), i32c(1), i32c(1), "\xfc\x0e\x00\x00", // table.copy: 2 is function 3
			"\xd2\x02", i32c(1), "\xfc\x0f\x00", drop, // table.grow by function 2: entry 4
			i32c(3), i32c(4), "\x25\x00", "\x26\x00", // table.set(3, table.get(4))
			i32c(0), "\xd2\x03", i32c(1), "\xfc\x11\x00", // table.fill: 0 is function 3
			i32c(0), "\x11\x00\x00", i32c(3), "\x11\x00\x00", add, "\xfc\x10\x00", add),
			body(i32c(11)), body(i32c(22))))
}

// elementForms has all eight forms; run calls the entry of table 1 that its argument names.
func elementForms() []byte {
	f := func(i ...byte) []byte { return sized(i) }
	e := func(i ...byte) []byte {
		out := uleb(uint32(len(i)))
		for _, x := range i {
			out = append(out, 0xd2, x, end)
		}
		return out
	}
	i0 := functype("", i32)
	return wasm(types(i0, functype(i32, i32)), imports(cat(str("env"), str("double"), 0, 1)), functions(1, 0, 0, 0),
		tables(cat(funcref, 0, 4), cat(funcref, 1, 4, 8)), exports(export("run", 0, 1)),
		elements(
			cat(0, i32c(0), end, f(2)), cat(1, 0, f(3)), cat(2, 1, i32c(0), end, 0, f(2, 3)), cat(3, 0, f(4)),
			cat(4, i32c(1), end, e(3)), cat(5, funcref, e(4)), cat(6, 1, i32c(2), end, funcref, e(4, 3)),
			cat(7, funcref, 2, "\xd0\x70", end, "\xd2\x03", end)),
		code(body(localGet, 0, "\x11\x00\x01"), body(i32c(11)), body(i32c(22)), body(i32c(33))))
}

// globalReference puts a function reference from a global into a table and calls it.
func globalReference() []byte {
	return wasm(types(functype("", i32)), functions(0, 0, 0), tables(cat(funcref, 0, 1)),
		globals(cat(funcref, 0, "\xd2\x02", end)), run0,
		code(body(i32c(0), globalGet, 0, "\x26\x00", i32c(0), "\x11\x00\x00"), body(i32c(11)), body(i32c(22))))
}
