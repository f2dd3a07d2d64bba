package hosttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func stormMethods(t *testing.T, s *Server, ops []operation) {
	allowed := map[string][]string{}
	for _, op := range ops {
		allowed[op.url()] = append(allowed[op.url()], op.method)
	}
	for path, methods := range allowed {
		if slices.Contains(methods, "GET") {
			methods = append(methods, "HEAD")
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"} {
			if slices.Contains(methods, method) {
				continue
			}
			a := s.MustDo(method, path, s.AdminToken(), "")
			if err := wellMadeWith(method, a, "method_not_allowed"); method != "HEAD" && err != nil || a.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %v", method, path, errors.Join(err, fmt.Errorf("status %d", a.Status)))
			}
			if got := a.Header.Get("Allow"); !strings.Contains(got, methods[0]) {
				t.Errorf("%s %s: Allow is %q, want %s", method, path, got, methods)
			}
		}
	}
	for _, path := range []string{"/none", "/api/v1/none", "/api/v2/packs", "/api/v1/packs/", "/api/v1/artifacts/../../../etc/passwd", "/%00", "/api/v1/packs/%ff%fe",
		"/api/v1/packs/no.such.pack", "/api/v1/packs/" + strings.Repeat("a", 8000), "/api/v1/artifacts/%2e%2e%2f%2e%2e%2fjwt.key", "//", "/api/v1/auth/tokens/..%2f.."} {
		a := s.MustDo("GET", path, s.AdminToken(), "")
		if err := wellMade("GET", a); err != nil || a.Status < http.StatusMovedPermanently {
			t.Errorf("GET %.60s: %v", path, errors.Join(err, fmt.Errorf("status %d", a.Status)))
		}
	}
}

func stormTokens(t *testing.T, s *Server, ops []operation) {
	good := s.Mint("stranger", "packs:read")
	parts := strings.Split(good, ".")
	none := "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0" // {"alg":"none","typ":"JWT"}
	bad := map[string]string{
		"none":              "",
		"basic":             "Basic YWRtaW46eA==",
		"empty":             "Bearer ",
		"rubbish":           "Bearer rubbish",
		"two dots":          "Bearer ..",
		"algorithm none":    "Bearer " + none + "." + parts[1] + ".",
		"none, signed":      "Bearer " + none + "." + parts[1] + "." + parts[2],
		"other payload":     "Bearer " + parts[0] + "." + parts[1] + "A." + parts[2],
		"no signature":      "Bearer " + parts[0] + "." + parts[1] + ".",
		"very long":         "Bearer " + strings.Repeat("a", 30_000),
		"twice":             "Bearer " + good + ", Bearer " + good,
		"long, many points": "Bearer " + strings.Repeat(".", 30_000),
	}
	for _, op := range ops {
		if op.public {
			continue
		}
		for name, header := range bad {
			a := s.MustDo(op.method, op.url(), "", "", "Authorization: "+header)
			if err := wellMadeWith(op.method, a, "unauthorized"); err != nil {
				t.Errorf("%s, token %s: %v", op, name, err)
			}
		}
	}
}

func stormQueries(t *testing.T, s *Server, ops []operation) {
	for _, op := range ops {
		if op.method != "GET" || strings.Contains(op.path, "{") {
			continue
		}
		for _, q := range []string{"limit=abc", "limit=-1", "limit=0x10", "limit=99999999999999999999", "cursor=!!!", "cursor=AAAA", "cursor=" + strings.Repeat("A", 20_000),
			"from=yesterday", "to=%00", "subject=%ff", "pack=" + strings.Repeat("a.", 5_000), "status=;drop", "limit=1&limit=2", "%zz=1", "a;b"} {
			a := s.MustDo("GET", op.path+"?"+q, s.AdminToken(), "")
			if err := wellMadeWith("GET", a, "", "invalid_input"); err != nil {
				t.Errorf("%s?%.40s: %v", op.path, q, err)
			}
		}
	}
}

func stormSizes(t *testing.T, s *Server, ops []operation) {
	const declared, streamed = "Content-Length: 1073741824", 256 << 20
	for _, op := range ops {
		if op.method != "POST" && op.method != "PUT" {
			continue
		}
		kind := "Content-Type: application/json"
		if !op.json {
			kind = "Content-Type: multipart/form-data; boundary=b"
		}
		req := rawRequest{method: op.method, path: op.url(), token: s.AdminToken()}
		req.headers = []string{kind, declared}
		a, err := req.send(t, s.URL)
		if err = errors.Join(err, wellMadeWith(op.method, a, "body_too_large")); err != nil {
			t.Errorf("%s, 1 GiB declared: %v", op, err)
		}
		req.headers, req.body = []string{kind, "Transfer-Encoding: chunked"}, chunked(io.LimitReader(endless{}, streamed))
		a, err = req.send(t, s.URL)
		if err = errors.Join(err, wellMadeWith(op.method, a, tooLargeCodes(op)...)); err != nil {
			t.Errorf("%s, 256 MiB streamed: %v", op, err)
		}
		req.headers, req.body, req.hangUp = []string{kind, "Content-Length: 100"}, strings.NewReader(`{"name":`), true
		if a, err = req.send(t, s.URL); err == nil {
			err = wellMadeWith(op.method, a, "invalid_json", "invalid_input", "canceled")
		}
		if err != nil && !errors.Is(err, errHungUp) {
			t.Errorf("%s, half a body: %v", op, err)
		}
	}
}

// tooLargeCodes: spaces without end are too large as JSON; a multipart reader may stop earlier, at the missing boundary.
func tooLargeCodes(op operation) []string {
	if op.json {
		return []string{"body_too_large"}
	}
	return []string{"body_too_large", "invalid_input"}
}
