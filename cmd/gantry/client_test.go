package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upstream answers every request with one status and body, and keeps what it was sent.
type upstream struct {
	*httptest.Server
	status int
	body   string
	token  string
	sent   string
	path   string
}

func newUpstream(t *testing.T, status int, body string) *upstream {
	u := &upstream{status: status, body: body}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		u.sent, u.path, u.token = string(b), r.URL.EscapedPath(), r.Header.Get("Authorization")
		if u.status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(u.status)
		io.WriteString(w, u.body)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) session(t *testing.T) *session {
	s := newSession(t)
	s.env["GANTRY_URL"], s.env["GANTRY_TOKEN"] = u.URL, "sesame"
	return s
}

const envelope = `{"pack":"a.b","output":{"n":1.50,"s":"é"},"duration_ms":1}`

func TestCallPrints(t *testing.T) {
	for _, c := range []struct{ flag, want string }{
		{"", "{\n  \"pack\": \"a.b\",\n  \"output\": {\n    \"n\": 1.50,\n    \"s\": \"é\"\n  },\n  \"duration_ms\": 1\n}\n"},
		{"--output", "{\n  \"n\": 1.50,\n  \"s\": \"é\"\n}\n"},
		{"--raw", envelope},
	} {
		s := newUpstream(t, 200, envelope).session(t)
		s.want(t, exitOK, strings.Fields("call a.b "+c.flag))
		if s.out.String() != c.want {
			t.Errorf("call %s printed %q, want %q", c.flag, s.out.String(), c.want)
		}
	}
}

func TestCallInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(file, []byte(`{"file":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	u := newUpstream(t, 200, envelope)
	s := u.session(t)
	s.in = `{"stdin":1}`
	for arg, want := range map[string]string{"": "{}", "-": s.in, "@" + file: `{"file":1}`, `{"arg":1}`: `{"arg":1}`} {
		args := []string{"call", "a.b"}
		if arg != "" {
			args = append(args, arg)
		}
		s.want(t, exitOK, args)
		if u.sent != want || u.token != "Bearer sesame" {
			t.Errorf("call a.b %s sent %q with %q, want %q", arg, u.sent, u.token, want)
		}
	}
	s.want(t, exitUsage, []string{"call", "a.b", "@" + file + ".not"}, "reading the input")
	s.want(t, exitOK, []string{"call", "../auth/tokens?x"})
	if u.path != "/api/v1/packs/..%2Fauth%2Ftokens%3Fx" {
		t.Errorf("a pack's name left its place in the path: %s", u.path)
	}
}

func TestCallFails(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		said   string
	}{
		{400, `{"error":"invalid_input","message":"who is empty"}`, "a.b: invalid_input: who is empty\n"},
		{400, `{"error":"invalid_input","message":"\u001b[2Jgone"}`, "a.b: invalid_input: [2Jgone\n"},
		{502, `<html>`, "answered 502 Bad Gateway: is it Gantry?"},
		{307, ``, "answered 307 Temporary Redirect"},
		{200, `hello`, "not JSON"},
	} {
		s := newUpstream(t, c.status, c.body).session(t)
		s.want(t, exitFailed, []string{"call", "a.b"}, c.said)
	}
	s := newSession(t)
	s.env["GANTRY_URL"], s.env["GANTRY_TOKEN"] = "http://127.0.0.1:1", "sesame"
	s.want(t, exitFailed, []string{"call", "a.b"}, "start it with gantry serve")
}

// A token made with this machine's key is an administrator's: no other machine may get one.
func TestLocalTokenStaysHere(t *testing.T) {
	for url, here := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:8080": true,
		"http://example.com": false, "http://10.0.0.1": false, "http://127.0.0.1.example.com": false,
		"http://localhost.example.com": false, "http://0.0.0.0:8080": false, "http://127.0.0.1@example.com": false,
	} {
		if got := loopback(url); got != here {
			t.Errorf("loopback(%q) = %v", url, got)
		}
	}
	s := newSession(t)
	s.env["GANTRY_URL"] = "http://example.com"
	s.want(t, exitUsage, []string{"call", "a.b"}, "set GANTRY_TOKEN")
}

func TestTokenCommands(t *testing.T) {
	u := newUpstream(t, 201, `{"id":"t1","token":"abc"}`)
	s := u.session(t)
	s.want(t, exitOK, strings.Fields("token mint --name ci --scopes packs:call,packs:read --ttl 30d"))
	if s.out.String() != "abc\n" || u.sent != `{"name":"ci","scopes":["packs:call","packs:read"],"ttl":"30d"}` {
		t.Errorf("mint printed %q and sent %s", s.out.String(), u.sent)
	}
	u.body = `{"tokens":[{"id":"t1","name":"ci","subject":"admin","scopes":["packs:call"],"expires_at":"2030-01-02T03:04:05Z"}]}`
	s.want(t, exitOK, strings.Fields("token list"), "t1", "packs:call", "2030")
	u.body, u.status = "", 204
	s.want(t, exitOK, strings.Fields("token revoke t1"), "revoked t1")
	if u.path != "/api/v1/auth/tokens/t1" {
		t.Errorf("revoke asked for %s", u.path)
	}
}
