package wasm_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/imports"
	"github.com/gantry-packs/gantry/host/memory"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/host/wasm"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

const (
	secretKey  = "sk_live_Zq8/Wn+3xV71"
	secretWord = `correct "horse" <7>`
	secretID   = "5f0e:8c3b6f6a5d4e3c2b1a09f8e7d6c5b4a3"
	marker     = "marker-that-the-guest-does-hold"
)

// traces are the texts that would give a secret away.
func traces() map[string][]byte {
	found := map[string][]byte{}
	for name, secret := range map[string]string{"key": secretKey, "password": secretWord, "id:secret": secretID[5:]} {
		quoted, _ := json.Marshal(secret)
		for form, text := range map[string]string{
			"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "json": string(quoted[1 : len(quoted)-1]),
			"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "hex": hex.EncodeToString([]byte(secret)),
		} {
			found[name+" "+form] = []byte(text)
		}
	}
	found["basic"] = []byte(base64.StdEncoding.EncodeToString([]byte("ann:" + secretWord)))
	found["basic key"] = []byte(base64.StdEncoding.EncodeToString([]byte(secretKey + ":")))
	raw, _ := hex.DecodeString(secretID[5:])
	found["raw"] = raw
	return found
}

// echo repeats everything about a request in its answer, in the way that the path says.
func echo(w http.ResponseWriter, r *http.Request) {
	all := fmt.Sprintf("%s %v %v", r.URL, r.Header, r.URL.Query())
	user, word, _ := r.BasicAuth()
	all += " " + user + " " + word
	quoted, _ := json.Marshal(r.Header)
	all += string(quoted)
	switch r.URL.Path {
	case "/header":
		w.Header().Set("X-Echo", strings.Join(r.Header.Values("Authorization"), ""))
		w.Header().Set("Set-Cookie", "a="+r.Header.Get("X-Key"))
	case "/error":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, all)
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, all)
		_ = z.Close()
	case "/binary":
		fmt.Fprint(w, "\xff\xfe"+all)
	case "/redirect":
		w.Header().Set("Location", "/header?was="+url.QueryEscape(r.Header.Get("Authorization")))
		w.WriteHeader(http.StatusFound)
	case "/away":
		w.Header().Set("Location", "http://localhost:1/?was="+url.QueryEscape(all))
		w.WriteHeader(http.StatusFound)
	default:
		fmt.Fprint(w, all)
	}
}

