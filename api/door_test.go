package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// fill puts something that doesn't exist in the place of a pattern's placeholders.
func fill(pattern string) string { return placeholder.ReplaceAllString(pattern, "none") }

func TestEveryRouteDemandsSomething(t *testing.T) {
	s := start(t)
	stranger := s.token("stranger", "mcp:*")
	for _, rt := range routes(s.host, "") {
		name := rt.method + " " + rt.pattern
		if rt.access.open == (rt.access.scope != "") {
			t.Errorf("%s: it must either be open or demand a scope", name)
		}
		if rt.method != "GET" && rt.action == "" {
			t.Errorf("%s changes something and leaves no audit row", name)
		}
		if rt.access.open {
			if a := s.do(rt.method, fill(rt.pattern), "", ""); a.code() == string(wire.Unauthorized) {
				t.Errorf("%s is open and wants a token", name)
			}
			continue
		}
		for _, token := range []string{"", "rubbish", "a.b.c"} {
			a := s.want(401, wire.Unauthorized, rt.method, fill(rt.pattern), token, "{}")
			if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s: WWW-Authenticate is %q", name, a.header.Get("WWW-Authenticate"))
			}
		}
		a := s.want(403, wire.Forbidden, rt.method, fill(rt.pattern), stranger, "{}")
		if !strings.Contains(string(a.body), rt.access.scope) {
			t.Errorf("%s: %s does not name the scope %s", name, a.body, rt.access.scope)
		}
	}
}

func TestBearer(t *testing.T) {
	s := start(t)
	good := s.token("reader", "packs:read")
	for name, c := range map[string]struct {
		header string
		status int
	}{
		"bearer":       {"Bearer " + good, 200},
		"lower case":   {"bearer " + good, 200},
		"two tokens":   {"Bearer " + good + ", Bearer " + good, 401},
		"no scheme":    {good, 401},
		"basic":        {"Basic YWRtaW46eA==", 401},
		"empty":        {"Bearer ", 401},
		"only scheme":  {"Bearer", 401},
		"long rubbish": {"Bearer " + strings.Repeat(".", 20_000), 401},
	} {
		if a := s.do("GET", "/api/v1/packs", "", "", "Authorization: "+c.header); a.status != c.status {
			t.Errorf("%s: %d, want %d", name, a.status, c.status)
		}
	}
	if got := s.raw("GET /api/v1/packs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + good + "\r\nAuthorization: Bearer " + good + "\r\n\r\n"); !strings.Contains(got, " 401 ") {
		t.Errorf("two Authorization headers: %.100s", got)
	}
}

func TestWrongMethod(t *testing.T) {
	s := start(t)
	for path, allow := range map[string]string{
		"/api/v1/auth/login": "POST", "/api/v1/packs": "GET, HEAD", "/api/v1/packs/x": "GET, HEAD, POST", "/healthz": "GET, HEAD",
		"/api/v1/artifacts": "GET, HEAD, POST", "/api/v1/artifacts/a/b": "GET, HEAD, DELETE", "/api/v1/auth/tokens/1": "DELETE",
	} {
		for _, method := range []string{"PUT", "PATCH", "OPTIONS", "TRACE", "MADEUP"} {
			if a := s.want(405, wire.MethodNotAllowed, method, path, "", ""); a.header.Get("Allow") != allow {
				t.Errorf("%s %s: Allow is %q, want %q", method, path, a.header.Get("Allow"), allow)
			}
		}
	}
	s.want(405, wire.MethodNotAllowed, "DELETE", "/api/v1/artifacts", s.admin(), "") // not a redirect to the trailing slash
}

