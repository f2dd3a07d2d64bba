package keyfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestEnsureMakesAndKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "jwt.key")
	first, err := Ensure(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != Size || bytes.Equal(first, make([]byte, Size)) {
		t.Fatalf("not a random key: %x", first)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	again, err := Ensure(path)
	if err != nil || !bytes.Equal(first, again) {
		t.Fatalf("the key changed: %v", err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 1 {
		t.Fatalf("left behind: %v", entries)
	}
}

func TestEnsureAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jwt.key")
	keys := make([][]byte, 16)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			k, err := Ensure(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = k
		})
	}
	wg.Wait()
	for _, k := range keys {
		if !bytes.Equal(k, keys[0]) {
			t.Fatal("two starts made two keys")
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		mode fs.FileMode
		size int
		want string
	}{
		{"group readable", 0o640, Size, "other users"},
		{"world readable", 0o604, Size, "other users"},
		{"group writable", 0o620, Size, "other users"},
		{"empty", 0o600, 0, "0 bytes"},
		{"short", 0o600, Size - 1, "31 bytes"},
		{"long", 0o600, Size + 1, "33 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "jwt.key")
			if err := os.WriteFile(path, make([]byte, c.size), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := Ensure(path); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestLoadOfNothing(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "jwt.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Fatal("a folder was taken for a key")
	}
}
