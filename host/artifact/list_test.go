package artifact

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

func keysOf(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Key)
	}
	return out
}

// walk lists everything page by page.
func walk(t *testing.T, s *Store, c auth.Caller, f Filter) []string {
	t.Helper()
	var out []string
	for {
		page, next, err := s.List(t.Context(), c, f)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > f.Limit {
			t.Fatalf("a page of %d", len(page))
		}
		out = append(out, keysOf(page)...)
		if next == "" {
			return out
		}
		f.Cursor = next
	}
}

func TestList(t *testing.T) {
	w := newWorld(t)
	s := w.open(t)
	var all, anns, annsX, xs []string
	for i := range 12 {
		owner, pack := []string{"ann", "bob", "ann/x", ""}[i%3], []string{"x", "x.y"}[i%2]
		key := put(t, s, pack, owner, "f.txt", "").Key
		if i%4 != 0 {
			w.advance(time.Nanosecond) // every fourth shares its moment with the one before
		}
		all = append(all, key)
		if owner == "ann" {
			anns = append(anns, key)
			if pack == "x" {
				annsX = append(annsX, key)
			}
		}
		if pack == "x" {
			xs = append(xs, key)
		}
	}
	for _, c := range []struct {
		by   auth.Caller
		pack string
		want []string
	}{{root, "", all}, {root, "x", xs}, {ann, "", anns}, {ann, "x", annsX}, {ann, "none", nil}, {auth.Caller{Subject: "eve", Scopes: []string{"*"}}, "", nil}} {
		for _, limit := range []int{1, 2, 3, 12, 1000} {
			got := walk(t, s, c.by, Filter{Pack: c.pack, Limit: limit})
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(got, want) {
				t.Errorf("%s, pack %q, pages of %d: got %v, want %v", c.by.Subject, c.pack, limit, got, want)
			}
		}
	}
}

func TestListIsNewestFirst(t *testing.T) {
	w := newWorld(t)
	s := w.open(t)
	var want []string
	for range 5 {
		want = append([]string{put(t, s, "x", "ann", "f", "").Key}, want...)
		w.advance(time.Second)
	}
	if got := walk(t, s, ann, Filter{Limit: 2}); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	page, next, err := s.List(t.Context(), ann, Filter{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "x", "ann", "new", "") // neither a new one nor a deleted one shifts the next page
	if err := s.Delete(t.Context(), ann, page[1].Key); err != nil {
		t.Fatal(err)
	}
	page, _, err = s.List(t.Context(), ann, Filter{Limit: 2, Cursor: next})
	if err != nil || !slices.Equal(keysOf(page), want[2:4]) {
		t.Fatalf("got %v, %v", keysOf(page), err)
	}
}

func TestListRefuses(t *testing.T) {
	s := newWorld(t).open(t)
	for name, f := range map[string]Filter{
		"negative limit":  {Limit: -1},
		"huge limit":      {Limit: MaxLimit + 1},
		"words":           {Cursor: "next please"},
		"short":           {Cursor: strings.Repeat("0", positionLen-1)},
		"upper case":      {Cursor: strings.Repeat("F", positionLen)},
		"slashes":         {Cursor: strings.Repeat("/", positionLen)},
		"another's index": {Cursor: "../../626f62/any/" + strings.Repeat("0", positionLen-17)},
		"long":            {Cursor: strings.Repeat("0", 1<<20)},
		"pack":            {Pack: "../x"},
		"long pack":       {Pack: strings.Repeat("x", 1<<16)},
	} {
		if _, _, err := s.List(t.Context(), ann, f); wire.As(err) == nil || wire.As(err).Code != wire.InvalidInput {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, c := range []string{strings.Repeat("0", positionLen), strings.Repeat("f", positionLen)} {
		if list, next, err := s.List(t.Context(), ann, Filter{Cursor: c}); err != nil || len(list) != 0 || next != "" {
			t.Errorf("%s: got %v, %q, %v", c, list, next, err)
		}
	}
}
