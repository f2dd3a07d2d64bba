package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestEntryLimit(t *testing.T) {
	m, _ := open(t)
	for first := 0; first < MaxEntries; first += MaxEntries / 4 { // as Put does it, but in few transactions
		err := m.store.Update(t.Context(), func(rw store.RW) error {
			for i := range MaxEntries / 4 {
				e := entry{Category: "c", Key: fmt.Sprint(first + i), Value: json.RawMessage(`0`), Size: 4}
				if err := m.entries.Put(rw, entryID("ann", "c", e.Key), e, 0); err != nil {
					return err
				}
			}
			return m.usages.Put(rw, subjectID("ann"), usage{Entries: first + MaxEntries/4}, 0)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := m.Put(t.Context(), "ann", wire.MemoryPut{Category: "c", Key: "new", Value: json.RawMessage(`1`)})
	wantCode(t, err, wire.InvalidInput)
	put(t, m, "ann", "c", "0", `1`) // replacing needs no room
	put(t, m, "bob", "c", "0", `1`) // another subject has its own
	if n, err := m.Delete(t.Context(), "ann", wire.MemoryKey{Category: "c", Key: "7"}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	put(t, m, "ann", "d", "new", `1`)
	if n, err := m.Delete(t.Context(), "ann", wire.MemoryKey{Category: "c"}); n != MaxEntries-1 || err != nil {
		t.Fatal(n, err)
	}
	if got := names(t, m, "ann", ""); got != "d:new=1" || usageOf(t, m, "ann").Entries != 1 {
		t.Fatalf("left: %s, counted %+v", got, usageOf(t, m, "ann"))
	}
}

func TestExpiredEntriesMakeRoom(t *testing.T) {
	m, _ := open(t)
	put(t, m, "ann", "c", "k", `1`)
	// The store has dropped the others, which it tells nobody.
	err := m.store.Update(t.Context(), func(rw store.RW) error {
		return m.usages.Put(rw, subjectID("ann"), usage{Entries: MaxEntries, Bytes: MaxBytes}, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, m, "ann", "c", "new", `1`)
	if u := usageOf(t, m, "ann"); u.Entries != 2 || u.Bytes != 8 {
		t.Fatalf("counted %+v", u)
	}
}

func usageOf(t *testing.T, m *Memory, subject string) (u usage) {
	t.Helper()
	err := m.store.View(t.Context(), func(r store.R) (err error) {
		u, err = m.usage(r, subject)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestByteLimit(t *testing.T) {
	m, _ := open(t)
	value := `"` + strings.Repeat("a", MaxValue-2) + `"`
	stored := 0
	var err error
	for ; err == nil; stored++ {
		_, err = m.Put(t.Context(), "ann", wire.MemoryPut{Category: "c", Key: fmt.Sprint(stored), Value: json.RawMessage(value)})
	}
	wantCode(t, err, wire.InvalidInput)
	if stored--; stored != MaxBytes/MaxValue-1 {
		t.Fatalf("%d values of %d bytes were taken", stored, MaxValue)
	}
	put(t, m, "bob", "c", "k", value) // another subject has its own room
	put(t, m, "ann", "c", "0", value) // replacing needs none
	if n, err := m.Delete(t.Context(), "ann", wire.MemoryKey{Category: "c", Key: "0"}); err != nil || n != 1 {
		t.Fatal(err)
	}
	put(t, m, "ann", "c", "again", value)
}

func TestPutAtTheSameTime(t *testing.T) {
	m, _ := open(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := m.Put(t.Context(), "ann", wire.MemoryPut{Category: "c", Key: fmt.Sprint(i), Value: json.RawMessage(`1`)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if u := usageOf(t, m, "ann"); u.Entries != 20 {
		t.Fatalf("counted %+v", u)
	}
}
