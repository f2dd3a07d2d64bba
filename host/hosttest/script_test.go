package hosttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// echo is a small server that says what it was asked: the engine's own tests need no more.
func echo(t *testing.T) Target {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Subject string
			Scopes  []string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":"%s:%s"}`, in.Subject, strings.Join(in.Scopes, "+"))
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, `{"error":"teapot","message":"short and stout"}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		in := map[string]any{"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery, "auth": r.Header.Get("Authorization"), "x": r.Header.Get("X-Test")}
		if f, head, err := r.FormFile("file"); err == nil {
			b, _ := io.ReadAll(f)
			in["file"], in["body"] = head.Filename, string(b)
		} else {
			b, _ := io.ReadAll(r.Body)
			in["body"] = string(b)
		}
		w.Header().Set("X-Answer", "yes")
		_ = json.NewEncoder(w).Encode(in)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return Target{URL: srv.URL, Admin: "root", Binary: "/bin/echo"}
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.txtar")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestScriptCommands(t *testing.T) {
	echo(t).Scripts(t, script(t, `
call web.look '{"a":"b c"}'
status 200
header X-Answer ^yes$
! header X-Answer no
stdout '"method":"POST"'
! stdout GET
jq path /api/v1/packs/web.look
jq body '{"a":"b c"}'
jq auth 'Bearer root'
! jq auth 'Bearer else'
jq -exists body
! jq -exists body.a
jq -len . 6
! jq -len . 7
jq -len path 22
match path ^/api/v1/
set ME path
set H header:X-Answer
GET $ME?$H
jq query yes
call p @in.json
match body '^{"from":"file"}'
like . want.json
as nobody
PUT /x
jq auth ''
as ann
GET /
jq auth 'Bearer ann-script:packs:call+packs:read'
as bob vault:read
GET / -H 'X-Test: 7' -H 'Authorization: Bearer other'
jq auth 'Bearer other'
jq x 7
as ann
POST /upload -F file=@in.json -F note=hi
jq file in.json
jq auth 'Bearer ann-script:packs:call+packs:read'
! DELETE /refuse
status 418
jq error teapot
HEAD /
status 200
gantry call $SUBJECT
stdout '^call ann-script$'
-- in.json --
{"from":"file"}
-- want.json --
{"method":"POST","path":"*","query":"","auth":"*","x":"","body":"*"}
`))
}

// A check that can't fail checks nothing: every line must stop its script.
func TestScriptsThatMustFail(t *testing.T) {
	target := echo(t)
	for _, lines := range []string{
		"status 200",
		"GET /refuse",
		"! GET /",
		"GET /\nstatus 201",
		"GET /\nheader X-Answer no",
		"GET /\n! header X-Answer yes",
		"GET /\njq method POST",
		"GET /\n! jq method GET",
		"GET /\njq nothing 1",
		"GET /\njq -exists method.deeper",
		"GET /\n! jq -exists method",
		"GET /\njq -len . 1",
		"GET /\nmatch method ^P",
		"GET /\nstdout POST",
		"GET /\nset X missing",
		"GET /\nlike . want.json",
		"GET / {} {}",
		"GET / -H",
		"gantry call &&& &&&\n! gantry call",
		"nonsense",
	} {
		t.Run(strings.ReplaceAll(lines, "\n", ";"), func(t *testing.T) {
			rec := &recorder{}
			path := script(t, lines+"\n-- want.json --\n{\"method\":\"*\"}\n")
			rec.Run("", func(r testscript.T) { testscript.RunT(r, target.params([]string{path})) })
			if !rec.failed {
				t.Errorf("the script passed:\n%s", rec.log.String())
			}
		})
	}
}

// recorder stands in for a *testing.T whose failure is the expected result.
type recorder struct {
	failed bool
	log    strings.Builder
}

func (r *recorder) Log(args ...any)   { fmt.Fprintln(&r.log, args...) }
func (r *recorder) Skip(args ...any)  { r.Log(args...); runtime.Goexit() }
func (r *recorder) Fatal(args ...any) { r.Log(args...); r.FailNow() }
func (r *recorder) FailNow()          { r.failed = true; runtime.Goexit() }
func (r *recorder) Parallel()         {}
func (r *recorder) Verbose() bool     { return false }

func (r *recorder) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		got, want string
		ok        bool
	}{
		{`{"a":1}`, `{"a":1}`, true},
		{`{"a":1}`, `{"a":"*"}`, true},
		{`{"a":[1,{"b":2}]}`, `{"a":[1,"*"]}`, true},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`{"a":1}`, `{"a":1,"b":"*"}`, false},
		{`{"a":1}`, `{"a":2}`, false},
		{`[1,2]`, `[1]`, false},
		{`1`, `{}`, false},
		{`"x"`, `[]`, false},
	} {
		var got, want any
		if err := json.Unmarshal([]byte(c.got), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if err := like(got, want, ""); (err == nil) != c.ok {
			t.Errorf("like(%s, %s) = %v", c.got, c.want, err)
		}
	}
}

func TestReadyWriter(t *testing.T) {
	w := newReadyWriter(io.Discard)
	for _, part := range []string{"time=x msg=\"re", "ady on http://127.0.0.1:4", "0001\" pid=1\n", "ready on http://second\n"} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-w.url; got != "http://127.0.0.1:40001" {
		t.Errorf("the address is %q", got)
	}
	select {
	case again := <-w.url:
		t.Errorf("a second address: %q", again)
	default:
	}
}

func TestTrouble(t *testing.T) {
	for log, want := range map[string]bool{
		"panic: oh\n\ngoroutine 1 [running]:\n":                          true,
		"x\nfatal error: all goroutines are asleep\n":                    true,
		"x\nWARNING: DATA RACE\n":                                        true,
		"time=2026-11-21T02:11:27.640Z level=ERROR msg=\"row lost\"\n":   true,
		`{"time":"2026-11-21T02:11:27Z","level":"ERROR","msg":"x"}`:      true,
		"time=2026-11-21T02:11:27.640Z level=INFO msg=request\n":         false,
		`time=1 level=ERROR code=internal cause="raised by the pack"`:    false,
		"time=1 level=INFO path=\"panic: level=ERROR\\npanic: \"\n":      false,
		"gantry v1 ready on http://127.0.0.1:1 (data in /tmp/panic: )\n": false,
	} {
		if (trouble(log) != "") != want {
			t.Errorf("trouble in %q: %t", log, !want)
		}
	}
}
