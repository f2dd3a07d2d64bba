//go:build wasip1

// Command abi is a module that needs nothing but Extism's own functions, so that the SDK can run it too.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
)

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env free
func free(block uint64)

//go:wasmimport extism:host/env length
func length(block uint64) uint64

//go:wasmimport extism:host/env load_u8
func load8(at uint64) uint32

//go:wasmimport extism:host/env load_u64
func load64(at uint64) uint64

//go:wasmimport extism:host/env store_u8
func store8(at uint64, v uint32)

//go:wasmimport extism:host/env store_u64
func store64(at, v uint64)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_offset
func inputOffset() uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoad8(at uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func inputLoad64(at uint64) uint64

//go:wasmimport extism:host/env output_set
func outputSet(block, length uint64)

//go:wasmimport extism:host/env error_set
func errorSet(block uint64)

//go:wasmimport extism:host/env log_info
func logInfo(block uint64)

//go:wasmimport extism:host/env config_get
func configGet(block uint64) uint64

func main() {}

func input() []byte {
	n := inputLength()
	b := make([]byte, 0, n+8)
	at := uint64(0)
	for ; at+8 <= n; at += 8 {
		b = binary.LittleEndian.AppendUint64(b, inputLoad64(at))
	}
	for ; at < n; at++ {
		b = append(b, byte(inputLoad8(at)))
	}
	return b
}

func block(data []byte) uint64 {
	b := alloc(uint64(len(data)))
	for i, c := range data {
		store8(b+uint64(i), uint32(c))
	}
	return b
}

func bytesOf(block, n uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(load8(block + uint64(i)))
	}
	return b
}

func say(format string, args ...any) int32 {
	text := fmt.Appendf(nil, format, args...)
	outputSet(block(text), uint64(len(text)))
	return 0
}

//go:wasmexport echo
func echo() int32 { return say("%s", input()) }

//go:wasmexport echoblock
func echoBlock() int32 { return say("%s", bytesOf(inputOffset(), length(inputOffset()))) }

//go:wasmexport words
func words() int32 {
	b := alloc(24)
	store64(b, 0x0102030405060708)
	store64(b+8, 1<<63)
	store64(b+13, 0xffffffffffffffff)
	store8(b+23, 0x1fe)
	return say("%x %x %x", load64(b), load64(b+3), bytesOf(b, 24))
}

//go:wasmexport blocks
func blocks() int32 {
	a, b, c := alloc(10), alloc(20), alloc(0)
	before := fmt.Sprint(a != 0, b != 0, c == 0, a != b, length(a), length(b), length(c), length(0))
	free(a)
	after := fmt.Sprint(length(b), length(a) == 10)
	free(b)
	return say("%s %s", before, after)
}

//go:wasmexport zeroed
func zeroed() int32 {
	a := alloc(64)
	return say("%x", bytesOf(a, 64))
}

//go:wasmexport twice
func twice() int32 { say("the first"); return say("the second") }

//go:wasmexport part
func part() int32 {
	outputSet(block([]byte("0123456789"))+2, 5)
	return 0
}

//go:wasmexport silent
func silent() int32 { return 0 }

//go:wasmexport nothing
func nothing() { say("no status") }

//go:wasmexport fail
func fail() int32 { errorSet(block(input())); return 1 }

//go:wasmexport failthough
func failThough() int32 { say("an output"); errorSet(block(input())); return 0 }

//go:wasmexport failtwice
func failTwice() int32 { errorSet(block([]byte("the first"))); errorSet(block(input())); return 1 }

//go:wasmexport failnot
func failNot() int32 { errorSet(block(input())); errorSet(0); return say("no error after all") }

//go:wasmexport setting
func setting() int32 {
	b := configGet(block(input()))
	return say("%v %s", b != 0, bytesOf(b, length(b)))
}

//go:wasmexport logs
func logs() int32 {
	logInfo(block(input()))
	return say("said")
}

//go:wasmexport leave
func leave() int32 { say("before exit"); os.Exit(0); return 0 }

//go:wasmexport fault
func fault() int32 { panic("fault") }

//go:wasmexport beyond
func beyond() int32 { store64(1<<31, 1); return say("unharmed") }

//go:wasmexport beyondload
func beyondLoad() int32 { return say("%d", load64(1<<31)) }

//go:wasmexport status
func status() int32 { say("an output"); return 3 }
