package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// head is the beginning of a raw request, up to the headers that the test adds.
func head(method, path, token string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n", method, path, token)
}

func TestBodySizes(t *testing.T) {
	s := start(t)
	admin := s.admin()
	for _, path := range []string{"/api/v1/packs/test.echo", "/api/v1/auth/tokens", "/api/v1/auth/login"} {
		limit := maxJSONBody
		if strings.Contains(path, "packs") {
			limit = maxPackBody
		}
		// Announced: refused without a byte of it being sent or asked for, and the connection is closed.
		got := s.raw(head("POST", path, admin) + fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", limit+1))
		if !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, "body_too_large") || !strings.Contains(got, "Connection: close") {
			t.Errorf("%s, too much announced: %.300s", path, got)
		}
		// Not announced: read up to the limit and no further.
		req, err := http.NewRequest("POST", s.url+path, io.MultiReader(strings.NewReader(`{"text":"`), io.LimitReader(endless{}, 64<<20)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+admin)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s, chunked: %v", path, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("%s, chunked: %d", path, resp.StatusCode)
		}
	}
	full := `{"text":"` + strings.Repeat("x", maxPackBody-len(`{"text":""}`)) + `"}`
	if a := s.want(200, "", "POST", "/api/v1/packs/test.echo", admin, full); len(a.body) < maxPackBody {
		t.Errorf("a body of exactly the limit came back as %d bytes", len(a.body))
	}
}

// endless is a reader of x without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestBrokenBodies(t *testing.T) {
	s := start(t)
	admin := s.admin()
	for name, c := range map[string]struct{ rest, want string }{
		"half sent":                {"Content-Length: 100\r\n\r\n{\"text\":", "invalid_json"},
		"half a chunk":             {"Transfer-Encoding: chunked\r\n\r\n64\r\n{\"text\":", "invalid_json"},
		"a chunk that is none":     {"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", "invalid_json"},
		"negative Content-Length":  {"Content-Length: -1\r\n\r\n{}", "400 Bad Request"},
		"two Content-Lengths":      {"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "400 Bad Request"},
		"an unknown coding":        {"Transfer-Encoding: gzip\r\n\r\n{}", "501 "},
		"Content-Length too short": {"Content-Length: 1\r\n\r\n{}", "invalid_json"},
		"headers over the limit":   {"X-Long: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", "431 "},
	} {
		for _, path := range []string{"/api/v1/packs/test.echo", "/api/v1/auth/tokens"} {
			if got := s.halfClosed(head("POST", path, admin) + c.rest); !strings.Contains(got, c.want) {
				t.Errorf("%s to %s: %.300q; want %s", name, path, got, c.want)
			}
		}
	}
}

// halfClosed sends a request and closes the sending side, as a caller does who breaks off.
func (s *service) halfClosed(request string) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(serveTimeout)); err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.WriteString(conn, request) // the server may have closed already
	_ = conn.(*net.TCPConn).CloseWrite()
	var got bytes.Buffer
	_, _ = io.Copy(&got, conn)
	return got.String()
}

func TestStalledBody(t *testing.T) {
	s := start(t, func(h *host.Host) http.Handler {
		d := newDoor(h, routes(h, ""))
		d.pace = pace{idle: 50 * time.Millisecond, start: time.Hour, rest: 50 * time.Millisecond, rate: 1}
		return d
	})
	admin := s.admin()
	for _, path := range []string{"/api/v1/packs/test.echo", "/api/v1/auth/tokens"} {
		got := s.raw(head("POST", path, admin) + "Content-Length: 100\r\n\r\n{\"text\":")
		if !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, `"timeout"`) {
			t.Errorf("%s: %.300q", path, got)
		}
	}
	got := s.raw(head("POST", "/api/v1/artifacts", admin) + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\nContent-Disposition: form-data; name=file\r\n\r\nx")
	if !strings.HasPrefix(got, "HTTP/1.1 408 ") {
		t.Errorf("upload: %.300q", got)
	}
	// A body that nobody asked for must not hold the connection either.
	if got := s.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("healthz with a body that never comes: %.300q", got)
	}
}

func TestBodyBelowTheRate(t *testing.T) {
	ended := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := newPaced(r, http.NewResponseController(w), pace{idle: time.Hour, start: 50 * time.Millisecond, rate: 1 << 40})
		_, err := io.Copy(io.Discard, body)
		ended <- err
	}))
	defer srv.Close()
	go func() { // always a byte more, never all of them; the server is the one who ends it
		resp, err := http.Post(srv.URL, jsonType, io.MultiReader(endless{}))
		if err == nil {
			resp.Body.Close()
		}
	}()
	if err := <-ended; !errors.Is(err, errStalled) {
		t.Errorf("the slow body ended with %v", err)
	}
}

