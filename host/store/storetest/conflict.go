package storetest

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/gantry-packs/gantry/host/store"
)

func testSnapshot(t *testing.T, s store.Store) {
	set(t, s, "a", "1")
	view(t, s, func(r store.R) error {
		set(t, s, "a", "2", "b", "2")
		if err := s.Append(t.Context(), store.Row{Key: []byte("c")}); err != nil {
			return err
		}
		got, err := list(r, nil, nil, store.ScanOptions{})
		sameList(t, "an open View", got, []string{"a=1"})
		if v, _ := r.Get([]byte("a")); string(v) != "1" {
			t.Errorf("an open View reads %q", v)
		}
		return err
	})
	if got := get(t, s, "a"); got != "2" {
		t.Errorf("a new View reads %q", got)
	}
}

// testConflicts lets another transaction commit in the middle of one, and counts the runs.
func testConflicts(t *testing.T, s store.Store) {
	read := func(key string) func(store.RW) error {
		return func(rw store.RW) error {
			if _, err := rw.Get([]byte(key)); !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return nil
		}
	}
	scan := func(prefix, from string, o store.ScanOptions) func(store.RW) error {
		return func(rw store.RW) error { _, err := list(rw, []byte(prefix), []byte(from), o); return err }
	}
	write := func(key string) func() error {
		return func() error {
			return s.Update(t.Context(), func(rw store.RW) error { return rw.Put([]byte(key), []byte("other"), 0) })
		}
	}
	tests := []struct {
		name  string
		fn    func(store.RW) error
		other func() error
		runs  int
	}{
		{"read key", read("a"), write("a"), 2},
		{"absent key", read("none"), write("none"), 2},
		{"another key", read("a"), write("b"), 1},
		{"blind write", func(store.RW) error { return nil }, write("mine"), 1},
		{"new key in a range", scan("k/", "k/", store.ScanOptions{}), write("k/15"), 2},
		{"new key before the start", scan("k/", "k/2", store.ScanOptions{}), write("k/14"), 1},
		{"new key beyond the end of the walk", scan("k/", "k/", store.ScanOptions{Limit: 2}), write("k/21"), 1},
		{"new key in the walked part", scan("k/", "k/", store.ScanOptions{Limit: 2}), write("k/13"), 2},
		{"backwards, in the walked part", scan("k/", "k/9", store.ScanOptions{Reverse: true, Limit: 2}), write("k/29"), 2},
		{"backwards, beyond", scan("k/", "k/9", store.ScanOptions{Reverse: true, Limit: 2}), write("k/05"), 1},
		{"empty range", scan("z/", "z/", store.ScanOptions{}), write("z/1"), 2},
		{"deleted key", read("k/1"), func() error {
			return s.Update(t.Context(), func(rw store.RW) error { return rw.Delete([]byte("k/1")) })
		}, 2},
		{"appended row", scan("r/", "r/", store.ScanOptions{}), func() error { return s.Append(t.Context(), store.Row{Key: []byte("r/1")}) }, 2},
	}
	for _, test := range tests {
		set(t, s, "a", "", "k/1", "", "k/2", "", "k/3", "")
		runs := 0
		update(t, s, func(rw store.RW) error {
			if err := test.fn(rw); err != nil {
				return err
			}
			if runs++; runs == 1 {
				if err := test.other(); err != nil {
					return err
				}
			}
			return rw.Put([]byte("mine"), []byte("mine"), 0)
		})
		if runs != test.runs || get(t, s, "mine") != "mine" {
			t.Errorf("%s: %d runs, want %d; then %q", test.name, runs, test.runs, get(t, s, "mine"))
		}
		update(t, s, func(rw store.RW) error {
			return rw.Scan(nil, nil, store.ScanOptions{KeysOnly: true}, func(k, _ []byte) (bool, error) { return true, rw.Delete(k) })
		})
	}
}

func testConflictsForEver(t *testing.T, s store.Store) {
	err := s.Update(t.Context(), func(rw store.RW) error {
		if _, err := rw.Get([]byte("a")); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		set(t, s, "a", "other")
		return rw.Put([]byte("a"), []byte("mine"), 0)
	})
	if !errors.Is(err, store.ErrConflict) || get(t, s, "a") != "other" {
		t.Errorf("got %v and %q", err, get(t, s, "a"))
	}
}

// together runs fn n times at once and returns the first error.
func together(n int, fn func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = fn(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// testCounter loses no increment among many writers.
func testCounter(t *testing.T, s store.Store) {
	const writers, rounds = 8, 25
	err := together(writers, func(int) error {
		for range rounds {
			err := s.Update(t.Context(), func(rw store.RW) error {
				n := 0
				v, err := rw.Get([]byte("n"))
				if err == nil {
					n, err = strconv.Atoi(string(v))
				} else if errors.Is(err, store.ErrNotFound) {
					err = nil
				}
				return errors.Join(err, rw.Put([]byte("n"), []byte(strconv.Itoa(n+1)), 0))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if got := get(t, s, "n"); err != nil || got != strconv.Itoa(writers*rounds) {
		t.Errorf("got %s, %v", got, err)
	}
}

// testQuota: each writer counts a range and adds a key while there are fewer than three. Detection of conflicts by single
// keys would let them all in.
func testQuota(t *testing.T, s store.Store) {
	const writers, quota = 16, 3
	err := together(writers, func(i int) error {
		return s.Update(t.Context(), func(rw store.RW) error {
			got, err := list(rw, []byte("q/"), nil, store.ScanOptions{KeysOnly: true})
			if err != nil || len(got) >= quota {
				return err
			}
			return rw.Put([]byte("q/"+strconv.Itoa(i)), nil, 0)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	view(t, s, func(r store.R) error {
		got, err := list(r, []byte("q/"), nil, store.ScanOptions{KeysOnly: true})
		if len(got) != quota {
			t.Errorf("%q are over the quota of %d", got, quota)
		}
		return err
	})
}
