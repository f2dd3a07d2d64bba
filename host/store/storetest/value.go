package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/store"
)

func testValues(t *testing.T, s store.Store) {
	if got := get(t, s, "a"); got != "-" {
		t.Errorf("an empty store has %q", got)
	}
	set(t, s, "a", "1", "b", "2", "empty", "", "\x00", "nul", "\xff\xff", "high")
	set(t, s, "a", "3")
	for key, want := range map[string]string{"a": "3", "b": "2", "empty": "", "\x00": "nul", "\xff\xff": "high", "": "-", "c": "-"} {
		if got := get(t, s, key); got != want {
			t.Errorf("%q: got %q, want %q", key, got, want)
		}
	}
	update(t, s, func(rw store.RW) error {
		return errors.Join(rw.Delete([]byte("a")), rw.Delete([]byte("never there")))
	})
	if got := get(t, s, "a"); got != "-" {
		t.Errorf("a deleted key has %q", got)
	}
}

func testOwnWrites(t *testing.T, s store.Store) {
	set(t, s, "k/1", "old", "k/2", "old", "k/4", "old")
	update(t, s, func(rw store.RW) error {
		err := errors.Join(rw.Put([]byte("k/1"), []byte("new"), 0), rw.Delete([]byte("k/2")),
			rw.Put([]byte("k/3"), []byte("new"), 0), rw.Put([]byte("k/5"), []byte("new"), 0))
		if err != nil {
			return err
		}
		if v, err := rw.Get([]byte("k/1")); err != nil || string(v) != "new" {
			t.Errorf("own write: %q, %v", v, err)
		}
		if _, err := rw.Get([]byte("k/2")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("own delete: %v", err)
		}
		got, err := list(rw, []byte("k/"), nil, store.ScanOptions{})
		sameList(t, "own writes", got, []string{"k/1=new", "k/3=new", "k/4=old", "k/5=new"})
		return err
	})
}

func testRollback(t *testing.T, s store.Store) {
	set(t, s, "a", "1")
	oops := errors.New("oops")
	err := s.Update(t.Context(), func(rw store.RW) error {
		return errors.Join(rw.Put([]byte("a"), []byte("2"), 0), rw.Put([]byte("b"), []byte("2"), 0), oops)
	})
	if !errors.Is(err, oops) {
		t.Errorf("the error of fn is lost: %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic of fn is swallowed")
			}
		}()
		_ = s.Update(t.Context(), func(rw store.RW) error {
			_ = rw.Put([]byte("b"), nil, 0)
			panic("oops")
		})
	}()
	if a, b := get(t, s, "a"), get(t, s, "b"); a != "1" || b != "-" {
		t.Errorf("after a rollback: a %q, b %q", a, b)
	}
}

func testEnded(t *testing.T, s store.Store) {
	var r store.R
	var rw store.RW
	view(t, s, func(one store.R) error { r = one; return nil })
	update(t, s, func(one store.RW) error { rw = one; return nil })
	none := func(_, _ []byte) (bool, error) { return true, nil }
	_, get1 := r.Get([]byte("a"))
	_, get2 := rw.Get([]byte("a"))
	errs := map[string]error{
		"View's Get": get1, "Update's Get": get2, "Put": rw.Put([]byte("a"), nil, 0), "Delete": rw.Delete([]byte("a")),
		"View's Scan": r.Scan(nil, nil, store.ScanOptions{}, none), "Update's Scan": rw.Scan(nil, nil, store.ScanOptions{}, none),
	}
	for what, err := range errs {
		if err == nil {
			t.Errorf("%s works after the end of the transaction", what)
		}
	}
}