func TestUnknownAndTrickyPaths(t *testing.T) {
	s := start(t)
	admin := s.admin()
	for path, code := range map[string]wire.Code{
		"/": wire.NotFound, "/api": wire.NotFound, "/api/v1/packs/": wire.NotFound, "/api/v2/packs": wire.NotFound,
		"//": wire.NotFound, "//healthz": wire.NotFound, "/healthz/": wire.NotFound, "/api/v1//packs": wire.NotFound, "/./healthz": wire.NotFound,
		"/api/v1/packs/..":                          wire.NotFound,
		"/api/v1/packs/%2e%2e":                      wire.NotFound,
		"/api/v1/packs/a%2fb":                       wire.NotFound,
		"/api/v1/packs/test.echo%00":                wire.NotFound,
		"/api/v1/packs/test.echo%0d%0aX-Evil:%201":  wire.NotFound,
		"/api/v1/packs/%ff%fe":                      wire.NotFound,
		"/api/v1/packs/test%5cecho":                 wire.NotFound,
		"/api/v1/packs/" + strings.Repeat("a", 8e3): wire.PackNotFound,
		"/api/v1/artifacts/":                        wire.ArtifactNotFound,
		"/api/v1/artifacts/none":                    wire.ArtifactNotFound,
		"/api/v1/artifacts/../../jwt.key":           wire.NotFound,
		"/api/v1/artifacts/%2e%2e/%2e%2e/jwt.key":   wire.NotFound,
		"/api/v1/artifacts/%2e%2e%2f%2e%2e%2fjwt":   wire.NotFound,
		"/api/v1/artifacts/a//b":                    wire.NotFound,
		"/api/v1/artifacts/a%2f%2fb":                wire.NotFound,
		"/api/v1/artifacts/a%00.png":                wire.NotFound,
		"/api/v1/artifacts/%252e%252e/x":            wire.ArtifactNotFound,
		"/api/v1/artifacts//etc/passwd":             wire.NotFound,
		"/api/v1/artifacts/%2fetc%2fpasswd":         wire.NotFound,
	} {
		s.want(404, code, "GET", path, admin, "")
	}
	if got := s.raw("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.Contains(got, " 404 ") {
		t.Errorf("OPTIONS *: %.100s", got)
	}
	if got := s.raw("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n"); !strings.Contains(got, " 404 ") {
		t.Errorf("CONNECT: %.100s", got)
	}
}

func FuzzPlainPath(f *testing.F) {
	for _, seed := range []string{"/", "/a/b", "/a//b", "/a/../b", "/a/%2e", "/a/", "//", "/\x00", "a", "/a\\b", "/./"} {
		f.Add(seed)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", http.NotFound)
	mux.HandleFunc("/a", http.NotFound)
	mux.HandleFunc("/a/{rest...}", http.NotFound)
	f.Fuzz(func(t *testing.T, path string) {
		if !plainPath(path) {
			return
		}
		_, pattern := mux.Handler(&http.Request{Method: "GET", Host: "x", URL: &url.URL{Path: path}})
		if pattern != "/" && pattern != "/a" && pattern != "/a/{rest...}" {
			t.Errorf("%q: the mux would answer by itself (%q)", path, pattern)
		}
	})
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/healthz", "/none", "//", "/api/v1/packs", "/api/v1/openapi.json", "/metrics"} {
		a := s.do("GET", path, "", "")
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if a.header.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, a.header.Get(name))
			}
		}
		if a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", path)
		}
	}
}

func TestRequestID(t *testing.T) {
	s := start(t)
	for id, kept := range map[string]bool{
		"abc": true, "A-b_c.9": true, strings.Repeat("x", 64): true,
		strings.Repeat("x", 65): false, "a b": false, "a/b": false, "<b>": false, "ü": false, "": false,
	} {
		got := s.do("GET", "/healthz", "", "", "X-Request-Id: "+id).header.Get("X-Request-Id")
		if (got == id) != kept || got == "" {
			t.Errorf("id %q: answered %q, kept %v is wanted", id, got, kept)
		}
	}
	for _, evil := range []string{"a\rX-Evil: 1", "a\r\n X-Evil: 1", "a\nX-Evil: 1", "a\x00b"} {
		got := s.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: " + evil + "\r\n\r\n")
		head, _, _ := strings.Cut(got, "\r\n\r\n")
		if strings.Contains(head, "Evil") || strings.Contains(head, "\x00") {
			t.Errorf("id %q came back: %q", evil, head)
		}
	}
}

