package hosttest

// Scripts
//
// A script is a .txtar file: commands first, then files that the commands may name. It runs against a real server, in a
// fresh directory $WORK, in parallel with the other scripts; a command that doesn't do what the line says fails the test.
//
//	# a note is kept and comes back
//	as alice packs:call
//	call memory.store '{"category":"notes","key":"a","value":1}'
//	status 200
//	jq output.stored true
//	! call memory.store {}
//	status 400
//	jq error invalid_input
//
// Asking. Each of these must be answered below 400, or at 400 and above after "!". The body becomes stdout.
//
//	[!] call <pack> [json | @file]
//	[!] GET | POST | PUT | DELETE | HEAD <path | url> [json | @file] [-H 'Name: value'] [-F field=@file | field=text]
//	      -H sets a header (Content-Type is application/json by default); -F sends a multipart form
//	[!] gantry <args…>           the command line, with GANTRY_URL and GANTRY_TOKEN of the current user; exit status 0, or not
//	as <user> [scope,scope…]     who asks from now on. admin: the default. nobody: no token. Another name: a token of the
//	                             subject $SUBJECT, <user>-<script>, so that scripts don't meet (default packs:call,packs:read);
//	                             without scopes, a name used before keeps its token
//
// Checking the last answer.
//
//	status <code>
//	[!] header <Name> <regexp>
//	[!] stdout <regexp>          also -count=N; `cp stdout file` keeps the body
//	[!] jq <path> <value>        path: artifacts.0.key, or . for everything; value: JSON or a bare string
//	[!] jq -exists <path>
//	[!] jq -len <path> <number>  how many things the array, object or string there has
//	[!] match <path> <regexp>    the string (or JSON text) at path
//	like <path> <file>           the value at path equals the file's JSON, where "*" stands for anything
//	set NAME <path>              $NAME in later lines; in quotes: '{"key":"'$NAME'"}'
//	set NAME header:<Name>
//
// Other people's services are stand-ins (StartStock, StartBlog …) that the server is set up to use; their Env says which
// variables a script has for them: addresses, and a key for each way in which they can misbehave.
//
// $URL is the server, $SERVER_DATA its data directory, $TOKEN the current token. The other commands (cd, cmp, cp, env, exec, exists,
// grep, mkdir, rm, stderr, stdin …), quoting and conditions are those of github.com/rogpeppe/go-internal/testscript. There is
// no sleep: wait for what you are waiting for.

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// defaultScopes are those of `as <user>`.
const defaultScopes = "packs:call,packs:read"

// Target is what scripts talk to.
type Target struct {
	URL     string
	Admin   string   // the admin's token
	DataDir string   // of the server, "" if the scripts must not know
	Binary  string   // the program, for the command gantry
	GoCache string   // where scripts that compile find what is compiled already
	Env     []string // further variables of the scripts, NAME=value
}

// Target is this server as scripts see it.
func (s *Server) Target() Target {
	s.t.Helper()
	cache, err := goEnv("GOCACHE")
	if err != nil {
		s.t.Fatal(err)
	}
	return Target{URL: s.URL, Admin: s.AdminToken(), DataDir: s.DataDir, Binary: s.Binary, GoCache: cache}
}

// Scripts runs the files as parallel subtests of t.
func (g Target) Scripts(t *testing.T, files ...string) {
	t.Helper()
	testscript.Run(t, g.params(files))
}

func (g Target) params(files []string) testscript.Params {
	return testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			s := &session{target: g, http: newClient(), tokens: map[string]string{"admin": g.Admin, "nobody": ""}}
			e.Values[sessionKey{}] = s
			e.Defer(s.http.CloseIdleConnections)
			e.Vars = append(e.Vars, "URL="+g.URL, "GANTRY_URL="+g.URL, "SERVER_DATA="+g.DataDir, "HOME="+e.WorkDir,
				"GANTRY_DATA_DIR="+filepath.Join(e.WorkDir, "data"), "GOCACHE="+g.GoCache, "GANTRY_TOKEN="+g.Admin, "TOKEN="+g.Admin, "SUBJECT=admin")
			e.Vars = append(e.Vars, g.Env...)
			s.token = g.Admin
			return noTelemetry(e.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"call": cmdCall, "GET": method("GET"), "POST": method("POST"), "PUT": method("PUT"), "DELETE": method("DELETE"),
			"HEAD": method("HEAD"), "gantry": cmdGantry, "as": cmdAs, "status": cmdStatus, "header": cmdHeader,
			"jq": cmdJQ, "match": cmdMatch, "like": cmdLike, "set": cmdSet,
		},
	}
}

// noTelemetry keeps the go command, which some scripts and the doctor run, from leaving a process behind that writes into
// the script's home after the script.
func noTelemetry(home string) error {
	dir := filepath.Join(home, ".config", "go", "telemetry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mode"), []byte("off"), 0o600)
}

type sessionKey struct{}

