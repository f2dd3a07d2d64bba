package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Stat returns the entry of a key that the caller may see, else artifact_not_found.
func (s *Store) Stat(ctx context.Context, c auth.Caller, key string) (Entry, error) {
	e, err := s.stat(ctx, key)
	return owned(c, e, err)
}

// Open returns the entry and the bytes of a key that the caller may see, else artifact_not_found. The bytes stay readable
// until they are closed or ctx ends; in a folder even when the artifact is deleted meanwhile.
func (s *Store) Open(ctx context.Context, c auth.Caller, key string) (Entry, io.ReadSeekCloser, error) {
	e, err := s.Stat(ctx, c, key)
	if err != nil {
		return Entry{}, nil, err
	}
	return s.open(ctx, e)
}

// OpenSigned is Open for whoever has a signed URL: exp and sig are its query values. A wrong or expired signature is
// forbidden, whether or not there is such an artifact.
func (s *Store) OpenSigned(ctx context.Context, key, exp, sig string) (Entry, io.ReadSeekCloser, error) {
	if err := s.signer.check(key, exp, sig, s.now()); err != nil {
		return Entry{}, nil, err
	}
	e, err := s.stat(ctx, key)
	if err != nil {
		return Entry{}, nil, err
	}
	return s.open(ctx, e)
}

// Delete removes an artifact that the caller may see, else artifact_not_found. Bytes that the storage keeps back are swept
// later; nobody can reach them once the entry is gone.
func (s *Store) Delete(ctx context.Context, c auth.Caller, key string) error {
	hash := hashOf(key)
	err := s.store.Update(ctx, func(rw store.RW) error {
		e, err := s.get(rw, hash)
		if e, err = owned(c, e, err); err != nil {
			return err
		}
		for _, id := range indexIDs(e, hash) {
			if err := s.index.Delete(rw, id); err != nil {
				return err
			}
		}
		return s.records.Delete(rw, hash)
	}, store.Synced)
	if err != nil {
		return fmt.Errorf("deleting an artifact: %w", err)
	}
	_ = s.remove(ctx, hash)
	return nil
}

func (s *Store) stat(ctx context.Context, key string) (e Entry, err error) {
	err = s.store.View(ctx, func(r store.R) (err error) {
		e, err = s.get(r, hashOf(key))
		return err
	})
	if err != nil {
		return Entry{}, fmt.Errorf("looking up an artifact: %w", err)
	}
	return e, nil
}

// get reads a record that has not expired, else artifact_not_found.
func (s *Store) get(r store.R, hash string) (Entry, error) {
	e, err := s.records.Get(r, hash)
	if errors.Is(err, store.ErrNotFound) || err == nil && e.expired(s.now()) {
		return Entry{}, notFound()
	}
	return e, err
}

func (s *Store) open(ctx context.Context, e Entry) (Entry, io.ReadSeekCloser, error) {
	f, err := s.blobs.Open(ctx, hashOf(e.Key))
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, nil, notFound() // deleted since the entry was read
	}
	if err != nil {
		return Entry{}, nil, unreadable(err)
	}
	return e, f, nil
}

// unreadable keeps errors that already tell the caller something, and says of the others only that the bytes can't be had.
func unreadable(err error) error {
	var e *wire.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return wire.Errorf(wire.ArtifactFailed, "the artifact's bytes cannot be read; try again").Because(err)
}
