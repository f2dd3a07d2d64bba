package rewrite_test

// A tiny assembler: enough to write modules by hand, valid or not.

// cat joins bytes (byte, int) and parts of code or sections ([]byte, string).
func cat(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case byte:
			out = append(out, p)
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

func uleb(v uint32) []byte {
	var out []byte
	for ; v >= 0x80; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v))
}

func sleb(v int64) []byte {
	var out []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}

// vec is a vector of items.
func vec(items ...[]byte) []byte {
	out := uleb(uint32(len(items)))
	for _, i := range items {
		out = append(out, i...)
	}
	return out
}

func str(s string) []byte { return cat(uleb(uint32(len(s))), s) }

func sized(b []byte) []byte { return cat(uleb(uint32(len(b))), b) }

func section(id byte, body []byte) []byte { return cat(id, sized(body)) }

func wasm(sections ...[]byte) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		out = append(out, s...)
	}
	return out
}

func types(t ...[]byte) []byte        { return section(1, vec(t...)) }
func imports(i ...[]byte) []byte      { return section(2, vec(i...)) }
func functions(types ...byte) []byte  { return section(3, cat(uleb(uint32(len(types))), types)) }
func tables(t ...[]byte) []byte       { return section(4, vec(t...)) }
func memory(limits ...byte) []byte    { return section(5, vec(limits)) }
func globals(g ...[]byte) []byte      { return section(6, vec(g...)) }
func exports(e ...[]byte) []byte      { return section(7, vec(e...)) }
func start(f byte) []byte             { return section(8, []byte{f}) }
func elements(e ...[]byte) []byte     { return section(9, vec(e...)) }
func dataCount(n byte) []byte         { return section(12, []byte{n}) }
func code(bodies ...[]byte) []byte    { return section(10, vec(bodies...)) }
func data(segments ...[]byte) []byte  { return section(11, vec(segments...)) }
func custom(name, body string) []byte { return section(0, cat(str(name), body)) }

func functype(params, results string) []byte { return cat(0x60, str(params), str(results)) }

// body is a function without locals.
func body(parts ...any) []byte { return sized(cat(0, cat(parts...), end)) }

// bodyWith is a function with n i32 locals.
func bodyWith(n byte, parts ...any) []byte { return sized(cat(1, n, i32, cat(parts...), end)) }

func export(name string, kind, index byte) []byte { return cat(str(name), kind, index) }

func i32c(v int64) []byte { return cat(0x41, sleb(v)) }

const (
	i32, i64, v128   = "\x7f", "\x7e", "\x7b"
	funcref          = 0x70
	end              = 0x0b
	unreachable      = 0x00
	block, loop, iff = 0x02, 0x03, 0x04
	els, br, brIf    = 0x05, 0x0c, 0x0d
	void             = 0x40
	call             = 0x10
	drop             = 0x1a
	localGet         = 0x20
	localSet         = 0x21
	localTee         = 0x22
	globalGet        = 0x23
	globalSet        = 0x24
	add, sub         = 0x6a, 0x6b
)

func memoryFill(n int64) []byte { return cat(i32c(0), i32c(7), i32c(n), "\xfc\x0b\x00") }
