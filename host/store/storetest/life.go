package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/gantry-packs/gantry/host/store"
)

func testLimits(t *testing.T, s store.Store) {
	for what, o := range map[string]struct{ key, value []byte }{
		"an empty key":   {},
		"a long key":     {key: make([]byte, store.MaxKey+1)},
		"a reserved key": {key: []byte("!badger!txn")},
		"a large value":  {key: []byte("k"), value: make([]byte, store.MaxValue+1)},
	} {
		if err := s.Update(t.Context(), func(rw store.RW) error { return rw.Put(o.key, o.value, 0) }); err == nil {
			t.Errorf("Put takes %s", what)
		}
		if err := s.Append(t.Context(), store.Row{Key: o.key, Value: o.value}); err == nil {
			t.Errorf("Append takes %s", what)
		}
	}
	many := s.Update(t.Context(), func(rw store.RW) error {
		for i := range store.MaxUpdateKeys + 1 {
			if err := rw.Put([]byte(strconv.Itoa(i)), nil, 0); err != nil {
				return err
			}
		}
		return nil
	})
	heavy := s.Update(t.Context(), func(rw store.RW) error {
		for i := range 1 + store.MaxUpdateBytes/(32<<10) {
			if err := rw.Put([]byte(strconv.Itoa(i)), make([]byte, 32<<10), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(many, store.ErrTooBig) || !errors.Is(heavy, store.ErrTooBig) || get(t, s, "0") != "-" {
		t.Errorf("too many keys: %v; too many bytes: %v; left behind: %q", many, heavy, get(t, s, "0"))
	}
	update(t, s, func(rw store.RW) error {
		for i := range store.MaxUpdateKeys {
			if err := rw.Put([]byte(strconv.Itoa(i)), []byte("x"), 0); err != nil {
				return err
			}
		}
		return rw.Put([]byte("7"), []byte("again"), 0)
	})
	if got := get(t, s, "7"); got != "again" {
		t.Errorf("a full transaction: %q", got)
	}
}

func testLargeValues(t *testing.T, s store.Store) {
	for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, store.MaxValue} {
		value := bytes.Repeat([]byte{byte(size), 1, 2, 3, 4, 5, 6}, size/7+1)[:size]
		update(t, s, func(rw store.RW) error { return rw.Put([]byte("v"), value, 0) })
		update(t, s, func(rw store.RW) error {
			v, err := rw.Get([]byte("v"))
			if !bytes.Equal(v, value) {
				t.Errorf("Get of %d bytes gives %d others", size, len(v))
			}
			return errors.Join(err, rw.Scan([]byte("v"), nil, store.ScanOptions{}, func(_, v []byte) (bool, error) {
				if !bytes.Equal(v, value) {
					t.Errorf("Scan of %d bytes gives %d others", size, len(v))
				}
				return true, nil
			}))
		})
	}
}

// testBigAppend appends more than one transaction can hold.
func testBigAppend(t *testing.T, s store.Store) {
	rows := make([]store.Row, store.MaxUpdateKeys+500)
	for i := range rows {
		rows[i] = store.Row{Key: fmt.Appendf(nil, "r/%06d", i), Value: make([]byte, 300)}
	}
	if err := s.Append(t.Context(), rows...); err != nil {
		t.Fatal(err)
	}
	n := 0
	view(t, s, func(r store.R) error {
		return r.Scan([]byte("r/"), nil, store.ScanOptions{KeysOnly: true}, func(k, _ []byte) (bool, error) {
			if string(k) != fmt.Sprintf("r/%06d", n) {
				return false, fmt.Errorf("row %d is %q", n, k)
			}
			n++
			return true, nil
		})
	})
	if n != len(rows) {
		t.Errorf("%d of %d rows", n, len(rows))
	}
}

func testAppenders(t *testing.T, s store.Store) {
	const producers, rounds = 32, 20
	err := together(producers, func(p int) error {
		for i := range rounds {
			key := fmt.Sprintf("r/%d/%d", p, i)
			if err := s.Append(t.Context(), store.Row{Key: []byte(key), Value: []byte("v")}, store.Row{Key: []byte("i" + key)}); err != nil {
				return err
			}
			if got := get(t, s, key) + get(t, s, "i"+key); got != "v" {
				return fmt.Errorf("%s after its Append: %q", key, got)
			}
		}
		return s.Append(t.Context())
	})
	if err != nil {
		t.Error(err)
	}
}

func testCanceled(t *testing.T, s store.Store) {
	set(t, s, "a", "1", "b", "2")
	over := canceled(t)
	errs := map[string]error{
		"View":   s.View(over, func(store.R) error { t.Error("View runs"); return nil }),
		"Update": s.Update(over, func(store.RW) error { t.Error("Update runs"); return nil }),
		"Append": s.Append(over, store.Row{Key: []byte("c")}),
	}
	ctx, cancel := context.WithCancel(t.Context())
	errs["canceled Update"] = s.Update(ctx, func(rw store.RW) error {
		err := rw.Put([]byte("c"), nil, 0)
		cancel()
		return err
	})
	ctx, cancel = context.WithCancel(t.Context())
	seen := 0
	errs["canceled Scan"] = s.View(ctx, func(r store.R) error {
		return r.Scan(nil, nil, store.ScanOptions{}, func(_, _ []byte) (bool, error) { seen++; cancel(); return true, nil })
	})
	for what, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if seen != 1 || get(t, s, "c") != "-" {
		t.Errorf("%d keys seen, c is %q", seen, get(t, s, "c"))
	}
}

// testCanceledAppend cancels Appends under way: a row whose Append failed must be absent, any other must be there.
func testCanceledAppend(t *testing.T, s store.Store) {
	var failed, written atomic.Int64
	err := together(16, func(p int) error {
		for i := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			key, ended := fmt.Sprintf("r/%d/%d", p, i), make(chan struct{})
			go func() { cancel(); close(ended) }()
			err := s.Append(ctx, store.Row{Key: []byte(key), Value: []byte("v")})
			<-ended
			if got := get(t, s, key); (err == nil) != (got == "v") {
				return fmt.Errorf("%s: %v, but then %q", key, err, got)
			}
			if err == nil {
				written.Add(1)
			} else {
				failed.Add(1)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d written, %d canceled before they were queued", written.Load(), failed.Load())
}

func testSynced(t *testing.T, s store.Store) {
	err := together(16, func(i int) error {
		return s.Update(t.Context(), func(rw store.RW) error { return rw.Put(fmt.Appendf(nil, "s/%02d", i), nil, 0) }, store.Synced)
	})
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(store.RW) error { return nil }, store.Synced)
	view(t, s, func(r store.R) error {
		got, err := list(r, []byte("s/"), nil, store.ScanOptions{KeysOnly: true})
		if len(got) != 16 {
			t.Errorf("%q", got)
		}
		return err
	})
}

func testWatch(t *testing.T, s store.Store) {
	changed, stop := s.Watch([]byte("w/"))
	all, stopAll := s.Watch(nil)
	defer stopAll()
	ticked := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	set(t, s, "x/1", "")
	if ticked(changed) || !ticked(all) {
		t.Error("a change elsewhere")
	}
	set(t, s, "w/1", "")
	set(t, s, "w/2", "", "w/3", "")
	if !ticked(changed) || ticked(changed) || !ticked(all) {
		t.Error("two changes are one tick for each watch")
	}
	update(t, s, func(rw store.RW) error { return rw.Delete([]byte("w/1")) })
	if !ticked(changed) {
		t.Error("a removal is a change")
	}
	_ = s.Update(t.Context(), func(rw store.RW) error { return errors.Join(rw.Put([]byte("w/4"), nil, 0), errors.New("oops")) })
	if ticked(changed) {
		t.Error("a rollback is no change")
	}
	stop()
	stop()
	set(t, s, "w/1", "")
	if ticked(changed) {
		t.Error("a stopped watch ticks")
	}
}

func testClose(t *testing.T, s store.Store) {
	set(t, s, "a", "1")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, stop := s.Watch(nil)
	stop()
	for what, err := range map[string]error{
		"View":   s.View(t.Context(), func(store.R) error { return nil }),
		"Update": s.Update(t.Context(), func(store.RW) error { return nil }),
		"Append": s.Append(t.Context(), store.Row{Key: []byte("a")}),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// testCloseWaits closes in the middle of a View and an Update.
func testCloseWaits(t *testing.T, s store.Store) {
	var closed chan error
	err := s.Update(t.Context(), func(rw store.RW) error {
		return s.View(t.Context(), func(r store.R) error {
			closed = make(chan error, 1)
			go func() { closed <- s.Close() }()
			for s.View(t.Context(), func(store.R) error { return nil }) == nil {
			}
			_, err := list(r, nil, nil, store.ScanOptions{})
			return errors.Join(err, rw.Put([]byte("a"), nil, 0))
		})
	}, store.Synced)
	if err := errors.Join(err, <-closed); err != nil {
		t.Error(err)
	}
}
