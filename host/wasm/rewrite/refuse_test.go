package rewrite_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/wasm/rewrite"
)

func one(parts ...any) []byte {
	return wasm(types(functype("", "")), functions(0), memory(0, 1), run0, code(body(parts...)))
}

// What is refused, and a word that its error must say.
func refusals() map[string]struct {
	bin  []byte
	kind error
	says string
} {
	void0 := functype("", "")
	f := func(sections ...[]byte) []byte {
		return wasm(append([][]byte{types(void0), functions(0)}, sections...)...)
	}
	empty := code(body())
	type refusal = struct {
		bin  []byte
		kind error
		says string
	}
	malformed, unsupported, large := rewrite.ErrMalformed, rewrite.ErrUnsupported, rewrite.ErrTooLarge
	return map[string]refusal{
		"nothing":            {nil, rewrite.ErrNotWasm, "00 61 73 6d"},
		"text":               {[]byte("(module)"), rewrite.ErrNotWasm, ""},
		"component":          {[]byte("\x00asm\x0d\x00\x01\x00"), rewrite.ErrNotWasm, "component"},
		"section too long":   {wasm([]byte{1, 9, 0}), malformed, "9 bytes"},
		"sections swapped":   {wasm(functions(0), types(void0), empty), malformed, "out of order"},
		"section twice":      {wasm(types(void0), types(void0)), malformed, "twice"},
		"unknown section":    {wasm(section(14, nil)), malformed, "section 14"},
		"rest in a section":  {wasm(section(1, []byte{0, 0})), malformed, "more bytes"},
		"tags":               {wasm(section(13, []byte{0})), unsupported, "exception"},
		"long number":        {wasm(section(1, []byte("\x80\x80\x80\x80\x80\x00"))), malformed, "32 bits"},
		"number of 33 bits":  {wasm(section(1, []byte("\xff\xff\xff\xff\x1f"))), malformed, "32 bits"},
		"vector bomb":        {wasm(section(1, []byte("\x80\x80\x04"))), malformed, "65536 types"},
		"many imports":       {wasm(section(2, uleb(1001))), large, "limit is 1000"},
		"many functions":     {wasm(types(void0), section(3, uleb(200_001))), large, "200000"},
		"export bomb":        {wasm(section(7, uleb(9_999))), malformed, "announced"},
		"element bomb":       {f(section(9, cat(1, 1, 0, uleb(900_000))), empty), malformed, "announced"},
		"recursive types":    {wasm(types(cat(0x4e, 0))), unsupported, "garbage collection"},
		"many results":       {wasm(types(functype("", strings.Repeat(i32, 65)))), large, "64"},
		"typed reference":    {wasm(types(functype("\x64", ""))), unsupported, "typed references"},
		"type of a function": {wasm(types(void0), functions(1), empty), malformed, "type 1"},
		"no code":            {f(), malformed, "code"},
		"bodies missing":     {f(code()), malformed, "1 functions have code for 0"},
		"two memories":       {wasm(section(5, []byte{2, 0, 1, 0, 1})), unsupported, "multi-memory"},
		"shared memory":      {wasm(memory(3, 1, 1)), unsupported, "threads"},
		"64-bit memory":      {wasm(memory(4, 1)), unsupported, "memory64"},
		"huge memory":        {wasm(memory(cat(0, uleb(65537))...)), malformed, "65537"},
		"table with a value": {wasm(tables(cat(0x40, 0, funcref, 0, 1, "\xd0\x70", end))), unsupported, "typed references"},
		"extended constant":  {wasm(globals(cat(i32, 0, i32c(1), i32c(1), add, end))), unsupported, "extended"},
		"two constants":      {wasm(globals(cat(i32, 0, i32c(1), i32c(1), end))), unsupported, "extended"},
		"start of nothing":   {f(start(1), empty), malformed, "function 1"},
		"export of nothing":  {f(exports(export("a", 0, 1)), empty), malformed, "function 1"},
		"name not UTF-8":     {f(exports(export("\xff", 0, 0)), empty), malformed, "UTF-8"},
		"data count":         {f(memory(0, 1), dataCount(2), empty, data(cat(0, i32c(0), end, str("x")))), malformed, "data count"},
		"data count alone":   {wasm(section(12, nil)), malformed, "data count"},
		"tick by the guest":  {wasm(types(functype("", i32)), imports(cat(str("gantry:meter"), str("tick"), 0, 0))), unsupported, "gantry:meter.tick"},

		// The names of what Prepare adds must stay unknown to the guest.
		"fuel read":      {one(globalGet, 0, drop), malformed, "global 0"},
		"fuel written":   {one(i32c(9), globalSet, 0), malformed, "global 0"},
		"fuel exported":  {f(exports(export("fuel", 3, 0)), empty), malformed, "global 0"},
		"fuel in a data": {f(memory(0, 1), empty, data(cat(0, globalGet, 0, end, str("x")))), malformed, "global 0"},
		"call by wrap":   {one(call, "\xff\xff\xff\xff\x0f"), malformed, "function 4294967295"},
		"tick's type":    {one(i32c(0), "\x11\x01\x00", drop), malformed, "type 1"},
		"block of tick":  {one(block, 1, i32c(1), end, drop), malformed, "type 1"},

		"threads":            {one("\xfe\x03\x00"), unsupported, "threads"},
		"exceptions":         {one("\x08\x00"), unsupported, "exception"},
		"garbage collection": {one("\xfb\x00"), unsupported, "garbage"},
		"call_ref":           {one("\x14\x00"), unsupported, "typed references"},
		"unknown":            {one("\xff"), unsupported, "0xff"},
		"unknown bulk":       {one("\xfc\x12"), unsupported, "0xfc"},
		"second memory":      {one(i32c(0), "\x28\x42\x00\x00", drop), unsupported, "multi-memory"},
		"fill of memory 1":   {one(i32c(0), i32c(0), i32c(0), "\xfc\x0b\x01"), unsupported, "multi-memory"},
		"relaxed simd":       {one("\xfd\x80\x02"), unsupported, "relaxed"},
		"code after its end": {wasm(types(void0), functions(0), code(sized(cat(0, end, 0x01, end)))), malformed, "more bytes"},
		"no end":             {wasm(types(void0), functions(0), code(sized(cat(0, block, void, end)))), malformed, "too early"},
		"locals bomb":        {wasm(types(void0), functions(0), code(sized(cat(1, uleb(1<<32-1), i32, end)))), large, "50000 locals"},
		"branches bomb":      {one("\x0e\x90\x4e"), malformed, "announced"},
		"branches":           {one(bytes.Repeat(cat(loop, void, end), 5001)), large, "20000 branches"},
		"labels":             {one(block, void, i32c(0), "\x0e", uleb(20_000), make([]byte, 20_001), end), large, "20000 branches"},
		"bulk":               {one(bytes.Repeat(memoryFill(1), 6667)), large, "20000 branches"},
		"charger called":     {one(i32c(0), i32c(0), call, 1, drop), malformed, "function 1"},
		"locals of many": {wasm(types(void0), functions(make([]byte, 100)...),
			code(slices.Repeat([][]byte{sized(cat(1, uleb(50_000), i32, end))}, 100)...)), large, "4000000 locals"},
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range refusals() {
		t.Run(name, func(t *testing.T) {
			out, err := rewrite.Prepare(c.bin, options)
			if !errors.Is(err, c.kind) || out != nil {
				t.Fatalf("got %v, want %v", err, c.kind)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
}

// A vector instruction's number written longer than needed is one instruction by the specification and another to an
// engine that reads one byte: what looks like 16 bytes of a v128.const would be code with an unmetered loop.
func TestHiddenLoopIsRefused(t *testing.T) {
	hidden := cat(unreachable, end, loop, void, br, 0, end, bytes.Repeat([]byte{1}, 16))[:16]
	for _, prefix := range []string{"\xfd\x8c\x00", "\xfd\x8c\x80\x00", "\xfd\x8d\x00", "\xfd\x80\x00"} {
		bin := one(block, void, prefix, hidden, drop, end)
		if _, err := rewrite.Prepare(bin, options); !errors.Is(err, rewrite.ErrUnsupported) {
			t.Errorf("%q: got %v", prefix, err)
		}
	}
}

// Cut anywhere, a module is refused with an error, or it was cut between sections.
func TestTruncatedModules(t *testing.T) {
	for _, x := range examples() {
		for n := range x.bin {
			if _, err := rewrite.Prepare(x.bin[:n:n], options); err != nil && !known(err) {
				t.Fatalf("%s cut at %d: %v", x.name, n, err)
			}
		}
	}
}

func known(err error) bool {
	return errors.Is(err, rewrite.ErrNotWasm) || errors.Is(err, rewrite.ErrMalformed) ||
		errors.Is(err, rewrite.ErrUnsupported) || errors.Is(err, rewrite.ErrTooLarge)
}

func TestInspect(t *testing.T) {
	bin := wasm(types(functype("", "")), imports(cat(str("env"), str("f"), 0, 0), cat(str("env"), str("g"), 3, i32, 0)),
		functions(0), memory(1, 2, 9), exports(export("run", 0, 1), export("memory", 2, 0)), start(1), code(body()))
	m, err := rewrite.Inspect(bin)
	if err != nil {
		t.Fatal(err)
	}
	if want := []rewrite.Import{{Module: "env", Name: "f"}, {Module: "env", Name: "g", Kind: rewrite.Global}}; !slices.Equal(m.Imports, want) {
		t.Errorf("imports %v", m.Imports)
	}
	if want := []rewrite.Export{{Name: "run"}, {Name: "memory", Kind: rewrite.Memory}}; !slices.Equal(m.Exports, want) {
		t.Errorf("exports %v", m.Exports)
	}
	if want := []rewrite.Limits{{Min: 2, Max: 9, Bounded: true}}; !slices.Equal(m.Memories, want) || !m.HasStart {
		t.Errorf("memories %v, start %v", m.Memories, m.HasStart)
	}
	if m, err = rewrite.Inspect(prepare(t, bin)); err != nil || len(m.Imports) != 3 || m.Imports[2].Name != "tick" {
		t.Errorf("prepared: %v %v", m.Imports, err)
	}
}
