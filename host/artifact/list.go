package artifact

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// How many entries one page has.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Filter chooses a page of entries. Cursor is the next of the page before; Limit 0 means DefaultLimit.
type Filter struct {
	Pack   string
	Limit  int
	Cursor string
}

// timeLen and positionLen are the lengths of a position in hex digits.
const (
	timeLen     = 16
	positionLen = timeLen + 64
)

// position orders entries newest first: what is left of time, then the hash of the key. It is the cursor as well.
func position(e Entry, hash string) string {
	return fmt.Sprintf("%016x", uint64(math.MaxInt64-e.CreatedAt.UnixNano())) + hash
}

// indexPrefix is where the positions of a list begin: everybody's or an owner's, of all packs or of one. Names are in hex,
// so that none can run into the next part.
func indexPrefix(owner, pack string, everybody bool) string {
	prefix := "all/"
	if !everybody {
		prefix = "own/" + hex.EncodeToString([]byte(owner)) + "/"
	}
	if pack != "" {
		return prefix + "pack/" + hex.EncodeToString([]byte(pack)) + "/"
	}
	return prefix + "any/"
}

// indexIDs are the four lists that an entry stands in.
func indexIDs(e Entry, hash string) []string {
	at := position(e, hash)
	return []string{
		indexPrefix(e.Owner, "", true) + at, indexPrefix(e.Owner, e.Pack, true) + at,
		indexPrefix(e.Owner, "", false) + at, indexPrefix(e.Owner, e.Pack, false) + at,
	}
}

// List returns the caller's entries, an admin's everybody's, newest first, and the cursor of the next page ("" at the end).
func (s *Store) List(ctx context.Context, c auth.Caller, f Filter) (entries []Entry, next string, err error) {
	if err := f.check(); err != nil {
		return nil, "", err
	}
	if f.Limit == 0 {
		f.Limit = DefaultLimit
	}
	prefix := indexPrefix(c.Subject, f.Pack, c.Admin())
	err = s.store.View(ctx, func(r store.R) error {
		entries, next = []Entry{}, ""
		return s.index.Scan(r, prefix+f.Cursor, store.ScanOptions{KeysOnly: true}, func(id string, _ struct{}) (bool, error) {
			at, ok := strings.CutPrefix(id, prefix)
			if !ok || len(at) != positionLen {
				return false, nil // past the end of this list
			}
			if at == f.Cursor {
				return true, nil
			}
			if len(entries) == f.Limit {
				last := entries[f.Limit-1]
				next = position(last, hashOf(last.Key))
				return false, nil
			}
			e, err := s.get(r, at[timeLen:])
			switch {
			case err == nil:
				entries = append(entries, e)
			case wire.As(err).Code != wire.ArtifactNotFound: // else it has expired, and its index key goes soon
				return false, err
			}
			return true, nil
		})
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing artifacts: %w", err)
	}
	return entries, next, nil
}

func (f Filter) check() error {
	if f.Limit < 0 || f.Limit > MaxLimit {
		return wire.Invalid("limit must be 1 to %d", MaxLimit)
	}
	if f.Cursor != "" && (len(f.Cursor) != positionLen || strings.Trim(f.Cursor, "0123456789abcdef") != "") {
		return wire.Invalid("the cursor is not one that a page gave; leave it out to start at the newest")
	}
	if f.Pack != "" {
		return checkPack(f.Pack)
	}
	return nil
}