// testBuffers changes every slice that was handed over or received.
func testBuffers(t *testing.T, s store.Store) {
	key, value := []byte("a1"), []byte("v1")
	update(t, s, func(rw store.RW) error {
		err := rw.Put(key, value, 0)
		copy(key, "a2")
		copy(value, "v2")
		return errors.Join(err, rw.Put(key, value, 0))
	})
	for i := range 3 {
		row := store.Row{Key: key, Value: value}
		row.Key[1], row.Value[1] = byte('3'+i), byte('3'+i)
		if err := s.Append(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	copy(key, "zz")
	copy(value, "zz")
	view(t, s, func(r store.R) error {
		v, err := r.Get([]byte("a1"))
		copy(v, "zz")
		return err
	})
	view(t, s, func(r store.R) error {
		got, err := list(r, nil, nil, store.ScanOptions{})
		sameList(t, "after the slices changed", got, []string{"a1=v1", "a2=v2", "a3=v3", "a4=v4", "a5=v5"})
		return err
	})
}

func testTTL(t *testing.T, s store.Store) {
	update(t, s, func(rw store.RW) error {
		return errors.Join(rw.Put([]byte("k/short"), []byte("v"), time.Second), rw.Put([]byte("k/long"), []byte("v"), time.Hour))
	})
	if err := s.Append(t.Context(), store.Row{Key: []byte("k/row"), Value: []byte("v"), TTL: time.Second}); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(r store.R) error {
		got, err := list(r, []byte("k/"), nil, store.ScanOptions{KeysOnly: true})
		sameList(t, "before the end", got, []string{"k/long", "k/row", "k/short"})
		return err
	})
	eventually(t, "the short-lived keys are gone", func() bool { return get(t, s, "k/short") == "-" && get(t, s, "k/row") == "-" })
	update(t, s, func(rw store.RW) error {
		got, err := list(rw, []byte("k/"), nil, store.ScanOptions{Reverse: true, KeysOnly: true})
		sameList(t, "after the end", got, []string{"k/long"})
		return err
	})
	err := s.Update(t.Context(), func(rw store.RW) error { return rw.Put([]byte("k"), nil, -time.Second) })
	if err == nil {
		t.Error("a negative ttl is accepted")
	}
	set(t, s, "k/short", "again")
	if got := get(t, s, "k/short"); got != "again" {
		t.Errorf("a key that had expired once has %q", got)
	}
}

// eventually waits for something that time brings.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not in 30 s: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func testBucket(t *testing.T, s store.Store) {
	type thing struct{ N int }
	things := store.NewBucket[thing]("thing")
	set(t, s, "thinG/a", "{}", "thing0", "{}", "things/a", "{}")
	update(t, s, func(rw store.RW) error {
		return errors.Join(things.Put(rw, "a", thing{1}, 0), things.Put(rw, "b/c", thing{2}, 0), things.Put(rw, "d", thing{3}, time.Hour),
			things.Put(rw, "e", thing{4}, 0), things.Delete(rw, "e"))
	})
	view(t, s, func(r store.R) error {
		if v, err := things.Get(r, "b/c"); err != nil || v.N != 2 {
			t.Errorf("get: %v, %v", v, err)
		}
		if _, err := things.Get(r, "e"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("get of none: %v", err)
		}
		for from, want := range map[string]int{"": 123, "b": 23, "b/c": 23, "d": 3, "z": 0} {
			sum := 0
			err := things.Scan(r, from, store.ScanOptions{}, func(_ string, v thing) (bool, error) { sum = sum*10 + v.N; return true, nil })
			if err != nil || sum != want {
				t.Errorf("scan from %q: %d, %v; want %d", from, sum, err, want)
			}
		}
		ids := ""
		err := things.Scan(r, "c", store.ScanOptions{Reverse: true, KeysOnly: true}, func(id string, v thing) (bool, error) {
			ids += id + " "
			return v.N == 0, nil
		})
		if ids != "b/c a " {
			t.Errorf("backwards: %q", ids)
		}
		return err
	})
	set(t, s, "thing/bad", "{")
	if err := s.View(t.Context(), func(r store.R) error { _, err := things.Get(r, "bad"); return err }); err == nil {
		t.Error("a broken entry is accepted")
	}
}
