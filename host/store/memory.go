package store

import (
	"bytes"
	"log/slog"
	"slices"
	"sort"
	"sync"
	"time"
)

// memory keeps a database in a sorted list that is never changed: a commit makes a new one.
type memory struct {
	now func() time.Time

	mu   sync.Mutex
	head []op // in the order of the keys; none is a removal
}

// NewMemory opens an empty database that lives as long as the process.
func NewMemory() Store {
	return newDatabase(&memory{now: time.Now}, slog.New(slog.DiscardHandler))
}

func (m *memory) sync() error  { return nil }
func (m *memory) close() error { return nil }

func (m *memory) snapshot() snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return memorySnapshot{list: m.head, now: m.now}
}

func (m *memory) prepare(ops []op) (batch, error) {
	ops = slices.Clone(ops)
	// The last of several writes of one key wins, and the merge wants the order of the keys.
	slices.SortStableFunc(ops, func(a, b op) int { return bytes.Compare(a.key, b.key) })
	return memoryBatch{memory: m, ops: ops}, nil
}

type memoryBatch struct {
	*memory
	ops []op
}

func (b memoryBatch) wait() error { return nil }
func (b memoryBatch) discard()    {}

// send merges the writes into a new list and leaves out what has expired.
func (b memoryBatch) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now().Unix()
	list := make([]op, 0, len(b.head)+len(b.ops))
	keep := func(o op) {
		if !o.remove && !o.expired(now) {
			list = append(list, o)
		}
	}
	old := b.head
	for i, o := range b.ops {
		for len(old) > 0 && bytes.Compare(old[0].key, o.key) < 0 {
			keep(old[0])
			old = old[1:]
		}
		if len(old) > 0 && bytes.Equal(old[0].key, o.key) {
			old = old[1:]
		}
		if i+1 < len(b.ops) && bytes.Equal(b.ops[i+1].key, o.key) {
			continue
		}
		// Append's caller may use its slices again.
		o.key, o.value = bytes.Clone(o.key), append([]byte{}, o.value...)
		keep(o)
	}
	for _, o := range old {
		keep(o)
	}
	b.head = list
}

func (o op) expired(now int64) bool { return o.expires != 0 && o.expires <= now }

type memorySnapshot struct {
	list []op
	now  func() time.Time
}

func (s memorySnapshot) discard() {}

// find is the place of the first key that is not below key.
func (s memorySnapshot) find(key []byte) int {
	return sort.Search(len(s.list), func(i int) bool { return bytes.Compare(s.list[i].key, key) >= 0 })
}

func (s memorySnapshot) get(key []byte) ([]byte, error) {
	i := s.find(key)
	if i == len(s.list) || !bytes.Equal(s.list[i].key, key) || s.list[i].expired(s.now().Unix()) {
		return nil, ErrNotFound
	}
	return append([]byte{}, s.list[i].value...), nil
}

func (s memorySnapshot) scan(sp span, o ScanOptions, fn func(k []byte, value func() ([]byte, error)) (bool, error)) error {
	first, end := s.find(sp.lo), len(s.list)
	if sp.hi != nil {
		end = s.find(sp.hi)
	}
	now := s.now().Unix()
	for n := range end - first {
		i := first + n
		if o.Reverse {
			i = end - 1 - n
		}
		e := s.list[i]
		if e.expired(now) {
			continue
		}
		more, err := fn(e.key, func() ([]byte, error) { return e.value, nil })
		if err != nil || !more {
			return err
		}
	}
	return nil
}
