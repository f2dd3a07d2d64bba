package hosttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Answer is one response, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Code is the error code of a failed answer, "" if the body is not an error.
func (a Answer) Code() string {
	var e struct{ Error string }
	_ = json.Unmarshal(a.Body, &e)
	return e.Error
}

// At is the value at a path of the JSON body (see [lookup]), nil if there is none.
func (a Answer) At(path string) any {
	v, _ := lookup(a.Body, path)
	return v
}

func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, head(string(a.Body))) }

// Do makes a request with a bearer token ("" for none). headers are "Name: value" lines; Content-Type is application/json
// unless one of them says otherwise. An error means that no whole answer came.
func (s *Server) Do(method, path, token string, body io.Reader, headers ...string) (Answer, error) {
	req, err := newRequest(s.URL, method, path, token, body, headers)
	if err != nil {
		return Answer{}, err
	}
	return send(s.http, req)
}

// MustDo is Do for a request that has to be answered, whatever the answer is.
func (s *Server) MustDo(method, path, token, body string, headers ...string) Answer {
	s.t.Helper()
	a, err := s.Do(method, path, token, strings.NewReader(body), headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, tail(s.Log()))
	}
	return a
}

// AdminToken is a token of the admin, the same one for the server's whole life.
func (s *Server) AdminToken() string { return s.admin }

func (s *Server) login() {
	s.t.Helper()
	a := s.MustDo("POST", "/api/v1/auth/login", "", `{"username":"admin","password":"`+AdminPassword+`"}`)
	s.admin, _ = a.At("token").(string)
	if a.Status != http.StatusOK || s.admin == "" {
		s.t.Fatalf("login: %s", a)
	}
}

// Mint makes a token of a subject with scopes, valid for an hour.
func (s *Server) Mint(subject string, scopes ...string) string {
	s.t.Helper()
	token, err := mint(s.http, s.URL, s.AdminToken(), subject, scopes)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

func mint(c *http.Client, url, admin, subject string, scopes []string) (string, error) {
	body, err := json.Marshal(map[string]any{"name": subject, "subject": subject, "scopes": scopes, "ttl": "1h"})
	if err != nil {
		return "", err
	}
	req, err := newRequest(url, "POST", "/api/v1/auth/tokens", admin, strings.NewReader(string(body)), nil)
	if err != nil {
		return "", err
	}
	a, err := send(c, req)
	if err != nil {
		return "", err
	}
	token, ok := a.At("token").(string)
	if a.Status != http.StatusCreated || !ok {
		return "", fmt.Errorf("minting a token for %s: %s", subject, a)
	}
	return token, nil
}

// newRequest builds a request to base+path; a path that is a whole URL (a signed one) is taken as it is.
func newRequest(base, method, path, token string, body io.Reader, headers []string) (*http.Request, error) {
	if !strings.HasPrefix(path, "http://") {
		path = base + path
	}
	req, err := http.NewRequest(method, path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, fmt.Errorf("header %q is not of the form Name: value", h)
		}
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return req, nil
}

func send(c *http.Client, req *http.Request) (Answer, error) {
	resp, err := c.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("reading the answer: %w", err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// requestLimit is how long any request of a test may take: only a hang is longer.
const requestLimit = 2 * time.Minute

// newClient has connections of its own, follows no redirect and compresses nothing.
func newClient() *http.Client {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.Proxy, tr.DisableCompression, tr.MaxIdleConnsPerHost = nil, true, 64
	return &http.Client{
		Transport:     tr,
		Timeout:       requestLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
