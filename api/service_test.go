package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
	"github.com/gantry-packs/gantry/registry/schema"
)

const (
	adminPassword = "correct horse battery staple"
	serveTimeout  = 30 * time.Second // only a hang takes longer
)

// service is the door on a real port, with real parts behind it but for the packs, which are Go functions: what is tested
// here is the door, not the engine.
type service struct {
	t    *testing.T
	host *host.Host
	url  string
	addr string
	log  *logBuffer
	stop context.CancelFunc
	done chan error

	adminToken string
}

// start serves the host's own routes; change may make another handler of the door's host.
func start(t *testing.T, change ...func(*host.Host) http.Handler) *service {
	t.Helper()
	s := &service{t: t, log: &logBuffer{}, done: make(chan error, 1)}
	s.host = newHost(t, s.log)
	handler := func(h *host.Host) http.Handler { return New(h, "v0.0.0-test") }
	if len(change) > 0 {
		handler = change[0]
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr, s.url = l.Addr().String(), "http://"+l.Addr().String()
	s.host.SetBaseURL(s.url)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		s.done <- Serve(ctx, l, handler(s.host), ServeOptions{Grace: time.Second, MaxConnections: 64, Log: s.host.Log})
	}()
	t.Cleanup(func() { stop(); <-s.done })
	return s
}

func newHost(t *testing.T, log io.Writer) *host.Host {
	t.Helper()
	ctx, dir, kv := context.Background(), t.TempDir(), store.NewMemory()
	h := &host.Host{
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Store: kv,
		Audit: audit.Open(kv, time.Hour, time.Now), Packs: registry.NewSet(), Metrics: prometheus.NewRegistry(),
	}
	var err error
	h.Auth, _, err = auth.Open(ctx, auth.Config{Store: kv, Dir: dir, AdminUsername: "admin", AdminPassword: config.Secret(adminPassword), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	h.Artifacts, err = artifact.Open(ctx, artifact.Config{
		Store: kv, Dir: filepath.Join(dir, "artifacts"), BaseURL: func() string { return h.BaseURL() }, Retention: time.Hour, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Vault, err = vault.Open(ctx, vault.Config{Store: kv, Dir: dir, Now: time.Now, Log: h.Log})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range testPacks(t) {
		if err := h.Packs.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	h.Engine = engine.New(engine.Config{
		Packs: h.Packs, Runners: map[string]engine.Runner{registry.Wasm: runners{}}, Audit: h.Audit,
		Limits: engine.Limits{Calls: 8, PerCaller: 8, Queue: 8, QueueWait: time.Second},
		Now:    time.Now, NewID: uuid.NewString, Log: h.Log, Metrics: h.Metrics,
	})
	t.Cleanup(func() {
		h.Artifacts.Close()
		if err := kv.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func testPacks(t *testing.T) []*registry.Pack {
	t.Helper()
	schemas := map[string]string{
		"test.echo": `{"type":"object","properties":{"text":{"$ref":"#/$defs/text"},"next":{"$ref":"#"}},"$defs":{"text":{"type":"string"}}}`,
		"test.fail": `{"type":"object"}`, "test.panic": `{"type":"object"}`, "test.wait": `{"type":"object"}`,
	}
	var packs []*registry.Pack
	for name, text := range schemas {
		in, err := schema.Compile([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := schema.Compile([]byte(`{"type":"object"}`))
		if err != nil {
			t.Fatal(err)
		}
		packs = append(packs, &registry.Pack{
			Manifest: registry.Manifest{
				Name: name, Version: "v1", Description: "The pack " + name, InputSchema: json.RawMessage(text),
				Handler: registry.Handler{Type: registry.Wasm, Module: "core.wasm"}, Permissions: &registry.Permissions{Artifacts: true},
				Examples: []registry.Example{{Name: "empty", Input: json.RawMessage(`{}`)}},
			},
			Source: registry.Core, Input: in, Output: out, Digest: strings.Repeat("0", 64),
			Module: func() ([]byte, error) { return nil, nil },
		})
	}
	return packs
}

// runners are the test packs' programs.
type runners struct{}

func (runners) Run(ctx context.Context, c *engine.Call, input []byte) ([]byte, error) {
	switch c.Pack.Name {
	case "test.fail":
		return nil, wire.Failed("the upstream is down").WithDetails(map[string]int{"steps_completed": 2})
	case "test.panic":
		panic("the pack's secret words")
	case "test.wait":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return input, nil
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// code is the error code, "" for none.
func (a answer) code() string {
	var f failure
	_ = json.Unmarshal(a.body, &f)
	return string(f.Error)
}

func (a answer) field(t *testing.T, name string) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("not a JSON object: %.200s", a.body)
	}
	return v[name]
}

// do makes a request; headers are "Name: value".
func (s *service) do(method, path, token, body string, headers ...string) answer {
	s.t.Helper()
	if !strings.HasPrefix(path, "http://") {
		path = s.url + path
	}
	req, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := &http.Client{
		Timeout: serveTimeout, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: reading the answer: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, raw}
}

// want makes a request and checks its status and error code.
func (s *service) want(status int, code wire.Code, method, path, token, body string, headers ...string) answer {
	s.t.Helper()
	a := s.do(method, path, token, body, headers...)
	if a.status != status || a.code() != string(code) {
		s.t.Errorf("%s %s: %d %.300s; want %d %s", method, path, a.status, a.body, status, code)
	}
	return a
}

// admin is a token that may do everything.
func (s *service) admin() string {
	s.t.Helper()
	if s.adminToken == "" {
		a := s.want(200, "", "POST", "/api/v1/auth/login", "", `{"username":"admin","password":"`+adminPassword+`"}`)
		s.adminToken, _ = a.field(s.t, "token").(string)
	}
	return s.adminToken
}

// token is one of a subject with scopes.
func (s *service) token(subject string, scopes ...string) string {
	s.t.Helper()
	_, token, err := s.host.Auth.Mint(context.Background(), auth.Caller{Subject: "admin", Scopes: []string{"admin"}},
		auth.TokenRequest{Name: subject, Subject: subject, Scopes: scopes, TTL: "1h"})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// raw sends bytes as they are and returns what comes back until the server closes.
func (s *service) raw(request string) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(serveTimeout)); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		s.t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := io.Copy(&got, conn); err != nil && got.Len() == 0 {
		s.t.Fatalf("no answer: %v", err)
	}
	return got.String()
}

// rows are the audit rows so far, newest first.
func (s *service) rows() []audit.Row {
	s.t.Helper()
	rows, _, err := s.host.Audit.List(context.Background(), audit.Filter{Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// logBuffer collects the log.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
