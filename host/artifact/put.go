package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Put is an artifact to be stored.
type Put struct {
	Pack        string // first part of the key
	Owner       string // subject that may see it
	Name        string // becomes the key's slug; its extension stays
	ContentType string // empty: by the extension, else by the bytes
	Body        io.Reader
	Max         int64 // most bytes; 0 or more than MaxSize: MaxSize
}

// Put stores an artifact for good before it returns. A bad name or type, or a body over the limit, is invalid_input; what
// goes wrong with the disk, the bucket or the body is artifact_failed. Nothing is left behind then.
func (s *Store) Put(ctx context.Context, p Put) (Entry, error) {
	if err := errors.Join(checkPack(p.Pack), checkName(p.Name)); err != nil {
		return Entry{}, err
	}
	if p.Owner == "" {
		return Entry{}, errors.New("storing an artifact of nobody")
	}
	if p.Max <= 0 || p.Max > MaxSize {
		p.Max = MaxSize
	}
	head, err := io.ReadAll(io.LimitReader(bodyReader{ctx, p.Body}, sniffLen))
	if err != nil {
		return Entry{}, failed(err)
	}
	e, err := s.newEntry(p, head)
	if err != nil {
		return Entry{}, err
	}
	hash := hashOf(e.Key)
	s.busy.Store(hash, nil)
	defer s.busy.Delete(hash)
	body := io.MultiReader(bytes.NewReader(head), bodyReader{ctx, p.Body})
	if e.Size, e.SHA256, err = s.write(ctx, hash, e.ContentType, body, p.Max); err != nil {
		return Entry{}, failed(err)
	}
	if err := s.record(ctx, hash, e); err != nil {
		return Entry{}, errors.Join(failed(err), s.removeOrphan(ctx, hash))
	}
	return e, nil
}

func (s *Store) newEntry(p Put, head []byte) (Entry, error) {
	slug, ext := splitName(p.Name)
	contentType, err := contentTypeOf(p.ContentType, ext, head)
	if err != nil {
		return Entry{}, err
	}
	if ext == "" {
		ext = extensionOf(contentType)
	}
	e := Entry{Key: fmt.Sprintf("%s/%s-%s.%s", p.Pack, s.newID(), slug, ext), Pack: p.Pack, Owner: p.Owner,
		ContentType: contentType, CreatedAt: s.now().UTC()}
	if s.retention > 0 {
		e.ExpiresAt = e.CreatedAt.Add(s.retention)
	}
	return e, nil
}

// write streams the body to the driver, and measures it on its way.
func (s *Store) write(ctx context.Context, hash, contentType string, body io.Reader, limit int64) (size int64, sum string, err error) {
	m := &measure{body: body, hash: sha256.New(), limit: limit}
	if err := s.blobs.Put(ctx, hash, contentType, m); err != nil {
		return 0, "", err
	}
	return m.size, hex.EncodeToString(m.hash.Sum(nil)), nil
}

// measure counts and hashes what is read through it. Past the limit it gives nothing but an error: readers that want their
// buffer full drop one that comes with bytes.
type measure struct {
	body        io.Reader
	hash        hash.Hash
	size, limit int64 // bytes
}

func (m *measure) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	m.hash.Write(p[:n])
	if m.size += int64(n); m.size > m.limit {
		return 0, wire.Invalid("the artifact is larger than the limit of %d bytes; split it or make it smaller", m.limit)
	}
	return n, err
}

// record makes the artifact known, with its index keys.
func (s *Store) record(ctx context.Context, hash string, e Entry) error {
	return s.store.Update(ctx, func(rw store.RW) error {
		for _, id := range indexIDs(e, hash) {
			if err := s.index.Put(rw, id, struct{}{}, s.retention); err != nil {
				return err
			}
		}
		return s.records.Put(rw, hash, e, s.retention)
	}, store.Synced)
}

// bodyReader ends when its context does.
type bodyReader struct {
	ctx  context.Context
	body io.Reader
}

func (b bodyReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.body.Read(p)
}

// failed keeps errors that already tell the caller something and makes artifact_failed of the others.
func failed(err error) error {
	var e *wire.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return wire.Errorf(wire.ArtifactFailed, "the artifact could not be stored: its body broke off or the storage refused it; try again").Because(err)
}
