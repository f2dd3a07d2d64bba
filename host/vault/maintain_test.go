package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func testRecipient(t *testing.T) string {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	must(t, err)
	return id.Recipient().String()
}

// healthy wants a Doctor that finds nothing.
func (f *fixture) healthy(t *testing.T) {
	t.Helper()
	findings, err := f.Doctor(t.Context())
	for _, found := range findings {
		if found.Problem != "" {
			t.Errorf("%+v", found)
		}
	}
	if err != nil || len(findings) < 2 {
		t.Errorf("%d findings, %v", len(findings), err)
	}
}

func TestRotateKeys(t *testing.T) {
	f := open(t)
	const many = 40 // of 20 KB: several batches
	for i := range many {
		f.create(t, New{Name: fmt.Sprint("key", i), Plaintext: []byte(strings.Repeat(fmt.Sprint(i, " "), 5000))})
	}
	before, err := f.Get(t.Context(), "key7")
	must(t, err)
	old := f.keys
	for range 3 {
		if n, err := f.RotateKeys(t.Context()); n != many || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if f.keys.seals.Len() != 1 {
		t.Errorf("%d keys", f.keys.seals.Len())
	}
	records, err := f.records(t.Context())
	must(t, err)
	for _, rec := range records {
		if _, err := old.open(rec); err == nil {
			t.Errorf("%s opens with the old key", rec.Name)
		}
	}
	f.reopen(t)
	f.healthy(t)
	f.wantValue(t, "key7", strings.Repeat("7 ", 5000))
	if after, err := f.Get(t.Context(), "key7"); err != nil || after.Fingerprint != before.Fingerprint {
		t.Errorf("the fingerprint was %s and is %s, %v", before.Fingerprint, after.Fingerprint, err)
	}
}

// TestRotationCutShort stops after each step and starts over with what the store has.
func TestRotationCutShort(t *testing.T) {
	f := open(t)
	f.create(t, New{Name: "a"})
	f.create(t, New{Name: "b"})
	grown, err := f.keys.grown()
	must(t, err)
	must(t, f.replaceKeys(t.Context(), grown))
	f.reopen(t)
	f.wantValue(t, "a", value)
	f.create(t, New{Name: "c"})
	must(t, second(f.Rotate(t.Context(), "a", []byte("turned"))))
	f.reopen(t)
	findings, err := f.Doctor(t.Context())
	if err != nil || !strings.Contains(findings[1].Problem, "run it again") {
		t.Errorf("%+v, %v", findings, err)
	}
	if n, err := f.RotateKeys(t.Context()); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	f.reopen(t)
	f.healthy(t)
	f.wantValue(t, "a", "turned")
	f.wantValue(t, "b", value)
	f.wantValue(t, "c", value)
}

func TestRekey(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	first := f.KEK()
	next := "file://" + filepath.Join(f.dir, "new", "vault.key")
	for _, url := range []string{"", "vault.key", "env:X", first} {
		wantCode(t, f.Rekey(t.Context(), url), wire.InvalidInput)
	}
	must(t, f.Rekey(t.Context(), next))
	must(t, second(f.RotateKeys(t.Context())))
	f.wantValue(t, "key", value)
	f.healthy(t)
	if f.KEK() != next {
		t.Errorf("it is at %s", f.KEK())
	}
	f.wantNoOpen(t, "wrong one", f.keyPath())
	for path, mode := range map[string]os.FileMode{"new": 0o700 | os.ModeDir, "new/vault.key": 0o600} {
		if info, err := os.Stat(filepath.Join(f.dir, path)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	c := f.config()
	c.KEK = next
	v, err := Open(t.Context(), c)
	must(t, err)
	f.Vault = v
	f.wantValue(t, "key", value)
	must(t, f.Rekey(t.Context(), first)) // an existing key is used, not replaced
	f.reopen(t)
	f.wantValue(t, "key", value)
}

// TestKEKLostMeanwhile takes the key's file away from a running vault: what needs it fails without having changed anything.
func TestKEKLostMeanwhile(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	key, err := os.ReadFile(f.keyPath())
	must(t, err)
	must(t, os.Remove(f.keyPath()))
	if _, err := f.RotateKeys(t.Context()); err == nil || f.keys.seals.Len() != 1 {
		t.Errorf("rotated with %v", err)
	}
	if findings, err := f.Doctor(t.Context()); err != nil || !strings.Contains(findings[0].Problem, "missing") {
		t.Errorf("%+v, %v", findings, err)
	}
	f.wantValue(t, "key", value)
	write(t, f.keyPath(), bytes.Repeat([]byte{1}, kekSize))
	if findings, err := f.Doctor(t.Context()); err != nil || !strings.Contains(findings[0].Problem, "wrong one") {
		t.Errorf("%+v, %v", findings, err)
	}
	write(t, f.keyPath(), key)
	must(t, os.Chmod(f.dir, 0o770))
	if findings, err := f.Doctor(t.Context()); err != nil || !strings.Contains(findings[0].Problem, "folder") {
		t.Errorf("%+v, %v", findings, err)
	}
	must(t, os.Chmod(f.dir, 0o700))
	f.healthy(t)
}

func TestExport(t *testing.T) {
	f := open(t)
	f.create(t, New{Name: "a", ACL: []Rule{{"ann", "*"}}})
	f.create(t, New{Name: "b", Plaintext: []byte{0, 255, 1, 2}})
	id, err := age.GenerateX25519Identity()
	must(t, err)
	var out bytes.Buffer
	if n, err := f.Export(t.Context(), id.Recipient().String(), &out); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if bytes.Contains(out.Bytes(), []byte("example")) {
		t.Error("it is not encrypted")
	}
	plain, err := age.Decrypt(&out, id)
	must(t, err)
	raw, err := io.ReadAll(plain)
	must(t, err)
	want := `{"name":"a","type":"api_key","host_pattern":"api.example.com","plaintext_b64":"czNjcjN0LVZhbHVlL3dpdGgrc2lnbnM9YW5kIG1vcmU=","acl":[{"subject":"ann","client":"*"}]}
{"name":"b","type":"api_key","host_pattern":"api.example.com","plaintext_b64":"AP8BAg==","acl":[{"subject":"ann","client":"*"}]}
`
	if string(raw) != want {
		t.Errorf("got %s", raw)
	}
	for _, bad := range []string{"", "age1x", id.String(), "ssh-ed25519 AAAA"} {
		_, err := f.Export(t.Context(), bad, io.Discard)
		if e := wantCode(t, err, wire.InvalidInput); bad != "" && strings.Contains(e.Message, bad) {
			t.Errorf("it repeats %s", bad)
		}
	}
}

// TestNothingShowsTheValue looks for the value in all that the vault says about a credential and in its errors.
func TestNothingShowsTheValue(t *testing.T) {
	f := open(t)
	ctx := context.Background()
	c := f.create(t, New{})
	list, _ := f.List(ctx)
	uses, _ := f.usage(t, "key", 0, "")
	findings, _ := f.Doctor(ctx)
	_, refused := f.Take(ctx, Ask{Caller: ann, Name: "key", Host: "evil.example"})
	f.create(t, New{Name: "other"})
	f.tamper(t, func(a, b *record) { a.Sealed, b.Sealed = b.Sealed, a.Sealed })
	_, broken := f.take(t, "key")
	text, err := json.Marshal([]any{c, list, uses, findings, fmt.Sprintf("%+v %v %v", wire.As(refused), refused, broken)})
	must(t, err)
	for _, form := range []string{value, "czNjcjN0LVZhbHVl"} {
		if bytes.Contains(text, []byte(form)) {
			t.Errorf("%s", text)
		}
	}
}
