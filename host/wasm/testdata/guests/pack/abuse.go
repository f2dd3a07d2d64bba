//go:build wasip1

package main

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

//go:wasmexport error
func errorText() int32 { errorSet(block(input())); return 1 }

//go:wasmexport errorthough
func errorThough() int32 { output([]byte(`{}`)); errorSet(block(input())); return 0 }

//go:wasmexport errortwice
func errorTwice() int32 {
	errorSet(block([]byte("the first")))
	errorSet(block([]byte("the second")))
	return 1
}

//go:wasmexport errortaken
func errorTaken() int32 {
	errorSet(block([]byte("not so")))
	errorSet(0)
	output([]byte(`{}`))
	return 0
}

//go:wasmexport errorwide
func errorWide() int32 { errorSet(block([]byte(strings.Repeat("\u6f22", 5000)))); return 1 }

//go:wasmexport errorbytes
func errorBytes() int32 { errorSet(block([]byte("bad \xff" + strings.Repeat("\xfe", 5000)))); return 1 }

//go:wasmexport setting
func setting() int32 { output(bytesOf(configGet(block(input())))); return 0 }

//go:wasmexport variable
func variable() int32 { varSet(block([]byte("k")), block([]byte("v"))); return 0 }

//go:wasmexport upper
func upper() int32 { output(bytesOf(hostUpper(block(input())))); return 0 }

//go:wasmexport counted
func counted() int32 { output(fmt.Append(nil, hostCount(block(input())))); return 0 }

//go:wasmexport burst
func burst() int32 { hostBurst(block([]byte("x"))); return 0 }

//go:wasmexport wait
func wait() int32 { hostWait(block([]byte("x"))); output([]byte(`{}`)); return 0 }

//go:wasmexport lognothing
func logNothing() int32 { logInfo(123456); return 0 }

//go:wasmexport logflood
func logFlood() int32 {
	for range 5000 {
		logInfo(block([]byte(strings.Repeat("l", 9000))))
	}
	return 0
}

//go:wasmexport talk
func talk() int32 {
	line := strings.Repeat("t", 1<<20)
	for range 50 {
		fmt.Fprint(os.Stderr, line)
	}
	fmt.Fprint(os.Stdout, "the end")
	return 0
}

//go:wasmexport outside
func outside() int32 { store64(1<<40, 1); return 0 }

//go:wasmexport across
func across() int32 { load(block([]byte("12345678")), nil, 1<<30); return 0 }

//go:wasmexport freetwice
func freeTwice() int32 {
	a, b := alloc(8), alloc(8)
	free(a)
	free(a)
	free(a + 1)
	free(1 << 50)
	store64(b, 42)
	output(fmt.Appendf(nil, "%d %d %d", length(a), length(b), load8(b)))
	return 0
}

// The block headers of the SDK's kernel lie between the blocks; this breaks them and makes its search for a free one endless.
//
//go:wasmexport corrupt
func corrupt() int32 {
	alloc(16)
	second := alloc(64)
	third := alloc(8)
	store64(second-8, 0x00000040_FFFFFFF4)
	free(third)
	alloc(100)
	output([]byte(`{}`))
	return 0
}

// What costs little fuel and much of the host's time.
//
//go:wasmexport clearing
func clearing() int32 {
	for {
		free(alloc(48 << 20))
	}
}

//go:wasmimport wasi_snapshot_preview1 random_get
func randomGet(to unsafe.Pointer, n uint32) uint32

//go:wasmexport dice
func dice() int32 {
	b := make([]byte, 16<<20)
	for {
		randomGet(unsafe.Pointer(&b[0]), uint32(len(b)))
	}
}

//go:wasmimport wasi_snapshot_preview1 fd_write
func fdWrite(fd uint32, parts unsafe.Pointer, n uint32, written unsafe.Pointer) uint32

//go:wasmexport scatter
func scatter() int32 {
	type part struct{ at, n uint32 } // Go's own pointers take eight bytes here
	text := make([]byte, 16<<10)
	parts := make([]part, 4<<20)
	for i := range parts {
		parts[i] = part{uint32(uintptr(unsafe.Pointer(&text[0]))), uint32(len(text))}
	}
	var n uint32
	for {
		fdWrite(2, unsafe.Pointer(&parts[0]), uint32(len(parts)), unsafe.Pointer(&n))
	}
}

//go:wasmimport wasi_snapshot_preview1 poll_oneoff
func pollOneoff(in, out unsafe.Pointer, n uint32, events unsafe.Pointer) uint32

//go:wasmexport poll
func poll() int32 {
	const n = 300_000
	in, out := make([]byte, 48*n), make([]byte, 32*n)
	for i := range n {
		in[i*48+8] = 2 // fd_write, of descriptor 0
	}
	var events uint32
	for {
		pollOneoff(unsafe.Pointer(&in[0]), unsafe.Pointer(&out[0]), n, unsafe.Pointer(&events))
	}
}

// 48 * n wraps around to 0.
//
//go:wasmexport pollwrap
func pollWrap() int32 {
	var b [64]byte
	var events uint32
	pollOneoff(unsafe.Pointer(&b[0]), unsafe.Pointer(&b[0]), 1<<28, unsafe.Pointer(&events))
	output([]byte(`{}`))
	return 0
}
