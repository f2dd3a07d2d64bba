package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/vault"
)

const secretValue = "hunter2-4711-0815"

// quiet fails if the secret was printed.
func (s *session) quiet(t *testing.T) {
	t.Helper()
	if all := s.out.String() + s.err.String(); strings.Contains(all, "hunter2") || strings.Contains(all, "aHVudGVy") {
		t.Errorf("the secret is printed:\n%s", all)
	}
}

func TestVaultAdd(t *testing.T) {
	u := newUpstream(t, 201, `{"id":"c1","name":"key"}`)
	s := u.session(t)
	for stdin, value := range map[string]string{
		secretValue: secretValue, secretValue + "\n": secretValue, secretValue + "\r\n": secretValue, " " + secretValue: " " + secretValue,
		"-----BEGIN KEY-----\n" + secretValue + "\n": "-----BEGIN KEY-----\n" + secretValue + "\n", "\xff\x00\xfe\x01": "\xff\x00\xfe\x01",
	} {
		s.in = stdin
		s.want(t, exitOK, strings.Fields("vault add key --host api.example.com --allow bob --allow */ci"), "added key")
		want := `{"name":"key","type":"api_key","host_pattern":"api.example.com","plaintext_b64":"` + base64.StdEncoding.EncodeToString([]byte(value)) +
			`","acl":[{"subject":"bob","client":"*"},{"subject":"*","client":"ci"}]}`
		if u.sent != want || u.path != "/api/v1/vault/credentials" {
			t.Errorf("%q sent %s\nwant %s", stdin, u.sent, want)
		}
		s.quiet(t)
	}
	s.want(t, exitOK, strings.Fields("vault add key --host * --type ssh-git"))
	if strings.Contains(u.sent, "acl") {
		t.Errorf("nobody said who: %s", u.sent)
	}
	for _, empty := range []string{"", "\n", "\r\n"} {
		s.in = empty
		s.want(t, exitUsage, strings.Fields("vault add key --host *"), "no value on stdin")
	}
	s.in = strings.Repeat("a", vault.MaxPlaintext+1)
	s.want(t, exitUsage, strings.Fields("vault add key --host *"), "over 64 KiB")
	s.in = secretValue
	s.want(t, exitUsage, strings.Fields("vault add key"), "--host")
	s.want(t, exitUsage, strings.Fields("vault add key "+"value --host *"), "unexpected argument") // a value is no argument
	u.status, u.body = 409, `{"error":"conflict","message":"there is one"}`
	s.want(t, exitFailed, strings.Fields("vault add key --host *"), "conflict: there is one")
	s.quiet(t)
}

func TestVaultOverHTTP(t *testing.T) {
	u := newUpstream(t, 200, `{"credentials":[{"name":"key\u001b[2J","type":"api_key","host_pattern":"*","fingerprint":"ab12","acl":[{"subject":"ada","client":"*"},`+
		`{"subject":"*","client":"ci"}],"updated_at":"2030-01-02T03:04:05Z"},{"name":"nobodys","acl":[]}]}`)
	s := u.session(t)
	s.want(t, exitOK, strings.Fields("vault list"), "key[2J", "ada,*/ci", "ab12", "never", "nobody ")
	s.want(t, exitOK, strings.Fields("vault list --json"), `"fingerprint": "ab12"`)
	s.in = secretValue + "\n"
	s.want(t, exitOK, strings.Fields("vault rotate-secret ../key"), "rotated")
	if want := `{"plaintext_b64":"` + base64.StdEncoding.EncodeToString([]byte(secretValue)) + `"}`; u.sent != want || u.path != "/api/v1/vault/credentials/..%2Fkey" {
		t.Errorf("sent %s to %s", u.sent, u.path)
	}
	s.quiet(t)
	u.status, u.body = 204, ""
	s.want(t, exitOK, strings.Fields("vault delete key"), "deleted key")
	if u.path != "/api/v1/vault/credentials/key" {
		t.Errorf("delete asked for %s", u.path)
	}
}

// keep makes a data dir that a service has run in, with one credential.
func keep(t *testing.T, s *session) {
	t.Helper()
	dir := s.env["GANTRY_DATA_DIR"]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	kv, err := store.OpenBadger(filepath.Join(dir, "store"), log)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), vault.Config{Store: kv, Dir: dir, Now: time.Now, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Create(t.Context(), auth.Caller{Subject: "ada"}, vault.New{Name: "key", Type: vault.TypeAPIKey, HostPattern: "*", Plaintext: []byte(secretValue)})
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	if err := kv.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestVaultLocally(t *testing.T) {
	s := newSession(t)
	for _, command := range []string{"doctor", "rotate", "rekey file:///x", "export --recipient age1x --output -"} {
		s.want(t, exitUsage, strings.Fields("vault "+command), "no service has ever run in")
	}
	if _, err := os.Stat(s.env["GANTRY_DATA_DIR"]); err == nil {
		t.Error("a vault was made by looking for one")
	}
	keep(t, s)
	s.want(t, exitOK, strings.Fields("vault doctor"), "ok    key-encryption key", "ok    key\n")
	s.want(t, exitOK, strings.Fields("vault rotate"), "sealed 1 credentials")
	kek := "file://" + filepath.Join(t.TempDir(), "new.key")
	s.want(t, exitOK, []string{"vault", "rekey", kek}, "set GANTRY_VAULT_KEK", kek)
	s.want(t, exitFailed, strings.Fields("vault doctor"), "key-encryption key") // the old one is the default still
	s.env["GANTRY_VAULT_KEK"] = kek
	s.want(t, exitOK, strings.Fields("vault doctor"))
	if err := os.Chmod(strings.TrimPrefix(kek, "file://"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.want(t, exitFailed, strings.Fields("vault doctor"), "chmod 600")
	s.quiet(t)
}

func TestVaultExport(t *testing.T) {
	s := newSession(t)
	keep(t, s)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "vault.age")
	s.want(t, exitFailed, []string{"vault", "export", "--recipient", id.String(), "--output", file}, "public key") // the wrong half
	if _, err := os.Stat(file); err == nil {
		t.Error("a failed export leaves a file")
	}
	if strings.Contains(s.out.String()+s.err.String(), id.String()) {
		t.Error("the private key is printed")
	}
	s.want(t, exitOK, []string{"vault", "export", "--recipient", id.Recipient().String(), "--output", file}, "exported 1")
	s.quiet(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s.want(t, exitUsage, []string{"vault", "export", "--recipient", id.Recipient().String(), "--output", file}, "there already")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.want(t, exitOK, []string{"vault", "export", "--recipient", id.Recipient().String(), "--output", "-"})
	for name, sealed := range map[string][]byte{"file": raw, "stdout": []byte(s.out.String())} {
		r, err := age.Decrypt(bytes.NewReader(sealed), id)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plain, err := io.ReadAll(r)
		if err != nil || !strings.Contains(string(plain), base64.StdEncoding.EncodeToString([]byte(secretValue))) {
			t.Errorf("%s: %s, %v", name, plain, err)
		}
	}
}

func TestDoctorReadsTheAllowList(t *testing.T) {
	s := newSession(t)
	s.env["GANTRY_EGRESS_ALLOW"] = "nas.lan,0.0.0.0/0"
	s.run(t.Context(), "doctor")
	if !strings.Contains(s.out.String(), "GANTRY_EGRESS_ALLOW") || !strings.Contains(s.out.String(), "0.0.0.0/0") {
		t.Errorf("%s", s.out.String())
	}
}
