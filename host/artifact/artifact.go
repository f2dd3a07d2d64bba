// Package artifact keeps what packs make: bytes in a folder or an S3 bucket, their entries in the store, and signed URLs that
// anybody may follow for 15 minutes. Bytes are in their place before their entry is, and an entry goes before its bytes do, so
// an entry never lies; bytes that a crash left without an entry are swept.
package artifact

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/auth/keyfile"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// MaxSize is the most bytes that one artifact may have.
const MaxSize = 64 << 20

// URLTTL is how long a signed URL is good for.
const URLTTL = 15 * time.Minute

// Config is what the store needs.
type Config struct {
	Store     store.Store
	Dir       string        // the artifacts' own folder, made when absent: of the URL key and, without Blobs, the bytes
	Blobs     Blobs         // where the bytes go; nil: into Dir
	BaseURL   func() string // of the links, asked for each link
	Retention time.Duration // 0 keeps artifacts for ever
	Now       func() time.Time
}

// Entry says everything about an artifact but its bytes.
type Entry struct {
	Key         string    `json:"key"` // <pack>/<random>-<slug>.<ext>
	Pack        string    `json:"pack"`
	Owner       string    `json:"owner"` // subject that made it
	ContentType string    `json:"content_type"`
	Size        int64     `json:"size"`   // bytes
	SHA256      string    `json:"sha256"` // hex
	CreatedAt   time.Time `json:"created_at"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"` // zero: never
}

// ETag is the entity tag of the bytes, quoted as HTTP wants it.
func (e Entry) ETag() string { return `"` + e.SHA256 + `"` }

func (e Entry) expired(now time.Time) bool { return !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt) }

// Store keeps artifacts. It is safe for concurrent use.
type Store struct {
	store     store.Store
	records   store.Bucket[Entry]    // by hash of the key
	index     store.Bucket[struct{}] // see list.go
	blobs     Blobs
	signer    signer
	baseURL   func() string
	retention time.Duration
	now       func() time.Time
	newID     func() string

	busy sync.Map // names of files that a Put is still working on
	stop context.CancelFunc
	done sync.WaitGroup
}

// Open makes the folder and the URL key when they are absent, and sweeps leftovers in the background, now and every hour,
// until Close.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the artifact folder: %w", err)
	}
	if c.Blobs == nil {
		f, err := openFolder(c.Dir)
		if err != nil {
			return nil, fmt.Errorf("opening the artifact folder: %w", err)
		}
		c.Blobs = f
	}
	key, err := keyfile.Ensure(filepath.Join(c.Dir, urlKeyName))
	if err != nil {
		return nil, err
	}
	s := &Store{
		store: c.Store, records: store.NewBucket[Entry]("artifact/entry"), index: store.NewBucket[struct{}]("artifact/index"),
		blobs: c.Blobs, signer: signer{key: key}, baseURL: c.BaseURL, retention: c.Retention, now: c.Now, newID: newID,
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.done.Go(func() { s.sweepHourly(ctx) })
	return s, nil
}

// Close ends the sweeping. The store below is left open.
func (s *Store) Close() {
	s.stop()
	s.done.Wait()
}

// Public is the entry as callers see it, with a fresh signed URL.
func (s *Store) Public(e Entry) wire.Artifact {
	query := s.signer.query(e.Key, s.now().Add(URLTTL))
	return wire.Artifact{
		Key: e.Key, URL: strings.TrimSuffix(s.baseURL(), "/") + urlPath(e.Key) + "?" + query, Size: e.Size,
		ContentType: e.ContentType, CreatedAt: e.CreatedAt.UTC().Format(time.RFC3339), Pack: e.Pack,
	}
}

func notFound() error {
	return wire.Errorf(wire.ArtifactNotFound, "no such artifact, or it has expired; list the artifacts to see the keys there are")
}

// owned turns what the caller may not see into what isn't there.
func owned(c auth.Caller, e Entry, err error) (Entry, error) {
	if err == nil && !c.Owns(e.Owner) {
		return Entry{}, notFound()
	}
	return e, err
}
