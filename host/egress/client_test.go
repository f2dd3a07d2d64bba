package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func get(c *http.Client, url string) (string, error) {
	resp, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// redirector answers /go?to=URL with a redirect and everything else with the headers that it was sent.
func redirector(w http.ResponseWriter, r *http.Request) {
	if to := r.URL.Query().Get("to"); to != "" {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	var names []string
	for name := range r.Header {
		names = append(names, name+"="+r.Header.Get(name))
	}
	fmt.Fprint(w, strings.Join(names, "\n"))
}

func serveRedirects(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(redirector))
	t.Cleanup(s.Close)
	return s
}

func TestRedirectsAreJudged(t *testing.T) {
	s := serveRedirects(t)
	port := portOfServer(t, s)
	g := newGuard(t, Options{Trusted: []string{s.URL}})
	client := g.Client(ClientOptions{Timeout: 10 * time.Second})
	if _, err := get(client, s.URL+"/go?to=/here"); err != nil {
		t.Errorf("to itself: %v", err)
	}
	for to, want := range map[string]Verdict{
		"http://169.254.169.254/latest/meta-data/": Metadata,
		"http://metadata.google.internal/":         Metadata,
		"http://168.63.129.16/":                    Metadata,
		"http://127.0.0.1/":                        Loopback,
		"http://127.0.0.1:1/":                      Loopback, // the trusted host at another port
		"http://localhost:" + port + "/":           InternalName,
		"http://[::1]:" + port + "/":               Loopback,
		"http://[::ffff:127.0.0.1]:" + port + "/":  Mapped,
		"http://0x7f.1:" + port + "/":              NumericHost,
		"http://10.0.0.1/":                         Private,
		"http://0.0.0.0:" + port + "/":             Unspecified,
		"http://mixed.example.com/":                Mixed,
		"http://loop.example.com/":                 Loopback,
		"http://user@127.0.0.1:" + port + "/":      Userinfo,
		"//169.254.169.254/":                       Metadata,
		"http://example.com:22/":                   Port,
		"file:///etc/passwd":                       Scheme,
		"gopher://127.0.0.1:6379/_x":               Scheme,
		"http://①②⑦.⓪.⓪.①:" + port + "/":           NonASCII,
		"/go?to=http://10.0.0.1/":                  Private, // the second hop
	} {
		body, err := get(client, s.URL+"/go?to="+strings.NewReplacer("?", "%3f", "%", "%25", "&", "%26").Replace(to))
		if VerdictOf(err) != want {
			t.Errorf("to %s: %v (%q), want %s", to, err, body, want)
		}
	}
}

func TestRedirectsAreCounted(t *testing.T) {
	var hops atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	}))
	t.Cleanup(s.Close)
	g := newGuard(t, Options{Trusted: []string{s.URL}})
	for most, want := range map[int]int64{0: MaxRedirects + 1, 2: 3} {
		hops.Store(0)
		_, err := get(g.Client(ClientOptions{MaxRedirects: most}), s.URL)
		if VerdictOf(err) != Redirect || hops.Load() != want {
			t.Errorf("at most %d: %d requests, %v", most, hops.Load(), err)
		}
	}
	resp, err := g.Client(ClientOptions{MaxRedirects: -1}).Get(s.URL)
	if err != nil || resp.StatusCode != http.StatusFound {
		t.Fatalf("not followed: %v", err)
	}
	resp.Body.Close()
	refuse := errors.New("not there")
	_, err = get(g.Client(ClientOptions{OnRedirect: func(*http.Request, []*http.Request) error { return refuse }}), s.URL)
	if !errors.Is(err, refuse) {
		t.Errorf("OnRedirect has no say: %v", err)
	}
}

// secretHeaders are what a credential may sit in.
var secretHeaders = []string{"Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Anything-At-All"}

