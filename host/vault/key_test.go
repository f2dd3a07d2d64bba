package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/store"
)

func (f *fixture) keyPath() string { return filepath.Join(f.dir, kekFile) }

// wantNoOpen opens the vault again and wants an error that says each of words.
func (f *fixture) wantNoOpen(t *testing.T, words ...string) {
	t.Helper()
	_, err := Open(t.Context(), f.config())
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("got %v, want %q in it", err, w)
		}
	}
}

func TestKEKFile(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	info, err := os.Stat(f.keyPath())
	if err != nil || info.Mode() != 0o600 || info.Size() != kekSize {
		t.Fatalf("%v, %v", info, err)
	}
	good, err := os.ReadFile(f.keyPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o601, 0o644, 0o666} {
		if err := os.Chmod(f.keyPath(), mode); err != nil {
			t.Fatal(err)
		}
		f.wantNoOpen(t, "other users", "chmod 600", f.keyPath())
	}
	if err := os.Chmod(f.keyPath(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{nil, good[:31], append(bytes.Clone(good), '\n')} {
		write(t, f.keyPath(), content)
		f.wantNoOpen(t, "instead of 32", "restore it")
	}
	write(t, f.keyPath(), bytes.Repeat([]byte{7}, kekSize))
	f.wantNoOpen(t, "wrong one", "check value")

	if err := os.Remove(f.keyPath()); err != nil {
		t.Fatal(err)
	}
	f.wantNoOpen(t, "missing", "no new one is made")
	if _, err := os.Stat(f.keyPath()); err == nil {
		t.Error("a key was made over existing data")
	}
	if err := os.Mkdir(f.keyPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	f.wantNoOpen(t, "not a regular file")
	if err := os.Remove(f.keyPath()); err != nil {
		t.Fatal(err)
	}
	write(t, f.keyPath(), good)
	f.reopen(t)
	f.wantValue(t, "key", value)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKEKURL(t *testing.T) {
	for _, bad := range []string{"vault.key", "/etc/vault.key", "file:vault.key", "file://host/k", "file:///", "file:///k?x=1", "file:///k?", "file:///k#x",
		"file://u@/k", "file://k", "env:SECRET-VALUE", "awskms://SECRET-VALUE", "SECRET-VALUE\x00", "http://SECRET-VALUE"} {
		if k, err := parseKEK(bad, "/data"); err == nil || strings.Contains(err.Error(), "SECRET-VALUE") {
			t.Errorf("%q: %v, %v", bad, k, err)
		}
	}
	for url, path := range map[string]string{"": "/data/vault.key", "file:///a/b": "/a/b", "file:///a%20b/../c%3F": "/c?", "file://localhost/a": "/a"} {
		k, err := parseKEK(url, "/data")
		if err != nil || k.path != path {
			t.Errorf("%q: %v, %v", url, k, err)
		}
		if again, err := parseKEK(k.String(), ""); err != nil || again != k {
			t.Errorf("%s is written %s: %v, %v", k.path, k, again, err)
		}
	}
}

// TestFirstStart: a key that a crash left without a keyset is used, and credentials without a keyset are not built over.
func TestFirstStart(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	err := f.store.Update(t.Context(), func(rw store.RW) error { return f.wrapped.Delete(rw, currentKeyset) })
	if err != nil {
		t.Fatal(err)
	}
	f.wantNoOpen(t, "credentials but no keyset")
	if err := f.Delete(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(f.keyPath())
	f.reopen(t)
	if after, _ := os.ReadFile(f.keyPath()); !bytes.Equal(before, after) {
		t.Error("the key was replaced")
	}
	f.create(t, New{})
	f.wantValue(t, "key", value)
}

// TestTampering edits the store: nothing that is bound to a value can be changed or moved, and Doctor names what was.
func TestTampering(t *testing.T) {
	for what, edit := range map[string]func(a, b *record){
		"sealed swapped":  func(a, b *record) { a.Sealed, b.Sealed = b.Sealed, a.Sealed },
		"sealed and id":   func(a, b *record) { a.Sealed, a.ID, a.Version = b.Sealed, b.ID, b.Version },
		"record renamed":  func(a, b *record) { *a = *b; a.Name = "key" },
		"old version":     func(a, _ *record) { a.Version-- },
		"acl widened":     func(a, _ *record) { a.ACL = []Rule{{"*", "*"}} },
		"pattern widened": func(a, _ *record) { a.HostPattern = "*" },
		"type changed":    func(a, _ *record) { a.Type = TypeSSH },
		"bit flipped":     func(a, _ *record) { a.Sealed[len(a.Sealed)-1] ^= 1 },
		"cut":             func(a, _ *record) { a.Sealed = a.Sealed[:3] },
		"empty":           func(a, _ *record) { a.Sealed = nil },
	} {
		f := open(t)
		f.create(t, New{})
		f.create(t, New{Name: "other", Plaintext: []byte("the other value")})
		f.tamper(t, edit)
		if got, err := f.take(t, "key"); err == nil || got != "" {
			t.Errorf("%s: got %q", what, got)
		}
		findings, err := f.Doctor(t.Context())
		if err != nil || len(findings) != 4 || findings[2].Subject != "key" || findings[2].Problem == "" {
			t.Errorf("%s: Doctor finds %+v, %v", what, findings, err)
		}
		if _, err := f.RotateKeys(t.Context()); err == nil || f.keys.seals.Len() != 2 {
			t.Errorf("%s: rotating the keys: %v, %d keys", what, err, f.keys.seals.Len())
		}
		if _, err := f.Export(t.Context(), testRecipient(t), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: it is exported", what)
		}
		if err := f.Delete(t.Context(), "key"); err != nil {
			t.Fatal(err)
		}
		f.create(t, New{})
		f.wantValue(t, "key", value)
	}
}

func (f *fixture) tamper(t *testing.T, edit func(a, b *record)) {
	t.Helper()
	err := f.store.Update(t.Context(), func(rw store.RW) error {
		a, err := f.credentials.Get(rw, "key")
		if err != nil {
			return err
		}
		b, err := f.credentials.Get(rw, "other")
		if err != nil {
			return err
		}
		edit(&a, &b)
		if err := f.credentials.Put(rw, "key", a, 0); err != nil {
			return err
		}
		return f.credentials.Put(rw, "other", b, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeysetsCannotBeSwapped puts one keyset in the place of the other.
func TestKeysetsCannotBeSwapped(t *testing.T) {
	f := open(t)
	err := f.store.Update(t.Context(), func(rw store.RW) error {
		w, err := f.wrapped.Get(rw, currentKeyset)
		w.Seals, w.Marks = w.Marks, w.Seals
		if err != nil {
			return err
		}
		return f.wrapped.Put(rw, currentKeyset, w, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	f.wantNoOpen(t, "keyset in the store is damaged")
}

// TestDiskHoldsNoPlaintext reads every file of a data folder for values that were made, rotated and deleted there, in the
// forms in which they might lie there.
func TestDiskHoldsNoPlaintext(t *testing.T) {
	f := &fixture{dir: t.TempDir(), now: time.Now()}
	disk := filepath.Join(f.dir, "store")
	reopen := func() {
		s, err := store.OpenBadger(disk, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		f.store = s
		f.reopen(t)
	}
	reopen()
	long := "LONG" + strings.Repeat("plaintext-of-many-bytes ", 2500)
	f.create(t, New{Name: "gone", Plaintext: []byte("GONE-plaintext-31415926")})
	f.create(t, New{Name: "turned", Plaintext: []byte("TURNED-plaintext-27182818")})
	f.create(t, New{Name: "login", Type: TypeLogin, Plaintext: []byte(`{"username":"u","password":"LOGIN-plaintext-16180339"}`)})
	f.create(t, New{Name: "long", Plaintext: []byte(long)})
	for _, name := range []string{"gone", "turned", "login", "long"} {
		if got, err := f.take(t, name); err != nil || got == "" {
			t.Fatal(name, err)
		}
	}
	must(t, second(f.Rotate(t.Context(), "turned", []byte("AGAIN-plaintext-14142135"))))
	must(t, f.Delete(t.Context(), "gone"))
	must(t, second(f.RotateKeys(t.Context())))
	must(t, f.Rekey(t.Context(), "file://"+filepath.Join(f.dir, "new.key")))
	f.Close()
	must(t, f.store.Close())
	files := scan(t, f.dir, "GONE-plaintext-31415926", "TURNED-plaintext-27182818", "AGAIN-plaintext-14142135", "LOGIN-plaintext-16180339", long[:64])
	if files < 4 {
		t.Errorf("%d files were read", files)
	}
	old, err := os.ReadFile(filepath.Join(f.dir, "new.key"))
	must(t, err)
	must(t, os.Remove(f.keyPath()))
	write(t, f.keyPath(), old)
	reopen()
	f.wantValue(t, "turned", "AGAIN-plaintext-14142135")
	f.wantValue(t, "long", long)
	must(t, f.store.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scan looks for texts in every file below dir, also in hex and base64.
func scan(t *testing.T, dir string, texts ...string) (files int) {
	t.Helper()
	var forms []string
	for _, text := range texts {
		forms = append(forms, text, hex.EncodeToString([]byte(text)))
		for shift := range 3 {
			forms = append(forms, base64.StdEncoding.EncodeToString([]byte(text[shift:]))[:20])
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		for _, form := range forms {
			if bytes.Contains(raw, []byte(form)) {
				t.Errorf("%s holds %s", path, form)
			}
		}
		return err
	})
	must(t, err)
	return files
}
