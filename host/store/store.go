// Package store keeps ordered keys with transactions. One database, one owner per [Bucket]: each package declares its own
// typed prefix and nobody else opens it. Two drivers stand behind [Store], badger for a data dir and memory for what must
// leave no trace, held to the same behaviour by storetest.
package store

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound is what Get answers for a key that is absent or has expired.
var ErrNotFound = errors.New("store: key not found")

// Store is an ordered key-value store with serialisable transactions.
type Store interface {
	// View runs fn on a consistent snapshot.
	View(ctx context.Context, fn func(R) error) error
	// Update runs fn in a serialisable transaction; fn may run again after a conflict, so it must not have side effects.
	// The change survives kill -9 when Update returns; with the option Synced it is on the disk.
	Update(ctx context.Context, fn func(RW) error, opts ...Option) error
	// Append writes rows that nobody else writes, many callers' rows to one commit. They survive kill -9 when Append
	// returns and are on the disk within 50 ms.
	Append(ctx context.Context, rows ...Row) error
	// Watch tells of changes below prefix made by Update; the channel holds at most one pending tick. stop ends it.
	Watch(prefix []byte) (changed <-chan struct{}, stop func())
	// Close flushes and closes; every later call fails.
	Close() error
}

// R reads in a transaction.
type R interface {
	// Get returns a copy of the value, or ErrNotFound.
	Get(key []byte) ([]byte, error)
	// Scan walks the keys that begin with prefix, starting at from (nil: at the edge), backwards if reverse, until fn
	// returns false or limit keys were seen (0: no limit). k and v are valid only inside fn; v is nil for a KeysOnly scan.
	Scan(prefix, from []byte, s ScanOptions, fn func(k, v []byte) (more bool, err error)) error
}

// RW reads and writes in a transaction.
type RW interface {
	R
	// Put writes a value; a ttl of 0 keeps it for ever.
	Put(key, value []byte, ttl time.Duration) error
	// Delete removes a key; an absent one is no error.
	Delete(key []byte) error
}

// ScanOptions shape a Scan.
type ScanOptions struct {
	Reverse  bool
	Limit    int
	KeysOnly bool
}

// Row is one key of an Append; a TTL of 0 keeps it for ever.
type Row struct {
	Key, Value []byte
	TTL        time.Duration
}

// Option changes how an Update commits.
type Option int

// Synced makes Update return only when the change is on the disk.
const Synced Option = 1
