package store

import (
	"bytes"
	"fmt"
	"testing"
)

func none() {}

// TestHistoryIsBounded holds a transaction open through more commits than are remembered: it must run again, since nobody
// can tell any more, and a new one must not.
func TestHistoryIsBounded(t *testing.T) {
	h := history{active: map[*reads]uint64{}}
	old := h.begin()
	for i := range maxHistory + 10 {
		h.commit(nil, opOf(fmt.Sprint(i)), none)
	}
	if h.keys != maxHistory || len(h.commits) != maxHistory {
		t.Errorf("%d keys of %d commits are kept", h.keys, len(h.commits))
	}
	if h.commit(old, opOf("x"), func() { t.Error("sent") }) {
		t.Error("a transaction commits over a history that is forgotten")
	}
	fresh := h.begin()
	h.end(old)
	if len(h.commits) != 0 || h.keys != 0 {
		t.Errorf("%d commits are kept for nobody", len(h.commits))
	}
	if !h.commit(fresh, opOf("x"), none) {
		t.Error("a fresh transaction conflicts")
	}
	h.end(fresh)
	h.commit(nil, opOf("y"), none)
	if len(h.commits) != 0 {
		t.Error("a commit is kept while no transaction runs")
	}
}

func FuzzSpan(f *testing.F) {
	f.Add([]byte("b"), []byte("b1"), true, []byte("b2"))
	f.Add([]byte("\xff\xff"), []byte(nil), false, []byte("\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, prefix, from []byte, reverse bool, key []byte) {
		if len(from) == 0 {
			from = nil
		}
		c := bytes.Compare(key, from)
		want := bytes.HasPrefix(key, prefix) && (from == nil || !reverse && c >= 0 || reverse && c <= 0)
		s := spanOf(prefix, from, reverse)
		if got := !s.empty() && s.holds(key); got != want {
			t.Errorf("prefix %q from %q reverse %t key %q: %t", prefix, from, reverse, key, got)
		}
	})
}
