package imports

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/host/wasm"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

const (
	apiKey   = "s3cr3t/+key=with&odd chars"
	password = "pass\"word<1>"
)

// web is what the tests of http_send start from: a pack that may do all, and a vault with a key and a login for this machine.
type web struct {
	t     testing.TB
	table []wasm.Function
	call  *engine.Call
}

func newWeb(t testing.TB, change func(*Services)) *web {
	t.Helper()
	s := services(t)
	if change != nil {
		change(&s)
	}
	w := &web{t: t, table: Table(s), call: newCall("alice")}
	w.call.Pack.Permissions = &registry.Permissions{Net: []string{"*"}, Vault: []string{"key", "login", "elsewhere", "lines"}}
	login, err := json.Marshal(map[string]string{"username": "ann", "password": password})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []vault.New{
		{Name: "key", Type: vault.TypeAPIKey, HostPattern: "127.0.0.1", Plaintext: []byte(apiKey + "\n")},
		{Name: "login", Type: vault.TypeLogin, HostPattern: "127.0.0.1", Plaintext: login},
		{Name: "elsewhere", Type: vault.TypeAPIKey, HostPattern: "api.acme.test", Plaintext: []byte("another secret")},
		{Name: "lines", Type: vault.TypeAPIKey, HostPattern: "*", Plaintext: []byte("two\r\nX-Evil: lines")},
	} {
		if _, err := s.Network.Vault.Create(t.Context(), w.call.Caller, n); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// send makes a request and returns its answer, or its error.
func (w *web) send(r wire.HTTPRequest) (wire.HTTPResponse, error) {
	w.t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range w.table {
		if f.Name == "http_send" {
			v, err := f.JSON(w.t.Context(), w.call, raw)
			if err != nil {
				return wire.HTTPResponse{}, err
			}
			return v.(wire.HTTPResponse), nil
		}
	}
	w.t.Fatal("no http_send")
	return wire.HTTPResponse{}, nil
}

func (w *web) mustSend(r wire.HTTPRequest) wire.HTTPResponse {
	w.t.Helper()
	resp, err := w.send(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// refused wants an error with a code and a text, and no secret in it.
func (w *web) refused(r wire.HTTPRequest, code wire.Code, says string) {
	w.t.Helper()
	resp, err := w.send(r)
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, says) {
		w.t.Errorf("answered %+v, %v; want %s …%s…", resp, err, code, says)
	}
	if err != nil && (strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "another secret")) {
		w.t.Errorf("the error tells a secret: %v", err)
	}
}

// seen is a request as a server gets it.
type seen struct {
	method, query, body string
	header              http.Header
	length              int64
}

// upstream remembers the requests to it.
func upstream(t testing.TB, answer http.HandlerFunc) (*httptest.Server, *[]seen) {
	t.Helper()
	var all []seen
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all = append(all, seen{r.Method, r.URL.RawQuery, string(body), r.Header, r.ContentLength})
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &all
}

func ok(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") }

func TestSend(t *testing.T) {
	w := newWeb(t, nil)
	server, all := upstream(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Add("Set-Cookie", "session=abc; Path=/")
		rw.WriteHeader(http.StatusTeapot)
		fmt.Fprint(rw, "short and stout")
	})
	text := "hello"
	resp := w.mustSend(wire.HTTPRequest{Method: "POST", URL: server.URL + "/pot?a=b", Headers: map[string]string{"x-tea": "green"}, Body: &text})
	if resp.Status != 418 || resp.Body != "short and stout" || resp.Size != 15 || resp.Truncated || resp.URL != server.URL+"/pot?a=b" {
		t.Errorf("%+v", resp)
	}
	if c := resp.Headers["Set-Cookie"]; len(c) != 1 || strings.Contains(c[0], "abc") || !strings.HasPrefix(c[0], "session=") {
		t.Errorf("Set-Cookie %q", c)
	}
	got := (*all)[0]
	if got.method != "POST" || got.body != text || got.length != 5 || got.header.Get("X-Tea") != "green" || got.header.Get("User-Agent") != userAgent {
		t.Errorf("%+v", got)
	}
	resp = w.mustSend(wire.HTTPRequest{URL: server.URL, AsBlob: true})
	if data, found := w.call.Blobs.Get(resp.Blob.ID); !found || string(data) != "short and stout" || resp.Body != "" {
		t.Errorf("%+v", resp)
	}
}

func TestSendRefused(t *testing.T) {
	w := newWeb(t, nil)
	server, all := upstream(t, ok)
	text, blob := "x", wire.BlobRef{ID: 99}
	header := func(name, value string) wire.HTTPRequest {
		return wire.HTTPRequest{URL: server.URL, Headers: map[string]string{name: value}}
	}
	auth := func(credential, as string) wire.HTTPRequest {
		return wire.HTTPRequest{URL: server.URL, Auth: []wire.HTTPAuth{{Credential: credential, As: as}}}
	}
	for says, r := range map[string]wire.HTTPRequest{
		"url is not a URL": {URL: "example"}, "only http": {URL: "ftp://a.test/"}, "metadata": {URL: "http://169.254.169.254/latest/"},
		"loopback": {URL: "http://127.0.0.2/"}, "private": {URL: "http://10.1.2.3/"}, "user and password": {URL: "http://a:b@127.0.0.1/"},
		"query:NAME": {URL: server.URL + "/?k=${vault:key}"}, "method is": {URL: server.URL, Method: "TRACE"},
		"must not be negative": {URL: server.URL, TimeoutMS: -1}, "has no body": {URL: server.URL, Body: &text},
		"exclude each other": {URL: server.URL, Method: "POST", Body: &text, BodyBlob: &blob}, "no blob 99": {URL: server.URL, Method: "PUT", BodyBlob: &blob},
		"set by the service": header("host", "evil.test"), "Transfer-Encoding is set": header("Transfer-Encoding", "chunked"),
		"line break": header("X-A", "a\r\nX-Evil: b"), "name of a header": header("X A", "b"), "does not end": header("X-A", "${vault:key"),
		"exactly one of text and blob": {URL: server.URL, Method: "POST", Form: []wire.FormPart{{Name: "a"}}},
		"not a MIME type":              {URL: server.URL, Method: "POST", Form: []wire.FormPart{{Name: "a", Text: &text, ContentType: "text/plain\r\nX-Evil: b"}}},
		"as is":                        auth("key", "header:"), "cannot hold a credential": auth("key", "header:Host"),
		"several lines":    auth("lines", "bearer"),
		"leave the header": {URL: server.URL, Headers: map[string]string{"Range": "bytes=0-3"}, Auth: []wire.HTTPAuth{{Credential: "key", As: "bearer"}}},
	} {
		w.refused(r, wire.InvalidInput, says)
	}
	w.refused(auth("elsewhere", "bearer"), wire.InvalidInput, "")
	w.refused(auth("login", "bearer"), wire.InvalidInput, "")
	w.refused(auth("unknown", "bearer"), wire.HandlerFailed, "permissions.vault")
	w.refused(header("X-A", "${vault:unknown}"), wire.HandlerFailed, "permissions.vault")
	w.call.Pack.Permissions.Vault = []string{"input:credential"}
	w.refused(auth("key", "bearer"), wire.HandlerFailed, "permissions.vault")
	w.call.Input = map[string]any{"credential": "unknown"}
	w.refused(auth("unknown", "bearer"), wire.InvalidInput, "")
	w.call.Pack.Permissions.Net = []string{"api.acme.test", "*.example.test"}
	w.refused(wire.HTTPRequest{URL: server.URL}, wire.HandlerFailed, "permissions.net")
	if len(*all) > 0 {
		t.Errorf("the server was asked all the same: %+v", *all)
	}
}

func TestCredentials(t *testing.T) {
	w := newWeb(t, nil)
	server, all := upstream(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Echo", r.Header.Get("Authorization")+r.Header.Get("X-Key"))
		rw.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(rw, "%s %q %s", r.URL, r.Header, r.URL.Query().Get("key"))
	})
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for as, tt := range map[string]struct {
		credential string
		want       func(s seen) bool
	}{
		"bearer":       {"key", func(s seen) bool { return s.header.Get("Authorization") == "Bearer "+apiKey }},
		"basic":        {"login", func(s seen) bool { return s.header.Get("Authorization") == basic("ann:"+password) }},
		"header:x-key": {"key", func(s seen) bool { return s.header.Get("X-Key") == apiKey }},
		"query:key":    {"key", func(s seen) bool { return s.query == "a=b&key=s3cr3t%2F%2Bkey%3Dwith%26odd+chars" }},
	} {
		*all = nil
		resp := w.mustSend(wire.HTTPRequest{URL: server.URL + "/x?key=fake&a=b", Auth: []wire.HTTPAuth{{Credential: tt.credential, As: as}}})
		if len(*all) != 1 || !tt.want((*all)[0]) {
			t.Errorf("%s: the server got %+v", as, *all)
		}
		raw, _ := json.Marshal(resp)
		for _, secret := range []string{apiKey, password, "s3cr3t%2F", base64.StdEncoding.EncodeToString([]byte(apiKey)), basic("ann:" + password)[6:], `pass\"word`} {
			if strings.Contains(resp.Body+resp.URL+fmt.Sprint(resp.Headers)+string(raw), secret) {
				t.Errorf("%s: %q is in %s", as, secret, raw)
			}
		}
	}
	*all = nil
	w.mustSend(wire.HTTPRequest{URL: server.URL, Headers: map[string]string{"Authorization": "Token ${vault:key}, ${vault:key}"}})
	if got := (*all)[0].header.Get("Authorization"); got != "Token "+apiKey+", "+apiKey {
		t.Errorf("placeholder: %q", got)
	}
}

// What is known of a host stays with that host, whatever redirects say.
func TestRedirects(t *testing.T) {
	w := newWeb(t, nil)
	var first, second *httptest.Server
	var atFirst, atSecond *[]seen
	first, atFirst = upstream(t, func(rw http.ResponseWriter, r *http.Request) {
		to := map[string]string{"/same": "/end", "/other": second.URL + "/end", "/round": second.URL + "/back", "/loop": "/loop", "/inside": "http://169.254.169.254/",
			"/leak": second.URL + "/?stolen=" + r.Header.Get("Authorization")}[r.URL.Path]
		if to == "" {
			ok(rw, r)
			return
		}
		status := 302
		if r.URL.Query().Has("keep") {
			status = 307
		}
		rw.Header().Set("Location", strings.ReplaceAll(to, " ", "%20"))
		rw.WriteHeader(status)
	})
	second, atSecond = upstream(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(rw, r, first.URL+"/end", http.StatusFound)
			return
		}
		ok(rw, r)
	})
	text := "body"
	ask := func(method, path string) wire.HTTPRequest {
		r := wire.HTTPRequest{Method: method, URL: first.URL + path, Headers: map[string]string{"X-Api-Key": "literal", "X-Vault": "${vault:key}", "Accept": "a/b"},
			Auth: []wire.HTTPAuth{{Credential: "key", As: "bearer"}, {Credential: "key", As: "query:key"}}}
		if method == "POST" {
			r.Body = &text
		}
		return r
	}
	clean := func(s seen) bool {
		return s.header.Get("Authorization")+s.header.Get("X-Api-Key")+s.header.Get("X-Vault") == "" && !strings.Contains(s.query, "key=") && s.header.Get("Accept") == "a/b"
	}
	resp := w.mustSend(ask("POST", "/same"))
	if s := (*atFirst)[1]; resp.URL != first.URL+"/end" || s.method != "GET" || s.body != "" || s.header.Get("Authorization") == "" || !strings.Contains(s.query, "key=") {
		t.Errorf("same host: %+v %+v", resp, s)
	}
	w.mustSend(ask("POST", "/other?keep"))
	if s := (*atSecond)[0]; !clean(s) || s.method != "POST" || s.body != text {
		t.Errorf("another host got %+v", s)
	}
	*atFirst = nil
	w.mustSend(ask("GET", "/round"))
	if s := (*atFirst)[1]; !clean(s) {
		t.Errorf("back again, the first host got %+v", s)
	}
	*atSecond = nil
	w.refused(ask("GET", "/leak"), wire.HandlerFailed, "credential in the address")
	w.refused(ask("GET", "/loop"), wire.InvalidInput, "redirect")
	w.refused(ask("GET", "/inside"), wire.InvalidInput, "metadata")
	if len(*atSecond) > 0 {
		t.Errorf("another host got %+v", *atSecond)
	}
	w.call.Pack.Permissions.Net = []string{strings.TrimPrefix(first.URL, "http://")}
	w.refused(ask("GET", "/other"), wire.HandlerFailed, "permissions.net")
}