// guest compiles testdata/secrets.
func guest(t *testing.T) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "secrets.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, "./testdata/secrets")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	bin, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// lent are the real functions over real services, with the secrets in the vault.
func lent(t *testing.T, dir string, log *slog.Logger, by auth.Caller) []wasm.Function {
	t.Helper()
	s, err := store.OpenBadger(filepath.Join(dir, "store"), log)
	must(t, err)
	a, err := artifact.Open(t.Context(), artifact.Config{
		Store: s, Dir: filepath.Join(dir, "artifacts"), BaseURL: func() string { return "http://127.0.0.1:1" }, Now: time.Now,
	})
	must(t, err)
	v, err := vault.Open(t.Context(), vault.Config{Store: s, Dir: dir, Now: time.Now, Log: log})
	must(t, err)
	t.Cleanup(func() {
		v.Close()
		a.Close()
		must(t, s.Close())
	})
	login, err := json.Marshal(map[string]string{"username": "ann", "password": secretWord})
	must(t, err)
	for _, n := range []vault.New{
		{Name: "key", Type: vault.TypeAPIKey, HostPattern: "127.0.0.1", Plaintext: []byte(secretKey)},
		{Name: "login", Type: vault.TypeLogin, HostPattern: "127.0.0.1", Plaintext: login},
		{Name: "id", Type: vault.TypeAPIKey, HostPattern: "127.0.0.1", Plaintext: []byte(secretID)},
	} {
		_, err := v.Create(t.Context(), by, n)
		must(t, err)
	}
	guard, err := egress.New(egress.Options{Allow: []string{"127.0.0.1", "localhost"}})
	must(t, err)
	return imports.Table(imports.Services{Artifacts: a, Memory: memory.Open(s, time.Now), Network: imports.Network{
		Guard: guard, Vault: v, Setting: func(string) (string, bool) { return "", false },
		Delegate: func(auth.Caller) (string, error) { return "", nil },
	}})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A credential is used in every way there is; no byte of it may ever lie where the guest can read, nor in what it answers,
// the log, or the data dir.
func TestNoSecretInTheGuest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	dir, caller := t.TempDir(), auth.Caller{Subject: "alice"}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	table := lent(t, dir, log, caller)
	looks, held := 0, 0
	for i, f := range table {
		if f.Name != "progress" {
			continue
		}
		table[i].JSON = func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
			looks++
			for _, part := range wasm.GuestMemory(ctx) {
				scan(t, "the guest's memory", part)
				held += bytes.Count(part, []byte(marker))
			}
			return f.JSON(ctx, c, req)
		}
	}
	runner, err := wasm.Open(t.Context(), wasm.Config{Functions: table, Setting: func(string) (string, bool) { return "", false }, Log: log})
	must(t, err)
	defer runner.Close()
	bin := guest(t)
	sum := sha256.Sum256(bin)
	call := &engine.Call{Caller: caller, Blobs: engine.NewBlobs(), Secrets: vault.NewMasker(), Pack: &registry.Pack{
		Manifest: registry.Manifest{
			Name: "test.secrets", Handler: registry.Handler{Type: registry.Wasm, Module: "secrets.wasm", Export: "secrets", MemoryMB: 16},
			Permissions: &registry.Permissions{Net: []string{"*"}, Vault: []string{"key", "login", "id"}, Artifacts: true},
		},
		Digest: hex.EncodeToString(sum[:]), Module: func() ([]byte, error) { return bin, nil },
	}}
	input, uses := everyUse(t, server.URL)
	output, err := runner.Run(t.Context(), call, input)
	must(t, err)
	if looks < uses || held == 0 {
		t.Fatalf("looked %d times after %d uses and found the marker %d times: the test sees nothing", looks, uses, held)
	}
	if got := bytes.Count(output, []byte(vault.Mask)); got < uses {
		t.Errorf("masked %d times in %d uses: did the server echo?\n%s", got, uses, output)
	}
	scan(t, "the output", output)
	scan(t, "the log", logged.Bytes())
	scanFiles(t, dir)
}

// everyUse is the guest's input and how many uses of a credential it asks for.
func everyUse(t *testing.T, base string) (input []byte, uses int) {
	t.Helper()
	var requests []wire.HTTPRequest
	for _, path := range []string{"/", "/header", "/error", "/gzip", "/binary", "/redirect", "/away"} {
		for _, a := range []wire.HTTPAuth{{Credential: "key", As: "bearer"}, {Credential: "key", As: "basic"}, {Credential: "login", As: "basic"},
			{Credential: "key", As: "header:X-Key"}, {Credential: "key", As: "query:key"}} {
			requests = append(requests, wire.HTTPRequest{URL: base + path, Auth: []wire.HTTPAuth{a}})
		}
		requests = append(requests, wire.HTTPRequest{URL: base + path, Headers: map[string]string{"Authorization": "Token ${vault:key}"}},
			wire.HTTPRequest{URL: base + path, MaxBytes: 300, AsBlob: true, Headers: map[string]string{"Authorization": "Token ${vault:id}"}})
	}
	sign := []wire.SignRequest{
		{Credential: "key", Host: "127.0.0.1", Alg: wire.HMACSHA256, Data: "data"},
		{Credential: "id", Host: "127.0.0.1", Alg: wire.JWTHS256, Claims: json.RawMessage(`{"aud":"/admin/"}`), IDSecret: true},
		{Credential: "key", Host: "127.0.0.1", Alg: wire.JWTHS256, Claims: json.RawMessage(`{}`), IDSecret: true},
	}
	input, err := json.Marshal(map[string]any{"marker": marker, "requests": requests, "sign": sign, "look": "login"})
	must(t, err)
	return input, len(requests)
}

func scan(t *testing.T, where string, data []byte) {
	t.Helper()
	for name, trace := range traces() {
		if i := bytes.Index(data, trace); i >= 0 {
			t.Errorf("%s holds the secret (%s): …%q…", where, name, data[max(0, i-60):min(len(data), i+60)])
		}
	}
}

func scanFiles(t *testing.T, dir string) {
	t.Helper()
	files := 0
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		scan(t, path, data)
		files++
		return err
	}))
	if files < 3 {
		t.Errorf("only %d files in the data dir", files)
	}
}
