package pdk

import "unsafe"

// The host's functions, as a module imports them. Blocks are named by their offset in the host's memory; 0 is no block.
// Extism's own functions move eight bytes a call; those of gantry:io move a whole block.

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env length
func blockLength(block uint64) uint64

//go:wasmimport extism:host/env free
func freeBlock(block uint64)

//go:wasmimport extism:host/env output_set
func outputSet(block, length uint64)

//go:wasmimport extism:host/env error_set
func errorSet(block uint64)

//go:wasmimport extism:host/env log_debug
func logDebug(block uint64)

//go:wasmimport extism:host/env log_info
func logInfo(block uint64)

//go:wasmimport extism:host/env log_warn
func logWarn(block uint64)

//go:wasmimport extism:host/env config_get
func configGet(name uint64) uint64

//go:wasmimport gantry:io read_input
func ioReadInput(to unsafe.Pointer, length uint32)

//go:wasmimport gantry:io load
func ioLoad(block uint64, to unsafe.Pointer, length uint32)

//go:wasmimport gantry:io store
func ioStore(from unsafe.Pointer, length uint32) uint64

//go:wasmimport extism:host/user artifact_put
func artifactPut(block uint64) uint64

//go:wasmimport extism:host/user artifact_get
func artifactGet(block uint64) uint64

//go:wasmimport extism:host/user artifact_list
func artifactList(block uint64) uint64

//go:wasmimport extism:host/user memory_put
func memoryPut(block uint64) uint64

//go:wasmimport extism:host/user memory_get
func memoryGet(block uint64) uint64

//go:wasmimport extism:host/user memory_list
func memoryList(block uint64) uint64

//go:wasmimport extism:host/user memory_delete
func memoryDelete(block uint64) uint64

//go:wasmimport extism:host/user plan_put
func planPut(block uint64) uint64

//go:wasmimport extism:host/user progress
func progress(block uint64) uint64

//go:wasmimport extism:host/user http_send
func httpSend(block uint64) uint64

//go:wasmimport extism:host/user vault_sign
func vaultSign(block uint64) uint64

//go:wasmimport extism:host/user vault_look
func vaultLook(block uint64) uint64

//go:wasmimport extism:host/user blob_read
func blobRead(id, offset, length uint64) (block uint64)

//go:wasmimport extism:host/user blob_write
func blobWrite(id, block uint64) uint64

// readInput copies the call's input into the module's memory.
func readInput() []byte {
	n := inputLength()
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	ioReadInput(unsafe.Pointer(&b[0]), uint32(n))
	return b
}

// setOutput hands the answer over.
func setOutput(out []byte) error {
	block := storeBlock(out)
	if block == 0 {
		return errNoMemory
	}
	outputSet(block, uint64(len(out)))
	return nil
}

// setError hands an error over; if even that finds no memory, the host sees the export's return value.
func setError(text []byte) {
	if block := storeBlock(text); block != 0 {
		errorSet(block)
	}
}

// storeBlock copies data, which is not empty, into a new block; 0 if the call's memory is used up.
func storeBlock(data []byte) uint64 {
	return ioStore(unsafe.Pointer(unsafe.SliceData(data)), uint32(len(data)))
}

// takeBlock copies a block into the module's memory and frees it; nil for block 0.
func takeBlock(block uint64) []byte {
	if block == 0 {
		return nil
	}
	defer freeBlock(block)
	n := blockLength(block)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	ioLoad(block, unsafe.Pointer(&b[0]), uint32(n))
	return b
}

func logLine(level Level, text string) {
	if text == "" {
		return
	}
	block := storeBlock([]byte(text))
	if block == 0 {
		return
	}
	switch level {
	case Debug:
		logDebug(block)
	case Warn:
		logWarn(block)
	default:
		logInfo(block)
	}
	freeBlock(block)
}

func setting(name string) (string, bool) {
	if name == "" {
		return "", false
	}
	key := storeBlock([]byte(name))
	if key == 0 {
		return "", false
	}
	block := configGet(key)
	freeBlock(key)
	return string(takeBlock(block)), block != 0
}
