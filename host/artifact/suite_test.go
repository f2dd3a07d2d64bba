package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// suite is what the store does on every driver. Each test gets a world whose driver is empty.
func suite(t *testing.T, open func(t *testing.T) *world) {
	for name, test := range map[string]func(*testing.T, *world){
		"put and open": testPutAndOpen, "put fails cleanly": testPutFailsCleanly, "put without a record": testPutWithoutARecordLeavesNoFile,
		"put at the same time": testPutAtTheSameTime, "delete": testDelete, "retention": testRetention, "seek": testSeek,
		"several parts": testSeveralParts, "orphans": testOrphans, "bytes gone": testBytesGone,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func TestFolder(t *testing.T) { suite(t, func(t *testing.T) *world { return newWorld(t) }) }

func testSeek(t *testing.T, w *world) {
	s := w.open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "0123456789")
	_, r, err := s.Open(t.Context(), ann, e.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		offset int64
		whence int
		at     int64
		want   string
	}{
		{0, io.SeekEnd, 10, ""}, {0, io.SeekStart, 0, "012"}, {7, io.SeekStart, 7, "789"}, {-4, io.SeekCurrent, 6, "678"},
		{-1, io.SeekEnd, 9, "9"}, {10, io.SeekStart, 10, ""}, {0, io.SeekStart, 0, "012"},
	} {
		at, err := r.Seek(c.offset, c.whence)
		got := make([]byte, 3)
		n, rerr := io.ReadFull(r, got)
		if err != nil || at != c.at || string(got[:n]) != c.want || rerr != nil && !errors.Is(rerr, io.EOF) && !errors.Is(rerr, io.ErrUnexpectedEOF) {
			t.Errorf("%+v: at %d, %q, %v, %v", c, at, got[:n], err, rerr)
		}
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("before the start")
	}
}

// testSeveralParts has bodies around the size at which a bucket's driver begins to send parts.
func testSeveralParts(t *testing.T, w *world) {
	s := w.open(t)
	for _, size := range []int{partSize - 1, partSize, partSize + 1, 2*partSize + 12345} {
		body := make([]byte, size)
		rand.NewChaCha8([32]byte{1}).Read(body)
		e := put(t, s, "a.b", "ann", "x.bin", string(body))
		sum := sha256.Sum256(body)
		if e.Size != int64(size) || e.SHA256 != hex.EncodeToString(sum[:]) {
			t.Fatalf("%d: %+v", size, e)
		}
		_, r, err := s.Open(t.Context(), ann, e.Key)
		if err != nil || read(t, r) != string(body) {
			t.Fatalf("%d: other bytes, %v", size, err)
		}
	}
}

func testOrphans(t *testing.T, w *world) {
	s := w.open(t)
	put(t, s, "a.b", "ann", "kept.txt", "kept")
	for _, name := range []string{"orphan", "busy"} {
		if err := s.blobs.Put(t.Context(), hashOf(name), "text/plain", strings.NewReader(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.busy.Store(hashOf("busy"), nil)
	sweep := func(left int) {
		t.Helper()
		if err := s.sweep(t.Context()); err != nil || len(w.stored(t)) != left {
			t.Fatalf("%v, %v", w.stored(t), err)
		}
	}
	sweep(3) // all are young
	w.advance(leftoverAge + time.Minute)
	sweep(2)
	s.busy.Delete(hashOf("busy"))
	sweep(1)
}

func testBytesGone(t *testing.T, w *world) {
	s := w.open(t)
	e := put(t, s, "a.b", "ann", "x.txt", "hello")
	for range 2 {
		if err := s.blobs.Remove(t.Context(), hashOf(e.Key)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.blobs.Open(t.Context(), hashOf(e.Key)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	_, _, err := s.Open(t.Context(), ann, e.Key)
	wantCode(t, err, wire.ArtifactNotFound)
	if slices.Contains(w.stored(t), hashOf(e.Key)) {
		t.Error("still stored")
	}
}
