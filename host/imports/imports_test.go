package imports

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/memory"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/host/wasm"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// lent is a table over empty real services.
func lent(t *testing.T) []wasm.Function {
	t.Helper()
	return Table(services(t))
}

func services(t testing.TB) Services {
	t.Helper()
	s := store.NewMemory()
	a, err := artifact.Open(t.Context(), artifact.Config{
		Store: s, Dir: t.TempDir(), BaseURL: func() string { return "http://127.0.0.1:1" }, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	v, err := vault.Open(t.Context(), vault.Config{Store: s, Dir: t.TempDir(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := egress.New(egress.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	return Services{Artifacts: a, Memory: memory.Open(s, time.Now), Network: Network{
		Guard: guard, Vault: v,
		Setting:  func(string) (string, bool) { return "", false },
		Delegate: func(c auth.Caller) (string, error) { return "delegated-to-" + c.Subject, nil },
	}}
}

func newCall(subject string) *engine.Call {
	return &engine.Call{
		Caller: auth.Caller{Subject: subject, Scopes: []string{"packs:call"}},
		Pack:   &registry.Pack{Manifest: registry.Manifest{Name: "test.pack"}},
		Blobs:  engine.NewBlobs(), Secrets: vault.NewMasker(),
	}
}

// do calls a function of the table and returns its answer as JSON, or the code of its error.
func do(t *testing.T, table []wasm.Function, c *engine.Call, name, request string) (answer, code string) {
	t.Helper()
	for _, f := range table {
		if f.Name != name {
			continue
		}
		v, err := f.JSON(t.Context(), c, []byte(request))
		if err != nil {
			return "", string(wire.As(err).Code)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw), ""
	}
	t.Fatalf("no function %s", name)
	return "", ""
}

func decoded[T any](t *testing.T, raw string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range lent(t) {
		if (f.JSON == nil) == (f.Raw == nil) || f.Help == "" || seen[f.Name] || f.Raw == nil && f.Params != 0 {
			t.Errorf("%s: %+v", f.Name, f)
		}
		seen[f.Name] = true
		var want registry.Permission
		switch family, _, _ := strings.Cut(f.Name, "_"); family {
		case "artifact":
			want = registry.PermArtifacts
		case "memory", "plan":
			want = registry.PermMemory
		case "http":
			want = registry.PermNet
		case "vault":
			want = registry.PermVault
		}
		if f.Permission != want {
			t.Errorf("%s needs the permission %q, want %q", f.Name, f.Permission, want)
		}
	}
}

// Requests are written by strangers' modules.
func TestRequestsAreReadStrictly(t *testing.T) {
	table, c := lent(t), newCall("alice")
	bad := []string{"", "x", `{"surprise":1}`, `{} {}`, `{}x`, `[]`, `7`, `{"key":7,"name":7,"category":7,"intent":7,"pack":7,"percent":"x"}`,
		`{"key":"` + strings.Repeat("a", maxRequest) + `"}`}
	for _, f := range table {
		if f.JSON == nil {
			continue
		}
		for _, request := range bad {
			if answer, code := do(t, table, c, f.Name, request); code != "invalid_input" {
				t.Errorf("%s of %.40q: %s %s", f.Name, request, answer, code)
			}
		}
	}
}

func TestArtifacts(t *testing.T) {
	table, alice, bob := lent(t), newCall("alice"), newCall("bob")
	raw, code := do(t, table, alice, "artifact_put", `{"name":"a.txt","text":"hello"}`)
	if code != "" {
		t.Fatal(code)
	}
	a := decoded[wire.Artifact](t, raw)
	if !strings.HasPrefix(a.Key, "test.pack/") || a.Size != 5 || a.URL == "" {
		t.Errorf("stored %+v", a)
	}
	if in := alice.Artifacts(); len(in) != 1 || in[0].Key != a.Key {
		t.Errorf("the call knows of %+v", in)
	}
	raw, code = do(t, table, alice, "artifact_get", `{"key":"`+a.Key+`"}`)
	if code != "" {
		t.Fatal(code)
	}
	got := decoded[wire.ArtifactContent](t, raw)
	if body, ok := alice.Blobs.Get(got.Blob.ID); !ok || string(body) != "hello" || got.Entry.Key != a.Key || got.Blob.Size != 5 {
		t.Errorf("read %q: %+v", body, got)
	}
	if _, code := do(t, table, bob, "artifact_get", `{"key":"`+a.Key+`"}`); code != "artifact_not_found" {
		t.Errorf("another subject's artifact: %q", code)
	}
	for subject, want := range map[*engine.Call]int{alice: 1, bob: 0} {
		raw, code := do(t, table, subject, "artifact_list", `{"limit":10}`)
		if page := decoded[wire.ArtifactPage](t, raw); code != "" || page.Artifacts == nil || len(page.Artifacts) != want {
			t.Errorf("%s sees %s %s", subject.Caller.Subject, raw, code)
		}
	}
}

func TestPutRefusals(t *testing.T) {
	table, c := lent(t), newCall("alice")
	for _, request := range []string{
		`{"name":"a.txt"}`,
		`{"name":"a.txt","text":"a","blob":{"$blob":1,"size":1}}`,
		`{"name":"a.txt","blob":{"$blob":1,"size":1}}`,
		`{"name":"a.txt","blob":{"$blob":-1,"size":1}}`,
		`{"name":"a.txt","text":"a","pack":"other.pack"}`,
		`{"name":"a.txt","text":"a","owner":"bob"}`,
		`{"name":"a\u0000.txt","text":"a"}`,
	} {
		if answer, code := do(t, table, c, "artifact_put", request); code != "invalid_input" {
			t.Errorf("%s: %s %s", request, answer, code)
		}
	}
	if n := len(c.Artifacts()); n != 0 {
		t.Errorf("refused requests stored %d artifacts", n)
	}
	for range maxArtifacts {
		c.AddArtifact(wire.Artifact{})
	}
	if _, code := do(t, table, c, "artifact_put", `{"name":"a.txt","text":"a"}`); code != "artifact_failed" {
		t.Errorf("artifact %d of a call: %q", maxArtifacts+1, code)
	}
}

func TestMemory(t *testing.T) {
	table, alice, bob := lent(t), newCall("alice"), newCall("bob")
	steps := []struct {
		c                        *engine.Call
		name, request, has, code string
	}{
		{alice, "memory_get", `{"category":"c","key":"k"}`, `null`, ""},
		{alice, "memory_put", `{"category":"c","key":"k","value":{"a":1},"ttl_seconds":60}`, `"expires_at"`, ""},
		{alice, "memory_get", `{"category":"c","key":"k"}`, `{"a":1}`, ""},
		{bob, "memory_get", `{"category":"c","key":"k"}`, `null`, ""},
		{bob, "memory_list", `{"category":"c"}`, `{"memories":[]}`, ""},
		{bob, "memory_delete", `{"category":"c"}`, `{"deleted":0}`, ""},
		{alice, "memory_list", `{"category":"c"}`, `"key":"k"`, ""},
		{alice, "memory_list", `{"category":"c","key":"k"}`, "", "invalid_input"},
		{alice, "memory_put", `{"category":"c","key":"k","value":1,"ttl_seconds":-1}`, "", "invalid_input"},
		{alice, "memory_delete", `{"category":"c","key":"k"}`, `{"deleted":1}`, ""},
		{alice, "plan_put", `{"intent":"a","steps":["b"]}`, `"intent_sha":"ca978112`, ""},
		{alice, "plan_put", `{"intent":"","steps":["b"]}`, "", "invalid_input"},
		{alice, "progress", `{"percent":1e300,"message":"half"}`, `{}`, ""},
	}
	for _, s := range steps {
		if answer, code := do(t, table, s.c, s.name, s.request); code != s.code || !strings.Contains(answer, s.has) {
			t.Errorf("%s of %s for %s: %s %s", s.name, s.request, s.c.Caller.Subject, answer, code)
		}
	}
}

// A cancelled call must not store anything any more.
func TestCancelled(t *testing.T) {
	table, c := lent(t), newCall("alice")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range table {
		if f.Name != "artifact_put" {
			continue
		}
		if _, err := f.JSON(ctx, c, []byte(`{"name":"a.txt","text":"a"}`)); err == nil || len(c.Artifacts()) != 0 {
			t.Errorf("%v, %d artifacts", err, len(c.Artifacts()))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"a","blob":{"$blob":1,"size":2}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := decode[wire.ArtifactPut](raw)
		var e *wire.Error
		if err != nil && (!errors.As(err, &e) || e.Code != wire.InvalidInput) {
			t.Errorf("%v", err)
		}
	})
}