func TestCredentialsStayHome(t *testing.T) {
	home, away := serveRedirects(t), serveRedirects(t)
	g := newGuard(t, Options{Trusted: []string{home.URL, away.URL}})
	client := g.Client(ClientOptions{Timeout: 10 * time.Second})
	ask := func(path string) string {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, home.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range secretHeaders {
			req.Header.Set(name, "hunter2")
		}
		req.Header.Set("Accept", "text/plain")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return string(b)
	}
	if got := ask("/go?api_key=hunter2&to=/here"); strings.Count(got, "hunter2") != len(secretHeaders) {
		t.Errorf("on the same host they stay:\n%s", got)
	}
	there := "/go?api_key=hunter2&to=" + away.URL
	for name, path := range map[string]string{
		"straight":      there,
		"there, onward": there + "/go%3fto=/end",
		"and back":      there + "/go%3fto=" + home.URL + "/end",
	} {
		got := ask(path)
		if strings.Contains(got, "hunter2") || strings.Contains(got, "Referer") {
			t.Errorf("%s: the other host is told\n%s", name, got)
		}
		if !strings.Contains(got, "Accept=text/plain") {
			t.Errorf("%s: harmless headers are lost\n%s", name, got)
		}
	}
}

func TestNoDowngrade(t *testing.T) {
	plain := serveRedirects(t)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(redirector))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the first client hangs up, as it should
	secure.StartTLS()
	t.Cleanup(secure.Close)
	g := newGuard(t, Options{Trusted: []string{plain.URL, secure.URL}})
	client := g.Client(ClientOptions{Timeout: 10 * time.Second})
	if _, err := get(client, secure.URL); err == nil || VerdictOf(err) != "" {
		t.Errorf("an unknown authority's certificate: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	client.Transport.(*guarded).TLSClientConfig = &tls.Config{RootCAs: roots}
	if _, err := get(client, secure.URL+"/go?to=/here"); err != nil {
		t.Errorf("over TLS: %v", err)
	}
	if _, err := get(client, plain.URL+"/go?to="+secure.URL); err != nil {
		t.Errorf("up to https: %v", err)
	}
	if _, err := get(client, secure.URL+"/go?to="+plain.URL); VerdictOf(err) != Redirect {
		t.Errorf("down to http: %v", err)
	}
}

// A Host header of another site would carry a credential past the check of the URL's host.
func TestHostHeader(t *testing.T) {
	s := serveRedirects(t)
	client := newGuard(t, Options{Trusted: []string{s.URL}}).Client(ClientOptions{})
	req, err := http.NewRequest(http.MethodPost, s.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "other.example.com"
	if _, err := client.Do(req); VerdictOf(err) != HostHeader {
		t.Errorf("%v", err)
	}
}

func TestNoProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was used") }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	client := newGuard(t, Options{}).Client(ClientOptions{Timeout: 10 * time.Second})
	if _, err := get(client, "http://ten.example.com/"); VerdictOf(err) != Private {
		t.Errorf("%v", err)
	}
	if tr := client.Transport.(*guarded).Transport; tr.Proxy != nil {
		t.Error("there is a proxy function")
	}
}

func TestHugeHeaders(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 2*maxResponseHeaders))
	}))
	t.Cleanup(s.Close)
	client := newGuard(t, Options{Trusted: []string{s.URL}}).Client(ClientOptions{Timeout: 10 * time.Second})
	if _, err := get(client, s.URL); err == nil {
		t.Error("headers without end are read")
	}
}

// A server that accepts and says nothing ends with the client's time, not later.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	url := "http://" + l.Addr().String()
	g := newGuard(t, Options{Trusted: []string{url}})
	if _, err := get(g.Client(ClientOptions{Timeout: 50 * time.Millisecond}), url); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Dial(ctx, "tcp", "example.com:80"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
}

// Two clients share no connection: what one of them has said over it can't be continued by the other.
func TestConnectionsAreApart(t *testing.T) {
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(redirector))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	g := newGuard(t, Options{Trusted: []string{s.URL}})
	a, b := g.Client(ClientOptions{}), g.Client(ClientOptions{})
	for _, c := range []*http.Client{a, a, b, b} {
		if _, err := get(c, s.URL); err != nil {
			t.Fatal(err)
		}
	}
	if opened.Load() != 2 {
		t.Errorf("%d connections of two clients", opened.Load())
	}
	if a.Jar != nil {
		t.Error("a client keeps cookies")
	}
}
