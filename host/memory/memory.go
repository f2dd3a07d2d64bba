// Package memory keeps what a caller asked to have remembered: values by category and key, and plans. Everything belongs
// to one subject and no other subject can see it.
package memory

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of one subject's memory. MaxName, MaxValue and MaxBytes (all entries together) are bytes.
const (
	MaxName    = 128
	MaxValue   = 64 << 10
	MaxEntries = 10_000
	MaxBytes   = 16 << 20
	MaxTTL     = 10 * 365 * 24 * time.Hour
)

// deleteBatch is how many entries one transaction forgets, which keeps it far below the store's limits.
const deleteBatch = 500

// Memory is the service. It is safe for concurrent use.
type Memory struct {
	store   store.Store
	entries store.Bucket[entry]
	usages  store.Bucket[usage] // by subject
	plans   store.Bucket[SavedPlan]
	planned store.Bucket[[]string] // by subject: its plans' hashes, newest first
	now     func() time.Time
}

// entry is a stored value. Expires is zero for one that is kept for ever.
type entry struct {
	Category string          `json:"category"`
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	Stored   time.Time       `json:"stored"`
	Expires  time.Time       `json:"expires,omitzero"`
	Size     int             `json:"size"` // bytes that it counts for
}

// Open returns the memory that s holds.
func Open(s store.Store, now func() time.Time) *Memory {
	return &Memory{
		store: s, now: now,
		entries: store.NewBucket[entry]("memory/entry"), usages: store.NewBucket[usage]("memory/usage"),
		plans: store.NewBucket[SavedPlan]("memory/plan"), planned: store.NewBucket[[]string]("memory/planned"),
	}
}

// Put remembers a value, in place of the one under the same category and key. It is on the disk when Put returns.
func (m *Memory) Put(ctx context.Context, subject string, p wire.MemoryPut) (wire.Memory, error) {
	if err := checkPut(p); err != nil {
		return wire.Memory{}, err
	}
	e := entry{Category: p.Category, Key: p.Key, Value: p.Value, Stored: m.now().UTC(),
		Size: len(p.Category) + len(p.Key) + len(p.Value)}
	var ttl time.Duration
	if p.TTLSeconds > 0 {
		ttl = time.Duration(p.TTLSeconds) * time.Second
		e.Expires = e.Stored.Add(ttl)
	}
	id := entryID(subject, p.Category, p.Key)
	err := m.store.Update(ctx, func(rw store.RW) error {
		if err := m.reserve(rw, subject, id, e.Size); err != nil {
			return err
		}
		return m.entries.Put(rw, id, e, ttl)
	}, store.Synced)
	if err != nil {
		return wire.Memory{}, fmt.Errorf("remembering a value: %w", err)
	}
	return e.public(), nil
}

// Get returns what is remembered under category and key, or nil.
func (m *Memory) Get(ctx context.Context, subject, category, key string) (*wire.Memory, error) {
	if err := errors.Join(checkName("category", category), checkName("key", key)); err != nil {
		return nil, err
	}
	var e entry
	err := m.store.View(ctx, func(r store.R) (err error) {
		e, err = m.entries.Get(r, entryID(subject, category, key))
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && e.expired(m.now()) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("recalling a value: %w", err)
	}
	out := e.public()
	return &out, nil
}

// Delete forgets one key, or with an empty Key the whole category, and says how many entries that were.
func (m *Memory) Delete(ctx context.Context, subject string, k wire.MemoryKey) (int, error) {
	err := checkName("category", k.Category)
	if k.Key != "" {
		err = errors.Join(err, checkName("key", k.Key))
	}
	if err != nil {
		return 0, err
	}
	prefix := prefixOf(subject, k.Category)
	if k.Key != "" {
		prefix = entryID(subject, k.Category, k.Key)
	}
	deleted, more := 0, true
	for more {
		var n int
		err := m.store.Update(ctx, func(rw store.RW) (err error) {
			n, more, err = m.forget(rw, subject, prefix)
			return err
		}, store.Synced)
		if err != nil {
			return 0, fmt.Errorf("forgetting values: %w", err)
		}
		deleted += n
	}
	return deleted, nil
}

// forget deletes up to deleteBatch entries whose ids begin with prefix; more says that there may be others.
func (m *Memory) forget(rw store.RW, subject, prefix string) (deleted int, more bool, err error) {
	var ids []string
	var freed usage
	err = m.scan(rw, prefix, deleteBatch, func(id string, e entry) {
		ids = append(ids, id)
		freed = freed.add(1, e.Size)
		if !e.expired(m.now()) {
			deleted++
		}
	})
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	for _, id := range ids {
		if err := m.entries.Delete(rw, id); err != nil {
			return 0, false, err
		}
	}
	u, err := m.usage(rw, subject)
	if err != nil {
		return 0, false, err
	}
	u = u.add(-freed.Entries, -freed.Bytes)
	return deleted, len(ids) == deleteBatch, m.usages.Put(rw, subjectID(subject), u, 0)
}

// List returns the entries of a category, of all when it is empty, sorted by category and key.
func (m *Memory) List(ctx context.Context, subject, category string) ([]wire.Memory, error) {
	prefix := prefixOf(subject)
	if category != "" {
		if err := checkName("category", category); err != nil {
			return nil, err
		}
		prefix = prefixOf(subject, category)
	}
	var out []wire.Memory
	now := m.now()
	err := m.store.View(ctx, func(r store.R) error {
		out = []wire.Memory{}
		return m.scan(r, prefix, 0, func(_ string, e entry) {
			if !e.expired(now) {
				out = append(out, e.public())
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing what is remembered: %w", err)
	}
	return out, nil
}

func (e entry) expired(now time.Time) bool { return !e.Expires.IsZero() && !now.Before(e.Expires) }

func (e entry) public() wire.Memory {
	out := wire.Memory{Category: e.Category, Key: e.Key, Value: e.Value, StoredAt: e.Stored.Format(time.RFC3339)}
	if !e.Expires.IsZero() {
		out.ExpiresAt = e.Expires.Format(time.RFC3339)
	}
	return out
}

func checkPut(p wire.MemoryPut) error {
	switch err := errors.Join(checkName("category", p.Category), checkName("key", p.Key)); {
	case err != nil:
		return err
	case len(p.Value) > MaxValue:
		return wire.Invalid("value has %d bytes, at most %d are remembered; store it as an artifact and remember its key", len(p.Value), MaxValue)
	case !validJSON(p.Value):
		return wire.Invalid("value must be JSON in UTF-8")
	case p.TTLSeconds < 0 || p.TTLSeconds > int64(MaxTTL/time.Second):
		return wire.Invalid("ttl_seconds must be 0 (for ever) or 1 to %d", MaxTTL/time.Second)
	}
	return nil
}

func checkName(field, v string) error {
	if v == "" || len(v) > MaxName || !utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return wire.Invalid("%s must be 1 to %d bytes of printable text", field, MaxName)
	}
	return nil
}

func validJSON(raw json.RawMessage) bool { return utf8.Valid(raw) && json.Valid(raw) }

// Ids are made of hex parts, each ended by a slash: no name can run into the next part, and their order is the names'.
func prefixOf(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(hex.EncodeToString([]byte(p)))
		b.WriteByte('/')
	}
	return b.String()
}

func subjectID(subject string) string              { return prefixOf(subject) }
func entryID(subject, category, key string) string { return prefixOf(subject, category, key) }
