package artifact

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestFolderSweep(t *testing.T) {
	w := newWorld(t)
	s := w.open(t)
	f := s.blobs.(folder)
	kept := put(t, s, "a.b", "ann", "kept.txt", "kept")
	old := w.now().Add(-2 * leftoverAge)
	leave := func(name string, t0 time.Time) string {
		path := f.path(hashOf(name))
		if strings.HasPrefix(name, tempDir) {
			path = f.temp(hashOf(name))
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Chtimes(path, t0, t0)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	orphan, temp := leave("orphan", old), leave("tmp/half", old)
	young := leave("young", w.now())
	s.busy.Store(hashOf("busy"), nil)
	busy := leave("busy", old)
	keptPath := f.path(hashOf(kept.Key))
	if err := os.Chtimes(keptPath, old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{orphan: false, temp: false, young: true, busy: true, keptPath: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, urlKeyName)); err != nil {
		t.Error("the URL key was swept")
	}
}

func testRetention(t *testing.T, w *world) {
	w.retention = 2 * time.Hour
	s := w.open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "hello")
	w.advance(w.retention - time.Second)
	if _, err := s.Stat(t.Context(), ann, e.Key); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Second)
	_, _, err := s.Open(t.Context(), ann, e.Key)
	wantCode(t, err, wire.ArtifactNotFound)
	if list, _, err := s.List(t.Context(), ann, Filter{}); err != nil || len(list) != 0 {
		t.Fatalf("got %v, %v", list, err)
	}
	if err := s.sweep(t.Context()); err != nil || len(w.stored(t)) != 0 {
		t.Fatalf("left behind: %v, %v", w.stored(t), err)
	}
	w.retention = 0
	if e := put(t, w.open(t), "a.b", "ann", "x.txt", "hello"); !e.ExpiresAt.IsZero() {
		t.Fatalf("retention 0 expires at %s", e.ExpiresAt)
	}
}
