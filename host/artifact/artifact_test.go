package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

var (
	ann  = auth.Caller{Subject: "ann", Scopes: []string{"packs:*"}}
	bob  = auth.Caller{Subject: "bob", Scopes: []string{"*"}}
	root = auth.Caller{Subject: "root", Scopes: []string{"admin"}}
)

// world is what survives a restart of the artifact store.
type world struct {
	store     store.Store
	dir       string
	blobs     Blobs                       // nil: the folder
	stored    func(t testing.TB) []string // what the driver keeps, whole and half
	retention time.Duration
	mu        sync.Mutex
	t         time.Time
}

func newWorld(t testing.TB) *world {
	s := store.NewMemory()
	t.Cleanup(func() { s.Close() })
	w := &world{store: s, dir: filepath.Join(t.TempDir(), "artifacts"), t: time.Now().Truncate(time.Second)}
	w.stored = w.inFolder
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.t
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t = w.t.Add(d)
}

func (w *world) open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(context.Background(), Config{Store: w.store, Dir: w.dir, Blobs: w.blobs, BaseURL: func() string { return "http://gantry.test/" },
		Retention: w.retention, Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func put(t testing.TB, s *Store, pack, owner, name, body string) Entry {
	t.Helper()
	e, err := s.Put(t.Context(), Put{Pack: pack, Owner: owner, Name: name, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func read(t testing.TB, r io.ReadCloser) string {
	t.Helper()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantCode(t testing.TB, err error, code wire.Code) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// inFolder are the artifacts' files, whole and temporary, by their path in dir.
func (w *world) inFolder(t testing.TB) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != urlKeyName {
			rel, _ := filepath.Rel(w.dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func testPutAndOpen(t *testing.T, w *world) {
	s := w.open(t)
	for _, body := range []string{"", "x", strings.Repeat("long ", 100_000)} {
		e := put(t, s, "stock.search", "ann", "Photo 1.JPG", body)
		sum := sha256.Sum256([]byte(body))
		if e.Size != int64(len(body)) || e.SHA256 != hex.EncodeToString(sum[:]) || e.ContentType != "image/jpeg" || e.ETag() != `"`+e.SHA256+`"` {
			t.Fatalf("got %+v", e)
		}
		got, r, err := w.open(t).Open(t.Context(), ann, e.Key) // after a restart
		if err != nil || got != e || read(t, r) != body {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	if n := len(w.stored(t)); n != 3 {
		t.Fatalf("%d files", n)
	}
}

func TestSurvivesARestartOnBadger(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	open := func() store.Store {
		db, err := store.OpenBadger(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	w.store, w.retention = open(), time.Hour
	s := w.open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "hello")
	s.Close()
	w.store.Close()
	w.store = open()
	defer w.store.Close()
	s = w.open(t)
	defer s.Close()
	_, r, err := s.Open(t.Context(), ann, e.Key)
	if err != nil || read(t, r) != "hello" {
		t.Fatal(err)
	}
	list, _, err := s.List(t.Context(), ann, Filter{Pack: "a.b"})
	if err != nil || len(list) != 1 || list[0].Key != e.Key {
		t.Fatalf("got %+v, %v", list, err)
	}
}

func TestOwners(t *testing.T) {
	s := newWorld(t).open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "hello")
	_, err := s.Stat(t.Context(), bob, e.Key)
	wantCode(t, err, wire.ArtifactNotFound)
	_, _, err = s.Open(t.Context(), bob, e.Key)
	wantCode(t, err, wire.ArtifactNotFound)
	wantCode(t, s.Delete(t.Context(), bob, e.Key), wire.ArtifactNotFound)
	for _, c := range []auth.Caller{ann, root} {
		if _, err := s.Stat(t.Context(), c, e.Key); err != nil {
			t.Fatalf("%s: %v", c.Subject, err)
		}
	}
	for _, key := range []string{"", "/", "..", "a.b", "a.b/", "a.b/../" + e.Key, e.Key + "\x00", "../../etc/passwd", "tmp/x", urlKeyName, strings.Repeat("k", 1<<20)} {
		_, _, err := s.Open(t.Context(), root, key)
		wantCode(t, err, wire.ArtifactNotFound)
	}
}

func testDelete(t *testing.T, w *world) {
	s := w.open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "hello")
	if err := s.Delete(t.Context(), ann, e.Key); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Open(t.Context(), ann, e.Key)
	wantCode(t, err, wire.ArtifactNotFound)
	wantCode(t, s.Delete(t.Context(), ann, e.Key), wire.ArtifactNotFound)
	if list, _, err := s.List(t.Context(), root, Filter{}); err != nil || len(list) != 0 || len(w.stored(t)) != 0 {
		t.Fatalf("left behind: %v, %v, %v", list, w.stored(t), err)
	}
	err = w.store.View(t.Context(), func(r store.R) error {
		return r.Scan(nil, nil, store.ScanOptions{}, func(k, _ []byte) (bool, error) {
			t.Errorf("left in the store: %s", k)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenFilesSurviveDelete(t *testing.T) {
	s := newWorld(t).open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "hello")
	_, r, err := s.Open(t.Context(), ann, e.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), ann, e.Key); err != nil || read(t, r) != "hello" {
		t.Errorf("an open artifact lost its bytes: %v", err)
	}
}

func TestOpenRefusesALooseKey(t *testing.T) {
	w := newWorld(t)
	w.open(t)
	if err := os.Chmod(filepath.Join(w.dir, urlKeyName), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Store: w.store, Dir: w.dir, Now: w.now}); err == nil || !strings.Contains(err.Error(), urlKeyName) {
		t.Fatalf("got %v", err)
	}
}