func TestBodiesTogetherAreBounded(t *testing.T) {
	const room = 5 << 20
	b := &bodies{room: semaphore.NewWeighted(room)}
	read := func(size int) (func(), error) {
		r := httptest.NewRequestWithContext(context.Background(), "POST", "/", bytes.NewReader(make([]byte, size)))
		raw, release, err := b.read(r, maxPackBody)
		if err == nil && len(raw) != size {
			t.Errorf("%d bytes of %d were read", len(raw), size)
		}
		return release, err
	}
	first, err := read(3 << 20)
	if err != nil {
		t.Fatal(err)
	}
	second, err := read(3 << 20)
	if e := wire.As(err); e == nil || e.Code != wire.Overloaded {
		t.Errorf("the second large body: %v, want overloaded", err)
	}
	second()
	if release, err := read(freeBody - 1); err != nil {
		t.Errorf("a small body beside them: %v", err)
	} else {
		release()
	}
	first()
	third, err := read(4 << 20)
	if err != nil {
		t.Errorf("after the first was released: %v", err)
	}
	third()
	if !b.room.TryAcquire(room) {
		t.Error("room was lost")
	}
}

func TestContentTypes(t *testing.T) {
	s := start(t)
	admin := s.admin()
	for kind, ok := range map[string]bool{
		"": true, "application/json": true, "application/json; charset=utf-8": true, "APPLICATION/JSON": true,
		"text/plain": false, "application/x-www-form-urlencoded": false, ";;;": false, "application/jsonx": false, "multipart/form-data; boundary=b": false,
	} {
		a := s.do("POST", "/api/v1/packs/test.echo", admin, "{}", "Content-Type: "+kind)
		if (a.status == 200) != ok || !ok && (a.status != 415 || !strings.Contains(string(a.body), jsonType)) {
			t.Errorf("%q: %d %s", kind, a.status, a.body)
		}
	}
	s.want(415, wire.UnsupportedMedia, "POST", "/api/v1/packs/test.echo", admin, "{}", "Content-Encoding: gzip")
	for _, kind := range []string{"", jsonType} {
		a := s.want(415, wire.UnsupportedMedia, "POST", "/api/v1/artifacts", admin, "{}", "Content-Type: "+kind)
		if !strings.Contains(string(a.body), uploadType) {
			t.Errorf("%s does not name %s", a.body, uploadType)
		}
	}
}

func TestBadJSON(t *testing.T) {
	s := start(t)
	admin := s.admin()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for body, code := range map[string]wire.Code{
		`{"name":`: wire.InvalidJSON, `{} {}`: wire.InvalidJSON, `{"a":1,"a":2}`: wire.InvalidJSON, `{"a":1,"\u0061":2}`: wire.InvalidJSON,
		"{\"a\":\"\xff\"}": wire.InvalidJSON, "{}\x00": wire.InvalidJSON, deep: wire.InvalidJSON, `{"a":` + deep + `}`: wire.InvalidJSON,
		`[]`: wire.InvalidInput, `"x"`: wire.InvalidInput, `null`: wire.InvalidInput, `7`: wire.InvalidInput,
	} {
		s.want(400, code, "POST", "/api/v1/packs/test.echo", admin, body)
		s.want(400, code, "POST", "/api/v1/auth/tokens", admin, body)
		s.want(400, code, "POST", "/api/v1/auth/login", "", body)
	}
	for body, word := range map[string]string{
		`{"name":"a","scopes":["packs:read"],"tll":"1h"}`:  "tll",
		`{"Name":"a","scopes":["packs:read"]}`:             "Name",
		`{"name":7,"scopes":["packs:read"]}`:               "name",
		`{"name":"a","scopes":"packs:read"}`:               "scopes",
		`{"name":"a","scopes":[7]}`:                        "scopes/0",
		`{"name":"a","scopes":["packs:read"],"ttl":null}`:  "ttl",
		`{"name":"a","scopes":["packs:read"],"client":{}}`: "client",
	} {
		a := s.want(400, wire.InvalidInput, "POST", "/api/v1/auth/tokens", admin, body)
		if !strings.Contains(string(a.body), word) || strings.Contains(string(a.body), "Go ") {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	s.want(400, wire.InvalidJSON, "POST", "/api/v1/auth/login", "", "")
}
