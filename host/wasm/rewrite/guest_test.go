package rewrite_test

import (
	"errors"
	"slices"
	"testing"
)

// dataSegments counts the segments of a module.
func dataSegments(bin []byte) int {
	for at := 8; at < len(bin); {
		id := bin[at]
		size, n := number(bin[at+1:])
		at += 1 + n
		if id == 11 {
			count, _ := number(bin[at:])
			return count
		}
		at += size
	}
	return 0
}

func number(b []byte) (v, n int) {
	for shift := 0; ; shift += 7 {
		v |= int(b[n]&0x7f) << shift
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
}

func TestGoGuest(t *testing.T) {
	e := newEngine(t)
	e.budget = 100_000
	bin := goGuest(t)
	prepared := prepare(t, bin)
	before, after := dataSegments(bin), dataSegments(prepared)
	t.Logf("%d bytes and %d data segments became %d and %d", len(bin), before, len(prepared), after)
	if before < 1000 || after > before/100 {
		t.Errorf("%d data segments became %d", before, after)
	}

	want, err := invoke(t, e.start(t, bin), "work", 20)
	if err != nil || int64(want[0]) <= 0 {
		t.Fatal(want, err)
	}
	got, err := invoke(t, e.start(t, prepared), "work", 20)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("after: %v %v, want %v", got, err, want)
	}
	if _, err := invoke(t, e.start(t, prepared), "fail"); err == nil || errors.Is(err, errStopped) {
		t.Errorf("a panic: got %v", err)
	}
	e.limit = 100
	for name, args := range map[string][]uint64{"spin": nil, "clearing": nil, "recurse": {60}} {
		e.ticks = 0
		if _, err := invoke(t, e.start(t, prepared), name, args...); !errors.Is(err, errStopped) {
			t.Errorf("%s: got %v, want it stopped", name, err)
		}
	}
}
