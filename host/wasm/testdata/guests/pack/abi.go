//go:build wasip1

package main

import "unsafe"

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env free
func free(block uint64)

//go:wasmimport extism:host/env length
func length(block uint64) uint64

//go:wasmimport extism:host/env load_u8
func load8(at uint64) uint32

//go:wasmimport extism:host/env store_u64
func store64(at, v uint64)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u64
func inputLoad64(at uint64) uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoad8(at uint64) uint32

//go:wasmimport extism:host/env output_set
func outputSet(block, length uint64)

//go:wasmimport extism:host/env error_set
func errorSet(block uint64)

//go:wasmimport extism:host/env log_info
func logInfo(block uint64)

//go:wasmimport extism:host/env config_get
func configGet(block uint64) uint64

//go:wasmimport extism:host/env var_set
func varSet(name, value uint64)

//go:wasmimport gantry:io read_input
func readInput(to unsafe.Pointer, length uint32)

//go:wasmimport gantry:io load
func load(block uint64, to unsafe.Pointer, length uint32)

//go:wasmimport gantry:io store
func store(from unsafe.Pointer, length uint32) uint64

//go:wasmimport extism:host/user upper
func hostUpper(block uint64) uint64

//go:wasmimport extism:host/user count
func hostCount(block uint64) uint64

//go:wasmimport extism:host/user burst
func hostBurst(block uint64) uint64

//go:wasmimport extism:host/user wait
func hostWait(block uint64) uint64

func input() []byte {
	b := make([]byte, inputLength())
	if len(b) > 0 {
		readInput(unsafe.Pointer(&b[0]), uint32(len(b)))
	}
	return b
}

func block(data []byte) uint64 {
	return store(unsafe.Pointer(unsafe.SliceData(data)), uint32(len(data)))
}

func bytesOf(block uint64) []byte {
	b := make([]byte, length(block))
	if len(b) > 0 {
		load(block, unsafe.Pointer(&b[0]), uint32(len(b)))
	}
	return b
}

func output(data []byte) { outputSet(block(data), uint64(len(data))) }