// session is one script's state.
type session struct {
	target Target
	http   *http.Client
	token  string
	tokens map[string]string // by user
	last   *Answer
}

func sessionOf(ts *testscript.TestScript) *session { return ts.Value(sessionKey{}).(*session) }

// answer is the last answer; a script that checks before it asks is wrong.
func answer(ts *testscript.TestScript) *Answer {
	a := sessionOf(ts).last
	if a == nil {
		ts.Fatalf("no request was made yet")
	}
	return a
}

func cmdCall(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: [!] call <pack> [json | @file]")
	}
	ask(ts, neg, "POST", "/api/v1/packs/"+args[0], args[1:])
}

func method(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) < 1 {
			ts.Fatalf("usage: [!] %s <path> [json | @file] [-H 'Name: value'] [-F field=@file]", name)
		}
		ask(ts, neg, name, args[0], args[1:])
	}
}

// ask makes the request and checks that it was answered well, or was not.
func ask(ts *testscript.TestScript, neg bool, method, path string, args []string) {
	s := sessionOf(ts)
	body, headers := parseBody(ts, args)
	req, err := newRequest(s.target.URL, method, path, s.token, body, headers)
	ts.Check(err)
	a, err := send(s.http, req)
	ts.Check(err)
	s.last = &a
	_, err = ts.Stdout().Write(a.Body)
	ts.Check(err)
	if failed := a.Status >= http.StatusBadRequest; failed != neg {
		ts.Fatalf("%s %s was answered %d", method, path, a.Status)
	}
}

// parseBody reads what follows the path of a request.
func parseBody(ts *testscript.TestScript, args []string) (io.Reader, []string) {
	var body []byte
	var headers, fields []string
	for i := 0; i < len(args); i++ {
		switch {
		case (args[i] == "-H" || args[i] == "-F") && i+1 == len(args):
			ts.Fatalf("%s needs a value", args[i])
		case args[i] == "-H":
			i++
			headers = append(headers, args[i])
		case args[i] == "-F":
			i++
			fields = append(fields, args[i])
		case body != nil:
			ts.Fatalf("two bodies: %q comes after another one", args[i])
		case strings.HasPrefix(args[i], "@"):
			body = []byte(ts.ReadFile(args[i][1:]))
		default:
			body = []byte(args[i])
		}
	}
	if fields != nil {
		if body != nil {
			ts.Fatalf("a body and a form exclude each other")
		}
		var contentType string
		body, contentType = form(ts, fields)
		headers = append([]string{"Content-Type: " + contentType}, headers...)
	}
	if body == nil {
		return nil, headers
	}
	return bytes.NewReader(body), headers
}

// form builds a multipart body from field=@file and field=text.
func form(ts *testscript.TestScript, fields []string) (body []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			ts.Fatalf("-F %s: want field=@file or field=text", f)
		}
		if file, isFile := strings.CutPrefix(value, "@"); isFile {
			part, err := w.CreateFormFile(name, filepath.Base(file))
			ts.Check(err)
			_, err = io.WriteString(part, ts.ReadFile(file))
			ts.Check(err)
		} else {
			ts.Check(w.WriteField(name, value))
		}
	}
	ts.Check(w.Close())
	return b.Bytes(), w.FormDataContentType()
}

func cmdGantry(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(sessionOf(ts).target.Binary, args...)
	if err == nil && neg {
		ts.Fatalf("gantry %s succeeded", strings.Join(args, " "))
	}
	if err != nil && !neg {
		ts.Fatalf("gantry %s: %v", strings.Join(args, " "), err)
	}
}

func cmdAs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: as <user> [scope,scope…]")
	}
	s := sessionOf(ts)
	user, subject := args[0], args[0]
	if user != "admin" && user != "nobody" {
		subject = user + "-" + ts.Name()
	}
	token, known := s.tokens[user]
	if !known || len(args) == 2 {
		scopes := defaultScopes
		if len(args) == 2 {
			scopes = args[1]
		}
		var err error
		token, err = mint(s.http, s.target.URL, s.target.Admin, subject, strings.Split(scopes, ","))
		ts.Check(err)
		s.tokens[user] = token
	}
	s.token = token
	ts.Setenv("GANTRY_TOKEN", token)
	ts.Setenv("TOKEN", token)
	ts.Setenv("SUBJECT", subject)
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: status <code>")
	}
	if got := strconv.Itoa(answer(ts).Status); got != args[0] {
		ts.Fatalf("status %s, want %s", got, args[0])
	}
}

func cmdHeader(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] header <Name> <regexp>")
	}
	expect(ts, neg, "header "+args[0], strings.Join(answer(ts).Header.Values(args[0]), ", "), args[1])
}

// expect fails the script unless the pattern fits the text, or does not.
func expect(ts *testscript.TestScript, neg bool, what, got, pattern string) {
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	if re.MatchString(got) == neg {
		ts.Fatalf("%s is %q", what, got)
	}
}
