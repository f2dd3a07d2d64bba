package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// A tiny assembler, for modules that Go's compiler doesn't make.

// cat joins bytes (int) and parts ([]byte, string).
func cat(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case []byte:
			out = append(out, p...)
		case string:
			out = append(out, p...)
		default:
			panic("cat: unknown part")
		}
	}
	return out
}

func uleb(v int) []byte {
	var out []byte
	for ; v >= 0x80; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v))
}

func sized(parts ...any) []byte { b := cat(parts...); return cat(uleb(len(b)), b) }

// assembly is a module with one function, called run.
type assembly struct {
	imports []byte // entries, all functions of type 0, or one memory
	count   int
	funcs   int    // of the imports
	result  []byte // of run and of what is imported
	table   int    // entries at first, if above 0
	memory  []byte // limits
	code    []byte // of run; i32.const 0 if empty
}

func (a assembly) bin() []byte {
	if a.code == nil {
		a.code, a.result = cat(0x41, 0), cat(0x7f)
	}
	section := func(id int, body []byte) []byte { return cat(id, sized(body)) }
	out := cat("\x00asm", 1, 0, 0, 0, section(1, cat(1, 0x60, 0, len(a.result), a.result)))
	if a.count > 0 {
		out = cat(out, section(2, cat(uleb(a.count), a.imports)))
	}
	out = cat(out, section(3, cat(1, 0)))
	if a.table > 0 {
		out = cat(out, section(4, cat(1, 0x70, 0, uleb(a.table))))
	}
	if a.memory != nil {
		out = cat(out, section(5, cat(1, a.memory)))
	}
	out = cat(out, section(7, cat(1, sized("run"), 0, a.funcs)))
	return cat(out, section(10, cat(1, sized(0, a.code, 0x0b))))
}

// importing is a module that imports one thing.
func importing(module, name string, kind []byte) assembly {
	funcs := 0
	if kind[0] == 0 {
		funcs = 1
	}
	return assembly{imports: cat(sized(module), sized(name), kind), count: 1, funcs: funcs}
}

// tiny is a module that answers nothing, at once.
func tiny(testing.TB) []byte { return assembly{memory: cat(0, 1)}.bin() }

var function, status = cat(0, 0), cat(0x7f)

func TestTinyModules(t *testing.T) {
	r := runner(t)
	loop := func(body ...any) []byte { return cat(0x03, 0x40, cat(body...), 0x0c, 0, 0x0b, 0x41, 0) }
	grow := cat(0x41, 1, 0xfc, 15, 0) // table.grow by 1, what it answers is above
	for _, c := range []struct {
		name string
		a    assembly
		text string // of the failure, "" for success
	}{
		{"no memory", assembly{}, ""},
		{"a large maximum", assembly{memory: cat(1, 1, uleb(65536))}, ""},
		{"a large minimum", assembly{memory: cat(0, uleb(4096))}, "raise handler.memory_mb"},
		{"an unknown lent function", importing(userModule, "teleport", function), "does not lend"},
		{"an unknown Extism function", importing(envModule, "teleport", function), "Extism does not have"},
		{"an unknown WASI function", importing(wasiModule, "teleport", function), "cannot be started"},
		{"an unknown bulk function", importing(ioModule, "teleport", function), "cannot be started"},
		{"another type", importing(envModule, "free", function), "cannot be started"},
		{"the meter", importing(meterModule, tickName, function), "belongs to the host"},
		{"a stranger's module", importing("env", "f", function), "may import from"},
		{"a memory", importing("env", "memory", cat(2, 0, 1)), "brings its own memory"},
		{"no types", assembly{result: status, code: cat(0x01)}, "cannot be compiled"},
		{"a trap", assembly{result: status, code: cat(0x00)}, "crashed: unreachable"},
		{"endless tables", assembly{table: 1, result: status, code: cat(0x03, 0x40, 0xd0, 0x70, grow, 0x41, 0x7f, 0x47, 0x0d, 0, 0x0b, 0x41, 0)}, ""},
		{"a status", assembly{result: status, code: cat(0x41, 5)}, "status 5"},
		{"no result", assembly{code: cat(0x01), result: []byte{}}, ""},
		{"a stack without end", assembly{result: status, code: cat(0x10, 0)}, "crashed: stack overflow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := do(t, r, pack(c.a.bin(), "run"), "")
			if c.text == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused(t, err, wire.HandlerFailed, c.text)
		})
	}
	t.Run("filling", func(t *testing.T) { // 64 MiB each round
		fill := cat(0x41, 0, 0x41, 1, 0x41, 0x80, 0x80, 0x80, 0x20, 0xfc, 11, 0)
		p := pack(assembly{memory: cat(0, uleb(1024)), result: status, code: loop(fill)}.bin(), "run")
		ctx := within(t, guestDeadline)
		must(t, r, pack(tiny(t), "run"), "")
		wait := others(ctx, t, r, pack(tiny(t), "run"))
		from := time.Now()
		_, err := doIn(ctx, r, p, "")
		if took, stall := time.Since(from), wait(); !errors.Is(err, context.DeadlineExceeded) || took > guestDeadline+late || stall > late {
			t.Errorf("%v after %v; the longest of the others took %v", err, took, stall)
		}
	})
}

// What Check refuses is what a call would refuse, and nothing is compiled for it.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		bin  []byte
		text string
	}{
		"fine":     {tiny(t), ""},
		"no wasm":  {[]byte("\x7fELF"), "not a WebAssembly core module"},
		"a lender": {importing(userModule, "teleport", function).bin(), "does not lend"},
		"large":    {assembly{memory: cat(0, uleb(4096))}.bin(), "raise handler.memory_mb"},
	} {
		err := Check(pack(c.bin, "run"), lent())
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %q", name, err, c.text)
		}
	}
}
