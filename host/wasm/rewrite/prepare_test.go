package rewrite_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gantry-packs/gantry/host/wasm/rewrite"
)

// The engine's features are those of the product plus tail calls, so every example runs before and after.
func TestPrepareKeepsResults(t *testing.T) {
	e := newEngine(t)
	e.budget = 3 // many ticks, in the middle of everything
	for _, x := range examples() {
		t.Run(x.name, func(t *testing.T) {
			before, err := invoke(t, e.start(t, x.bin), "run", x.args...)
			if err != nil || !slices.Equal(before, x.want) {
				t.Fatalf("before: %v, %v, want %v", before, err, x.want)
			}
			e.ticks = 0
			after, err := invoke(t, e.start(t, prepare(t, x.bin)), "run", x.args...)
			if err != nil || !slices.Equal(after, x.want) {
				t.Fatalf("after: %v, %v, want %v", after, err, x.want)
			}
			if e.ticks == 0 {
				t.Error("no tick")
			}
		})
	}
}

func TestModuleWithoutFunctions(t *testing.T) {
	bin := wasm(types(functype(i32, i32)), imports(cat(str("env"), str("double"), 0, 0)), run0)
	got, err := invoke(t, newEngine(t).start(t, prepare(t, bin)), "run", 4)
	if err != nil || got[0] != 8 {
		t.Errorf("got %v %v", got, err)
	}
	prepare(t, wasm())
}

func TestPrepareLeavesItsInput(t *testing.T) {
	for _, x := range examples() {
		old := slices.Clone(x.bin)
		prepare(t, x.bin)
		if !slices.Equal(old, x.bin) {
			t.Errorf("%s: the input was changed", x.name)
		}
	}
}

func TestEndlessCodeIsStopped(t *testing.T) {
	void0, i0 := functype("", ""), functype("", i32)
	one := func(parts ...any) []byte {
		return wasm(types(void0, i0), functions(0), tables(cat(funcref, 0, 100)), memory(1, 1, 100), run0, dataCount(1),
			code(body(parts...)), data(cat(1, str("abc"))))
	}
	forever := func(parts ...any) []byte { return one(loop, void, cat(parts...), br, 0, end) }
	endless := map[string][]byte{
		"loop":             forever(),
		"loop in a block":  one(block, void, loop, void, i32c(1), brIf, 0, end, end),
		"br_table":         one(loop, void, block, void, i32c(5), "\x0e\x01\x00\x01", end, br, 0, end),
		"memory.fill":      forever(memoryFill(65536)),
		"memory.copy":      forever(i32c(0), i32c(9), i32c(60000), "\xfc\x0a\x00\x00"),
		"memory.init":      forever(i32c(0), i32c(0), i32c(3), "\xfc\x08\x00\x00"),
		"memory.grow":      forever(i32c(1), "\x40\x00", drop),
		"table.fill":       forever(i32c(0), "\xd0\x70", i32c(100), "\xfc\x11\x00"),
		"table.grow":       forever("\xd0\x70", i32c(1), "\xfc\x0f\x00", drop),
		"table.copy":       forever(i32c(0), i32c(0), i32c(100), "\xfc\x0e\x00\x00"),
		"mutual recursion": wasm(types(void0), functions(0, 0), run0, code(body(call, 1), body(call, 0))),
		"tail recursion":   wasm(types(void0), functions(0, 0), run0, code(body("\x12\x01"), body("\x12\x00"))),
		"call_indirect": wasm(types(void0), functions(0), tables(cat(funcref, 0, 1)), run0,
			elements(cat(0, i32c(0), end, 1, 0)), code(body(i32c(0), "\x11\x00\x00"))),
		"tail call_indirect": wasm(types(void0), functions(0), tables(cat(funcref, 0, 1)), run0,
			elements(cat(0, i32c(0), end, 1, 0)), code(body(i32c(0), "\x13\x00\x00"))),
	}
	e := newEngine(t)
	e.budget, e.limit = 100, 20
	for name, bin := range endless {
		t.Run(name, func(t *testing.T) {
			m := e.start(t, prepare(t, bin))
			e.ticks = 0
			if _, err := invoke(t, m, "run"); !errors.Is(err, errStopped) {
				t.Fatalf("got %v, want it stopped", err)
			}
		})
	}
}

