//go:build wasip1

// Command pack does what packs should not, one export for each.
package main

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {}

var (
	counter int
	sink    [][]byte
)

//go:wasmexport noop
func noop() int32 { return 0 }

//go:wasmexport echo
func echo() int32 { output(input()); return 0 }

// Input by Extism's own functions, as every other PDK reads it.
//
//go:wasmexport echo64
func echo64() int32 {
	n := inputLength()
	b := make([]byte, 0, n+8)
	at := uint64(0)
	for ; at+8 <= n; at += 8 {
		b = binary.LittleEndian.AppendUint64(b, inputLoad64(at))
	}
	for ; at < n; at++ {
		b = append(b, byte(inputLoad8(at)))
	}
	output(b)
	return 0
}

//go:wasmexport sum
func sum() int32 {
	var in struct{ Numbers []float64 }
	if err := json.Unmarshal(input(), &in); err != nil {
		return 1
	}
	total := 0.0
	for _, n := range in.Numbers {
		total += n
	}
	b, _ := json.Marshal(map[string]any{"sum": total, "count": len(in.Numbers)})
	output(b)
	return 0
}

//go:wasmexport takes
func takes(int32) int32 { return 0 }

//go:wasmexport wide
func wide() int64 { return 1 << 40 }

//go:wasmexport status
func status() int32 {
	n, _ := strconv.Atoi(string(input()))
	return int32(n)
}

//go:wasmexport exit
func exit() int32 {
	n, _ := strconv.Atoi(string(input()))
	output([]byte(`{"done":true}`))
	os.Exit(n)
	return 0
}

//go:wasmexport crash
func crash() int32 { panic("the guest's own words") }

//go:wasmexport trap
func trap() int32 {
	var p *int
	return int32(*p)
}

//go:wasmexport spin
func spin() int32 {
	for {
		counter++
	}
}

// Spins for as many rounds as the input says.
//
//go:wasmexport burn
func burn() int32 {
	n, _ := strconv.Atoi(string(input()))
	for range n {
		counter++
	}
	return 0
}

//go:wasmexport recurse
func recurse() int32 { return int32(down(1)) }

func down(n int) int {
	if n == 0 {
		return 0
	}
	return down(n+1) + down(n+2)
}

//go:wasmexport eat
func eat() int32 {
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		sink = append(sink, b)
	}
}

//go:wasmexport sleep
func sleep() int32 { time.Sleep(time.Hour); return 0 }

//go:wasmexport count
func count() int32 {
	counter++
	output([]byte(strconv.Itoa(counter)))
	return 0
}

// What a call leaves lying about, and what it finds.
//
//go:wasmexport litter
func litter() int32 {
	secret := strings.Repeat("SECRET-OF-"+string(input()), 1000)
	sink = append(sink, []byte(secret))
	block([]byte(secret))
	os.Setenv("SECRET", secret)
	syscall.Close(1)
	fmt.Fprint(os.Stderr, "left")
	return 0
}

//go:wasmexport search
func search() int32 {
	found := []string{}
	b := block(make([]byte, 16<<10))
	for at := b; at < b+16<<10; at++ {
		if load8(at) != 0 {
			found = append(found, "block")
			break
		}
	}
	end := memorySize() - 16
	for at := uintptr(1 << 16); at < end; at++ {
		if *(*uint64)(unsafe.Pointer(at)) == 0x4f2d544552434553 && *(*byte)(unsafe.Pointer(at + 10)) == '1' {
			found = append(found, "memory")
			break
		}
	}
	if len(os.Environ()) > 0 || len(os.Args) > 0 {
		found = append(found, "environment")
	}
	if _, err := os.Stdout.WriteString("x"); err != nil {
		found = append(found, "descriptors")
	}
	if _, err := os.ReadDir("/"); err == nil {
		found = append(found, "files")
	}
	out, _ := json.Marshal(found)
	output(out)
	return 0
}

// memorySize is a lower bound: all that a fresh heap object's address says.
func memorySize() uintptr { return uintptr(unsafe.Pointer(&make([]byte, 64<<10)[0])) }

//go:wasmexport random
func random() int32 {
	m := map[int]int{}
	for i := range 200 {
		m[i] = i
	}
	order := []int{}
	for k := range m {
		order = append(order, k)
	}
	b := make([]byte, 16)
	crand.Read(b)
	out, _ := json.Marshal(map[string]any{"rand": rand.Int64(), "order": fmt.Sprint(order), "crypto": hex.EncodeToString(b)})
	output(out)
	return 0
}

//go:wasmexport clock
func clock() int32 {
	was := time.Now()
	time.Sleep(20 * time.Millisecond)
	output(fmt.Appendf(nil, "%d %d", was.UnixMilli(), time.Since(was).Milliseconds()))
	return 0
}
