package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gantry-packs/gantry/host/store"
)

func testScanEdges(t *testing.T, s store.Store) {
	set(t, s, "a", "", "b", "", "b\x00", "", "b1", "", "b2", "", "b\xff", "", "b\xff\xff", "", "c", "", "\xff", "", "\xff\xff", "", "\xff\xffx", "")
	forward, back := store.ScanOptions{KeysOnly: true}, store.ScanOptions{KeysOnly: true, Reverse: true}
	tests := []struct {
		prefix, from string // from "-" is nil
		o            store.ScanOptions
		limit        int
		want         []string
	}{
		{"b", "-", forward, 0, []string{"b", "b\x00", "b1", "b2", "b\xff", "b\xff\xff"}},
		{"b", "-", back, 0, []string{"b\xff\xff", "b\xff", "b2", "b1", "b\x00", "b"}},
		{"b", "b1", forward, 2, []string{"b1", "b2"}},
		{"b", "b1", back, 2, []string{"b1", "b\x00"}},
		{"b", "b11", forward, 1, []string{"b2"}},
		{"b", "b11", back, 1, []string{"b1"}},
		{"b", "a", forward, 1, []string{"b"}},
		{"b", "a", back, 0, nil},
		{"b", "c", forward, 0, nil},
		{"b", "c", back, 1, []string{"b\xff\xff"}},
		{"b\xff", "-", forward, 0, []string{"b\xff", "b\xff\xff"}},
		{"b\xff", "-", back, 0, []string{"b\xff\xff", "b\xff"}},
		{"\xff", "-", forward, 0, []string{"\xff", "\xff\xff", "\xff\xffx"}},
		{"\xff\xff", "-", back, 0, []string{"\xff\xffx", "\xff\xff"}},
		{"\xff\xff\xff", "-", back, 0, nil},
		{"", "-", forward, 2, []string{"a", "b"}},
		{"", "-", back, 2, []string{"\xff\xffx", "\xff\xff"}},
		{"", "", forward, 1, []string{"a"}},
		{"", "", back, 0, nil},
		{"d", "-", forward, 0, nil},
		{"d", "-", back, 0, nil},
	}
	for _, test := range tests {
		var from []byte
		if test.from != "-" {
			from = []byte(test.from)
		}
		test.o.Limit = test.limit
		what := fmt.Sprintf("prefix %q from %q %+v", test.prefix, test.from, test.o)
		for kind, run := range map[string]func(func(store.R) error) error{
			"View": func(fn func(store.R) error) error { return s.View(t.Context(), fn) },
			"Update": func(fn func(store.R) error) error {
				return s.Update(t.Context(), func(rw store.RW) error { return fn(rw) })
			},
		} {
			err := run(func(r store.R) error {
				got, err := list(r, []byte(test.prefix), from, test.o)
				sameList(t, kind+" "+what, got, test.want)
				return err
			})
			if err != nil {
				t.Errorf("%s %s: %v", kind, what, err)
			}
		}
	}
}

// testScanModel compares random transactions with a plain map, on keys of few letters so that they often collide.
func testScanModel(t *testing.T, s store.Store) {
	rnd := rand.New(rand.NewPCG(1, 2))
	model := map[string]string{}
	for range 200 {
		update(t, s, func(rw store.RW) error {
			for range rnd.IntN(6) {
				key := randomKey(rnd, 1)
				if rnd.IntN(3) == 0 {
					delete(model, string(key))
					if err := rw.Delete(key); err != nil {
						return err
					}
					continue
				}
				value := fmt.Sprint(rnd.IntN(100))
				model[string(key)] = value
				if err := rw.Put(key, []byte(value), 0); err != nil {
					return err
				}
			}
			return sameAsModel(rw, rnd, model)
		})
		view(t, s, func(r store.R) error { return sameAsModel(r, rnd, model) })
	}
}

func randomKey(rnd *rand.Rand, shortest int) []byte {
	const letters = "\x00ab\xff"
	key := make([]byte, shortest+rnd.IntN(3))
	for i := range key {
		key[i] = letters[rnd.IntN(len(letters))]
	}
	return key
}

// sameAsModel makes one random scan.
func sameAsModel(r store.R, rnd *rand.Rand, model map[string]string) error {
	prefix, from := randomKey(rnd, 0), randomKey(rnd, 0)
	if rnd.IntN(2) == 0 {
		from = nil
	}
	o := store.ScanOptions{Reverse: rnd.IntN(2) == 0, Limit: rnd.IntN(4)}
	var want []string
	for k, v := range model {
		c := bytes.Compare([]byte(k), from)
		if bytes.HasPrefix([]byte(k), prefix) && (from == nil || !o.Reverse && c >= 0 || o.Reverse && c <= 0) {
			want = append(want, k+"="+v)
		}
	}
	// "=" sorts after 0x00, so the order is the keys', not the entries'.
	slices.SortFunc(want, func(a, b string) int {
		return bytes.Compare([]byte(a[:lastEqual(a)]), []byte(b[:lastEqual(b)]))
	})
	if o.Reverse {
		slices.Reverse(want)
	}
	if o.Limit > 0 && len(want) > o.Limit {
		want = want[:o.Limit]
	}
	got, err := list(r, prefix, from, o)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("prefix %q from %q %+v: got %q, want %q", prefix, from, o, got, want)
	}
	return err
}

func lastEqual(entry string) int { return bytes.LastIndexByte([]byte(entry), '=') }

// testNestedScans scans and writes inside of a scan; the walk goes over what was there when it began.
func testNestedScans(t *testing.T, s store.Store) {
	set(t, s, "a/1", "", "a/2", "", "b/1", "", "b/2", "")
	oops := errors.New("oops")
	update(t, s, func(rw store.RW) error {
		var got []string
		err := rw.Scan([]byte("a/"), nil, store.ScanOptions{}, func(k, _ []byte) (bool, error) {
			outer := string(k)
			if err := rw.Put([]byte("a/3"), nil, 0); err != nil {
				return false, err
			}
			return true, rw.Scan([]byte("b/"), nil, store.ScanOptions{Reverse: true}, func(k, _ []byte) (bool, error) {
				got = append(got, outer+string(k))
				return true, rw.Delete(bytes.Clone(k))
			})
		})
		sameList(t, "nested", got, []string{"a/1b/2", "a/1b/1"})
		if err := rw.Scan(nil, nil, store.ScanOptions{}, func(_, _ []byte) (bool, error) { return true, oops }); !errors.Is(err, oops) {
			t.Errorf("the error of a scan's fn is lost: %v", err)
		}
		return err
	})
	view(t, s, func(r store.R) error {
		got, err := list(r, nil, nil, store.ScanOptions{KeysOnly: true})
		sameList(t, "afterwards", got, []string{"a/1", "a/2", "a/3"})
		return err
	})
}