func TestStartFunctionIsStopped(t *testing.T) {
	bin := wasm(types(functype("", "")), functions(0), start(0), code(body(loop, void, br, 0, end)))
	e := newEngine(t)
	e.limit = 3
	if _, err := e.Instantiate(t.Context(), prepare(t, bin)); !errors.Is(err, errStopped) {
		t.Fatalf("got %v, want it stopped", err)
	}
}

// A budget must not pay for more work because it is packed into bulk operations or long bodies: ticks come by work.
func TestWorkIsChargedBySize(t *testing.T) {
	void0 := functype("", "")
	repeat := func(n int64, parts ...any) []byte {
		return bodyWith(1, i32c(n), localSet, 0, loop, void, cat(parts...),
			localGet, 0, i32c(1), sub, localTee, 0, brIf, 0, end)
	}
	var long []byte
	for range 32 << 10 {
		long = cat(long, i32c(1), drop) // 96 KiB
	}
	module := func(b []byte) []byte {
		return wasm(types(void0), functions(0), tables(cat(funcref, 0, cat(uleb(8192)))), memory(0, 0x80, 0x04), run0, code(b))
	}
	cases := []struct {
		name  string
		bin   []byte
		ticks int // at least, with a budget of 10,000
	}{
		{"short loop", module(repeat(100_000)), 10},
		{"fill of 32 MiB", module(repeat(5, memoryFill(32<<20))), 5},
		{"fill of 64 KiB", module(repeat(100, memoryFill(64<<10))), 9},
		{"table.fill of 8192", module(repeat(100, i32c(0), "\xd0\x70", i32c(8192), "\xfc\x11\x00")), 9},
		{"memory.grow", module(repeat(100, i32c(0), "\x40\x00", drop)), 9},
		{"long loop", module(repeat(1000, long)), 35},
		{"long function", wasm(types(void0), functions(0, 0), run0, code(repeat(1000, call, 1), body(long))), 35},
	}
	e := newEngine(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := e.start(t, prepare(t, c.bin))
			e.ticks = 0
			if _, err := invoke(t, m, "run"); err != nil {
				t.Fatal(err)
			}
			if e.ticks < c.ticks || e.ticks > 2*c.ticks+2 {
				t.Errorf("%d ticks, want about %d", e.ticks, c.ticks)
			}
		})
	}
}

// Lengths of 4 GiB trap, with the fuel counter no nearer to being refilled by overflow.
func TestHugeLengthsDoNotOverflowFuel(t *testing.T) {
	bin := wasm(types(functype(i32, "")), functions(0), tables(cat(funcref, 0, 1)), memory(0, 1),
		exports(export("run", 0, 0)), code(body(
			block, void, localGet, 0, brIf, 0, i32c(0), i32c(0), i32c(-1), "\xfc\x0b\x00", end,
			i32c(0), "\xd0\x70", i32c(-1), "\xfc\x11\x00")))
	e := newEngine(t)
	e.budget = rewrite.MaxBudget
	for arg := range uint64(2) {
		m := e.start(t, prepare(t, bin))
		e.ticks = 0
		if _, err := invoke(t, m, "run", arg); err == nil || errors.Is(err, errStopped) {
			t.Errorf("got %v, want an out of bounds trap", err)
		}
		if e.ticks != 2 {
			t.Errorf("%d ticks, want one at the start and one for the length", e.ticks)
		}
	}
}

func TestTablesAreBounded(t *testing.T) {
	grow := func(limits ...byte) []byte {
		return wasm(types(functype(i32, i32)), functions(0), tables(cat(funcref, limits)), run0,
			code(body("\xd0\x70", localGet, 0, "\xfc\x0f\x00")))
	}
	e := newEngine(t)
	for _, c := range []struct {
		limits    []byte
		by, grown uint64
	}{
		{[]byte{0, 1}, 9_999, 1}, {[]byte{0, 1}, 10_000, 0xffffffff}, {[]byte{1, 1, 5}, 4, 1}, {[]byte{1, 1, 5}, 5, 0xffffffff},
		{cat(1, 1, uleb(1<<30)), 10_000, 0xffffffff},
	} {
		got, err := invoke(t, e.start(t, prepare(t, grow(c.limits...))), "run", c.by)
		if err != nil || got[0] != c.grown {
			t.Errorf("limits %v, grow by %d: %v %v, want %#x", c.limits, c.by, got, err, c.grown)
		}
	}
	if _, err := rewrite.Prepare(grow(cat(0, uleb(10_001))...), options); !errors.Is(err, rewrite.ErrTooLarge) {
		t.Errorf("a table of 10,001: got %v", err)
	}
}
