package main

import (
	"context"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var ready = regexp.MustCompile(`gantry \S+ ready on (http://\S+) \(data in (.+)\)\n`)

// serve runs the service until stop, which gives the exit code.
func (s *session) serve(t *testing.T, args ...string) (url string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- s.run(ctx, append([]string{"serve"}, args...)...) }()
	stop = func() int { cancel(); return <-ended }
	for range time.Tick(20 * time.Millisecond) {
		if m := ready.FindStringSubmatch(s.out.String()); m != nil {
			return m[1], stop
		}
		select {
		case code := <-ended:
			t.Fatalf("serve ended with %d:\n%s%s", code, s.out.String(), s.err.String())
		default:
		}
	}
	panic("unreachable: the ticker never ends")
}

func TestServe(t *testing.T) {
	s := newSession(t)
	url, stop := s.serve(t, "--log-format", "json")
	if !strings.Contains(s.err.String(), "First start") || strings.HasSuffix(url, ":0") {
		t.Errorf("first start on %s said:\n%s", url, s.err.String())
	}
	resp, err := http.Get(url + "/readyz")
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("readyz: %v %v", resp, err)
	}
	resp.Body.Close()

	caller := newSession(t)
	caller.env["GANTRY_URL"], caller.env["GANTRY_DATA_DIR"] = url, s.env["GANTRY_DATA_DIR"]
	caller.want(t, exitOK, []string{"call", "artifact.put", `{"name":"a.txt","content":"hi"}`}, `"url": "`+url+`/`)
	caller.want(t, exitFailed, []string{"call", "artifact.put"}, "artifact.put: invalid_input: ")
	caller.want(t, exitOK, strings.Fields("token mint --name ci --scopes packs:read"))
	caller.env["GANTRY_TOKEN"] = strings.TrimSpace(caller.out.String())
	caller.want(t, exitFailed, []string{"call", "artifact.put"}, "artifact.put: forbidden: ")

	second := newSession(t)
	second.env["GANTRY_LISTEN"] = strings.TrimPrefix(url, "http://")
	second.want(t, exitFailed, []string{"serve"}, "is taken: is Gantry running already?")
	second.want(t, exitOK, []string{"doctor"}, "Gantry answers on")
	second.env["GANTRY_LISTEN"], second.env["GANTRY_DATA_DIR"] = "127.0.0.1:0", s.env["GANTRY_DATA_DIR"]
	second.want(t, exitFailed, []string{"serve"}, s.env["GANTRY_DATA_DIR"])
	if code := stop(); code != exitOK {
		t.Errorf("stopped, serve ended with %d:\n%s", code, s.err.String())
	}
	again := &session{env: s.env}
	_, stop = again.serve(t)
	if strings.Contains(again.err.String(), "First start") {
		t.Error("the password is shown twice")
	}
	if code := stop(); code != exitOK {
		t.Errorf("stopped again, serve ended with %d:\n%s", code, again.err.String())
	}
}

func TestDoctorOnAFreshMachine(t *testing.T) {
	s := newSession(t)
	s.want(t, exitOK, []string{"doctor"}, "will be made by the first start", "core.wasm is built in", "ran in", "is free")
	s.env["GANTRY_DATA_DIR"] = "/dev/null/data"
	s.want(t, exitFailed, []string{"doctor"}, "fail  data dir")
}

func TestLocalURL(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80", "0.0.0.0:80": "http://127.0.0.1:80", "[::]:80": "http://127.0.0.1:80", "[::1]:80": "http://[::1]:80",
	} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := localURL(a); got != want {
			t.Errorf("localURL(%s) = %s, want %s", address, got, want)
		}
	}
}
