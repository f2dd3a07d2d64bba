package audit

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Limits of one List.
const (
	defaultLimit = 100
	maxLimit     = 1000
	maxScan      = 100_000 // index keys looked at; a page that ends here may be short, its cursor goes on
	probe        = 64      // keys of each index looked at to find the sparsest
)

// Filter narrows a List; a field's zero value lets everything through. From is the first moment of writing that counts,
// To the first that doesn't.
type Filter struct {
	From, To              time.Time
	Pack, Subject, Status string
	Limit                 int    // 1 to 1000; 0: 100
	Cursor                string // as an earlier List with the same filter returned it
}

// List returns a page of rows, newest first, and the cursor of the next one, empty after the last. A page may hold fewer
// rows than the limit and still have a next one. A bad limit, cursor or span of time is invalid_input.
func (l *Log) List(ctx context.Context, f Filter) (rows []Row, next string, err error) {
	f.Pack, f.Subject, f.Status = clip(f.Pack), clip(f.Subject), clip(f.Status)
	p := &page{filter: f, prints: printsOf(f), maxScan: l.maxScan}
	if err := p.bounds(); err != nil {
		return nil, "", err
	}
	err = l.store.View(ctx, func(r store.R) error {
		p.r = r
		facet, some, err := p.sparsest()
		if err != nil {
			return err
		}
		if some {
			return p.scanIndex(facet)
		}
		return p.scanRows()
	})
	if err != nil {
		return nil, "", fmt.Errorf("audit: listing rows: %w", err)
	}
	return p.rows, p.next, nil
}

// page is one List under way.
type page struct {
	filter  Filter
	prints  prints
	r       store.R
	lo, hi  uuid.UUID // ids from lo to hi, hi not included
	maxScan int
	scanned int       // index keys so far
	last    uuid.UUID // the newest of them
	rows    []Row
	next    string
}

// bounds checks the filter and turns its times and cursor into ids.
func (p *page) bounds() error {
	f := &p.filter
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return wire.Invalid("limit is %d: give a number from 1 to %d", f.Limit, maxLimit)
	}
	if !f.From.IsZero() && !f.To.IsZero() && f.From.After(f.To) {
		return wire.Invalid("from is later than to: swap them")
	}
	p.lo, p.hi = uuid.Nil, uuid.Max
	if !f.From.IsZero() {
		p.lo = bound(clampTicks(f.From))
	}
	if !f.To.IsZero() {
		p.hi = bound(clampTicks(f.To))
	}
	if f.Cursor == "" {
		return nil
	}
	id, err := parseCursor(f.Cursor)
	if err != nil {
		return err
	}
	if bytes.Compare(id[:], p.hi[:]) < 0 {
		p.hi = id
	}
	return nil
}

// A cursor is the id of the last row seen.
func cursorOf(id uuid.UUID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func parseCursor(text string) (uuid.UUID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != idSize || uuid.UUID(raw).Version() != 7 || cursorOf(uuid.UUID(raw)) != text {
		return uuid.UUID{}, wire.Invalid("cursor is not one that this list gave: leave it out to begin with the newest row")
	}
	return uuid.UUID(raw), nil
}

// walk goes through the ids below prefix within the bounds, newest first.
func (p *page) walk(prefix []byte, o store.ScanOptions, fn func(id uuid.UUID, k, v []byte) (bool, error)) error {
	o.Reverse = true
	// An index key is longer than this start, so the row hi itself is left out there; among the row keys it is skipped.
	start := append(bytes.Clone(prefix), p.hi[:]...)
	return p.r.Scan(prefix, start, o, func(k, v []byte) (bool, error) {
		id := uuid.UUID(k[len(prefix) : len(prefix)+idSize])
		if bytes.Compare(id[:], p.hi[:]) >= 0 {
			return true, nil
		}
		if bytes.Compare(id[:], p.lo[:]) < 0 {
			return false, nil
		}
		return fn(id, k, v)
	})
}

// sparsest is the facet of the filter whose index holds the fewest rows, judged by its newest ones: it has few, or they
// reach far back. some is false for a filter without facets.
func (p *page) sparsest() (best facet, some bool, err error) {
	var fewest int
	var oldest uuid.UUID
	values := p.filter.facets()
	for f, v := range values {
		if v == "" {
			continue
		}
		n, last := 0, uuid.Nil
		err := p.walk(facet(f).under(v), store.ScanOptions{KeysOnly: true, Limit: probe}, func(id uuid.UUID, _, _ []byte) (bool, error) {
			n, last = n+1, id
			return true, nil
		})
		if err != nil {
			return 0, false, err
		}
		if !some || n < fewest || n == fewest && bytes.Compare(last[:], oldest[:]) < 0 {
			best, some, fewest, oldest = facet(f), true, n, last
		}
	}
	return best, some, nil
}

// scanIndex fills the page from one facet's index.
func (p *page) scanIndex(f facet) error {
	prefix := f.under(p.filter.facets()[f])
	return p.walk(prefix, store.ScanOptions{KeysOnly: true}, func(id uuid.UUID, k, _ []byte) (bool, error) {
		if p.scanned == p.maxScan {
			p.next = cursorOf(p.last)
			return false, nil
		}
		p.scanned, p.last = p.scanned+1, id
		if !p.prints.fit(k[len(prefix)+idSize:]) {
			return true, nil
		}
		if p.full() {
			return false, nil
		}
		v, err := p.r.Get(rowKey(id))
		if errors.Is(err, store.ErrNotFound) {
			return true, nil // expired between its index key and itself
		}
		if err != nil {
			return false, err
		}
		return true, p.add(v)
	})
}

// scanRows fills the page from the rows themselves.
func (p *page) scanRows() error {
	return p.walk([]byte(rowPrefix), store.ScanOptions{}, func(_ uuid.UUID, _, v []byte) (bool, error) {
		if p.full() {
			return false, nil
		}
		return true, p.add(v)
	})
}

// full says whether the page has all its rows, now that there is one more, and sets its cursor.
func (p *page) full() bool {
	if len(p.rows) < p.filter.Limit {
		return false
	}
	p.next = cursorOf(uuid.MustParse(p.rows[len(p.rows)-1].ID))
	return true
}

// add takes a row into the page if it passes the filter: two values may share a hash.
func (p *page) add(value []byte) error {
	var row Row
	if err := json.Unmarshal(value, &row); err != nil {
		return fmt.Errorf("decoding a row: %w", err)
	}
	have := row.facets()
	for f, want := range p.filter.facets() {
		if want != "" && have[f] != want {
			return nil
		}
	}
	p.rows = append(p.rows, row)
	return nil
}
