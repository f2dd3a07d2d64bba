package memory

import (
	"errors"
	"strings"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// usage is how much a subject has at most: entries that expired are counted until [Memory.reserve] counts anew.
type usage struct {
	Entries int `json:"entries"`
	Bytes   int `json:"bytes"`
}

func (u usage) add(entries, bytes int) usage {
	return usage{Entries: max(u.Entries+entries, 0), Bytes: max(u.Bytes+bytes, 0)}
}

func (u usage) over() bool { return u.Entries > MaxEntries || u.Bytes > MaxBytes }

// reserve counts an entry of size bytes under id, in place of the one that is there, or fails with invalid_input when the
// subject's memory is full.
func (m *Memory) reserve(rw store.RW, subject, id string, size int) error {
	u, err := m.usage(rw, subject)
	if err != nil {
		return err
	}
	old, err := m.entries.Get(rw, id)
	switch {
	case err == nil:
		u = u.add(-1, -old.Size)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	u = u.add(1, size)
	if u.over() { // some may have expired since they were counted
		u = usage{}.add(1, size)
		err := m.scan(rw, prefixOf(subject), 0, func(other string, e entry) {
			if other != id {
				u = u.add(1, e.Size)
			}
		})
		if err != nil {
			return err
		}
	}
	if u.over() {
		return wire.Invalid("the memory is full, its limit is %d values or %d MiB together; forget some first", MaxEntries, MaxBytes>>20)
	}
	return m.usages.Put(rw, subjectID(subject), u, 0)
}

func (m *Memory) usage(r store.R, subject string) (usage, error) {
	u, err := m.usages.Get(r, subjectID(subject))
	if errors.Is(err, store.ErrNotFound) {
		return usage{}, nil
	}
	return u, err
}

// scan walks the entries whose ids begin with prefix, at most limit (0: all).
func (m *Memory) scan(r store.R, prefix string, limit int, fn func(id string, e entry)) error {
	return m.entries.Scan(r, prefix, store.ScanOptions{Limit: limit}, func(id string, e entry) (bool, error) {
		if !strings.HasPrefix(id, prefix) {
			return false, nil
		}
		fn(id, e)
		return true, nil
	})
}
