package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/config"
)

// buffer collects what a command prints while others read it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// session is one run of the program in surroundings of its own.
type session struct {
	env      map[string]string
	in       string
	out, err buffer
}

func newSession(t *testing.T) *session {
	t.Helper()
	home := t.TempDir()
	return &session{env: map[string]string{"HOME": home, "GANTRY_DATA_DIR": home + "/data", "GANTRY_LISTEN": "127.0.0.1:0"}}
}

func (s *session) run(ctx context.Context, args ...string) int {
	return run(ctx, args, &process{
		in: strings.NewReader(s.in), out: &s.out, err: &terminal{w: &s.err, now: time.Now},
		env: func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
	})
}

// want runs args and checks the exit code and that each of parts is printed somewhere.
func (s *session) want(t *testing.T, code int, args []string, parts ...string) {
	t.Helper()
	s.out.b.Reset()
	s.err.b.Reset()
	got := s.run(t.Context(), args...)
	if got != code {
		t.Fatalf("gantry %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, s.out.String(), s.err.String())
	}
	for _, part := range parts {
		if all := s.out.String() + s.err.String(); !strings.Contains(all, part) {
			t.Errorf("gantry %s printed no %q:\n%s", strings.Join(args, " "), part, all)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		said string
	}{
		{"", exitOK, "serve"},
		{"--help", exitOK, "doctor"},
		{"version", exitOK, "gantry "},
		{"fly", exitUsage, "fly"},
		{"call", exitUsage, "<pack>"},
		{"serve --listen nowhere", exitUsage, "GANTRY_LISTEN"},
		{"serve --max-calls many", exitUsage, "max-calls"},
		{"pack new Text", exitUsage, "text.greet"},
		{"pack new ../evil", exitUsage, "text.greet"},
		{"pack check testdata", exitUsage, "opening the pack's folder"},
		{"pack check .", exitUsage, "gantry-pack.yaml"},
		{"token mint --name x", exitUsage, "--scopes"},
		{"call plan.save", exitUsage, "GANTRY_TOKEN"},
	} {
		t.Run(c.args, func(t *testing.T) {
			newSession(t).want(t, c.code, strings.Fields(c.args), c.said)
		})
	}
}

func TestServeHelpListsEveryVariable(t *testing.T) {
	s := newSession(t)
	s.want(t, exitOK, []string{"serve", "--help"})
	help := strings.Join(strings.Fields(s.out.String()), " ")
	for _, v := range config.Variables() {
		for _, part := range []string{"--" + v.Flag + "=", "($" + v.Name + ")", v.Default} {
			if !strings.Contains(help, part) {
				t.Errorf("serve --help lacks %s of %s", part, v.Name)
			}
		}
	}
}

func TestConfig(t *testing.T) {
	s := newSession(t)
	s.env["GANTRY_ADMIN_PASSWORD"] = "hunter2hunter2"
	s.env["GANTRY_MAX_CALLS"] = "7"
	s.want(t, exitOK, []string{"config", "--json"}, `"name": "GANTRY_MAX_CALLS",
    "value": "7",
    "from": "environment"`, `"value": "720h"`)
	s.want(t, exitOK, []string{"config"}, "GANTRY_LOG_LEVEL")
	if strings.Contains(s.out.String(), "hunter2") {
		t.Error("config prints the password")
	}
	s.env["GANTRY_MAX_CALLS"] = "lots"
	s.want(t, exitUsage, []string{"config"}, "GANTRY_MAX_CALLS")
}