func TestPanic(t *testing.T) {
	panics := func(w http.ResponseWriter, r *http.Request) { panic("secret words") }
	late := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("the beginning"))
		panic("secret words")
	}
	s := start(t, func(h *host.Host) http.Handler {
		return newDoor(h, []route{
			{"POST", "/panics", public, "test.panic", doc{}, panics},
			{"GET", "/late", public, "", doc{}, late},
			{"GET", "/fine", public, "", doc{}, healthz},
		})
	})
	a := s.want(500, wire.Internal, "POST", "/panics", "", "")
	if strings.Contains(string(a.body), "secret") || strings.Contains(string(a.body), "goroutine") {
		t.Errorf("the panic's words reached the caller: %s", a.body)
	}
	if a.header.Get("X-Request-Id") == "" || !strings.Contains(s.log.String(), "secret words") {
		t.Error("the log does not tell of the panic")
	}
	if rows := s.rows(); len(rows) != 1 || rows[0].Error != "internal" {
		t.Errorf("audit rows of the panic: %+v", rows)
	}
	resp, err := http.Get(s.url + "/late")
	if err == nil {
		_, err = resp.Body.Read(make([]byte, 200))
		for err == nil {
			_, err = resp.Body.Read(make([]byte, 200))
		}
		resp.Body.Close()
	}
	if err == nil || err.Error() == "EOF" {
		t.Errorf("half an answer looked like a whole one (%v)", err)
	}
	s.want(200, "", "GET", "/fine", "", "")
}

func TestMetricsHaveNoCallersWords(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/wp-admin.php", "/api/v1/packs/some.pack", "/api/v1/artifacts/some/key"} {
		s.do("BREW", path, "", "")
		s.do("GET", path, s.admin(), "")
	}
	text := string(s.want(200, "", "GET", "/metrics", "", "").body)
	for _, word := range []string{"wp-admin", "some", "BREW"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in the metrics", word)
		}
	}
	for _, series := range []string{`route="/api/v1/packs/{name}",status="4xx"`, `method="other",route="unknown"`} {
		if !strings.Contains(text, series) {
			t.Errorf("no series with %s in\n%s", series, text)
		}
	}
}

func TestStatusOfEveryCode(t *testing.T) {
	for code, want := range map[wire.Code]int{
		wire.InvalidInput: 400, wire.InvalidJSON: 400, wire.Unauthorized: 401, wire.Forbidden: 403, wire.NotFound: 404, wire.PackNotFound: 404,
		wire.ArtifactNotFound: 404, wire.TokenNotFound: 404, wire.MethodNotAllowed: 405, wire.SchemaMismatch: 409, wire.BodyTooLarge: 413,
		wire.UnsupportedMedia: 415, wire.RangeInvalid: 416, wire.RateLimited: 429, wire.Canceled: 499, wire.Internal: 500, wire.InvalidOutput: 502,
		wire.HandlerFailed: 502, wire.ArtifactFailed: 502, wire.SessionUnavailable: 503, wire.Overloaded: 503, wire.Timeout: 504, "unheard_of": 500,
	} {
		if got := status(code); got != want {
			t.Errorf("%s is %d, want %d", code, got, want)
		}
	}
}

func TestReadyz(t *testing.T) {
	for state, want := range map[string]int{"ok": 200, "the disk is full": 503} {
		s := start(t, func(h *host.Host) http.Handler {
			ready := func(context.Context) map[string]string { return map[string]string{"engine": "ok", "store": state} }
			return newDoor(h, []route{{"GET", "/readyz", public, "", doc{}, readyz(ready)}})
		})
		if a := s.want(want, "", "GET", "/readyz", "", ""); !strings.Contains(string(a.body), state) {
			t.Errorf("store %q: %s", state, a.body)
		}
	}
}