func TestForm(t *testing.T) {
	w := newWeb(t, nil)
	var got = map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		form, err := r.MultipartReader()
		for err == nil {
			var part interface {
				io.Reader
				FormName() string
				FileName() string
			}
			if part, err = form.NextPart(); err == nil {
				body, _ := io.ReadAll(part)
				got[part.FormName()] = part.FileName() + "|" + string(body)
			}
		}
	}))
	defer server.Close()
	ref, err := w.call.Blobs.Add([]byte{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	text := "a\r\n--x"
	w.mustSend(wire.HTTPRequest{Method: "POST", URL: server.URL, Form: []wire.FormPart{
		{Name: `odd"name`, Text: &text}, {Name: "file", Filename: "a.bin", ContentType: "application/x-a", Blob: &ref},
	}})
	if want := map[string]string{`odd%22name`: "|" + text, "file": "a.bin|\x00\x01\x02"}; !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A pack that names the setting speaks to the service as its caller; another one meets the guard.
func TestOwnService(t *testing.T) {
	server, all := upstream(t, ok)
	base := strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // which the guard refuses
	w := newWeb(t, func(s *Services) {
		s.Network.Setting = func(name string) (string, bool) { return base, name == ownSetting }
	})
	w.refused(wire.HTTPRequest{URL: base}, wire.InvalidInput, "localhost")
	w.call.Pack.Permissions.Net = []string{"setting:" + ownSetting}
	w.mustSend(wire.HTTPRequest{URL: base + "/x"})
	w.mustSend(wire.HTTPRequest{URL: base + "/x", Headers: map[string]string{"Authorization": "Bearer mine"}})
	if got := (*all)[0].header.Get("Authorization") + (*all)[1].header.Get("Authorization"); got != "Bearer delegated-to-aliceBearer mine" {
		t.Errorf("the service got %q", got)
	}
	w.refused(wire.HTTPRequest{URL: server.URL}, wire.HandlerFailed, "permissions.net")
}
