package gantry_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house rules that a machine can hold. In these tables a folder stands for itself and everything below it, and the longest
// that fits counts; with "/." at its end it stands for its own files alone. A folder that doesn't exist yet breaks no rule.

const module = "github.com/gantry-packs/gantry"

// arrows says which folders of the module the code of a folder may import, apart from its own. What isn't listed may import
// none. Between the folders of host, floors and steps decide.
var arrows = []struct {
	from string
	to   []string
}{
	{"cmd", []string{".", "api", "host", "registry", "pdk/wire", "plugins", "sidecars"}},
	{"api", []string{"host", "registry", "pdk/wire"}},
	{"host", []string{"registry", "pdk/wire", "sidecars/wire"}},
	{"host/hosttest", []string{".", "api", "host", "registry", "pdk/wire", "plugins"}},
	{"registry", []string{"pdk/wire"}},
	{"pdk", []string{"pdk/wire"}},
	{"pdk/wire", nil},
	{"plugins", []string{"pdk", "pdk/wire"}},
	{"sidecars", []string{"sidecars/wire"}},
	{"sidecars/wire", nil},
	{".", nil},
}

// standardOnly are folders that import no other module: a pack's author builds them without a network.
var standardOnly = []string{".", "pdk", "plugins", "sidecars/wire"}

// floors are the folders of host, low to high. Code may import from the floors below its own.
var floors = [][]string{
	{"host/config", "host/store", "host/egress", "host/auth"},
	{"host/audit", "host/vault", "host/artifact", "host/session"},
	{"host/desktop", "host/browser", "host/repos", "host/job", "host/webhook", "host/memory"},
	{"host/gateway", "host/engine"},
	{"host/wasm", "host/command"},
	{"host/imports"},
	{"host"},
}

// steps are the imports between two folders of one floor.
var steps = [][2]string{
	{"host/auth", "host/config"},
	{"host/auth", "host/store"},
}

// onlyHere says where another module may be imported, tests apart.
var onlyHere = []struct {
	module string
	in     []string
}{
	{"github.com/tetratelabs/wazero", []string{"host/wasm"}},
	{"github.com/extism/go-sdk", nil}, // the reference that host/wasm is tested against
	{"github.com/dgraph-io/badger/v4", []string{"host/store"}},
	{"github.com/alecthomas/kong", []string{"cmd"}},
	{"github.com/golang-jwt/jwt/v5", []string{"host/auth"}},
	{"github.com/go-chi/chi/v5", []string{"api"}},
	{"github.com/tink-crypto/tink-go/v2", []string{"host/vault"}},
	{"filippo.io/age", []string{"host/vault"}},
	{"github.com/minio/minio-go/v7", []string{"host/artifact"}},
	{"github.com/getkin/kin-openapi", nil},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"registry/schema"}},
	{"gopkg.in/yaml.v3", []string{"registry", "cmd"}},
	{"github.com/prometheus/client_golang", []string{"api", "host/.", "host/engine"}},
	{"github.com/rogpeppe/go-internal", []string{"host/hosttest"}},
	{"code.dny.dev/ssrf", nil}, // the oracle that host/egress is tested against
	{"golang.org/x/net/dns", nil},
}

// testOnly are folders that only tests may import.
var testOnly = []string{"host/hosttest", "host/store/storetest"}

// catalogues are the folders of plugins that put packs together; packs share nothing but pluginsShare.
var catalogues = []string{"plugins/core", "plugins/content"}

const pluginsShare = "plugins/internal"

// environment is the one folder that may read the process's environment, testOnly apart.
const environment = "host/config"

// wayOut is what reaches other machines. All that a user's URL reaches goes through the guard of host/egress, so nothing else
// may make a client, a transport or a connection of its own; a pointer to a client that was made there may be passed around.
var wayOut = map[string][]string{
	"net/http": {
		"Get", "Head", "Post", "PostForm", "DefaultClient", "DefaultTransport", "Client", "Transport", "ProxyFromEnvironment",
	},
	"net/http/httputil": {"ReverseProxy", "NewSingleHostReverseProxy", "NewClientConn", "NewProxyClientConn"},
	"net":               {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer"},
	"crypto/tls":        {"Dial", "DialWithDialer", "Dialer"},
	"net/rpc":           {"Dial", "DialHTTP", "DialHTTPPath"},
	"net/smtp":          {"Dial", "SendMail"},
}

// pointedTo are the types of wayOut.
var pointedTo = []string{"Client", "Transport", "ReverseProxy", "Dialer"}

// mayGoOut are the folders that may use wayOut, testOnly apart: the command line speaks to its own service, and pdk has a host
// for the tests of a pack's author, which the service doesn't link.
var mayGoOut = []string{"host/egress", "cmd/gantry", "pdk"}

// The limits of size, in lines.
const (
	maxFile     = 500
	maxFunction = 80
)

// source is one package of the module with its parsed files, tests left out. Files of other systems are in it too.
type source struct {
	folder string
	files  map[string]*ast.File
}

func (s source) imports() map[string]bool {
	found := map[string]bool{}
	for _, f := range s.files {
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			found[path] = true
		}
	}
	return found
}

// load lists the module's packages.
func load(t *testing.T) ([]source, *token.FileSet) {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-deps=false", "-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var sources []source
	fset := token.NewFileSet()
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath, Dir                   string
			GoFiles, CgoFiles, IgnoredGoFiles []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		s := source{folder: folderOf(p.ImportPath), files: map[string]*ast.File{}}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			s.files[filepath.Join(s.folder, name)] = f
		}
		sources = append(sources, s)
	}
	return sources, fset
}

// folderOf is a package's folder in the module, "." for the module's own; "" for other modules.
func folderOf(path string) string {
	if path == module {
		return "."
	}
	folder, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return ""
	}
	return folder
}

// within says whether a folder is another one or below it.
func within(folder, of string) bool {
	if own, ok := strings.CutSuffix(of, "/."); ok {
		return folder == own
	}
	return folder == of || strings.HasPrefix(folder, of+"/")
}

// nearest returns the longest of some folders that holds folder, "" if none does.
func nearest(folder string, some []string) string {
	best := ""
	for _, of := range some {
		if within(folder, of) && len(of) > len(best) {
			best = of
		}
	}
	return best
}

func anyHolds(folder string, some []string) bool {
	return slices.ContainsFunc(some, func(of string) bool { return within(folder, of) })
}

// judge says why one folder may not import another, "" if it may.
func judge(from, to string) string {
	if hold := nearest(to, testOnly); hold != "" && !within(from, hold) {
		return hold + " is for tests only"
	}
	if within(from, "host") && within(to, "host") {
		return judgeFloors(from, to)
	}
	var rooms []string
	for _, a := range arrows {
		rooms = append(rooms, a.from)
	}
	room := nearest(from, rooms)
	target := nearest(to, rooms)
	switch {
	case room == "":
		return from + " has no place in the house: give it a line in arrows"
	case room == "plugins" && target == "plugins" && !within(to, pluginsShare) && !slices.Contains(catalogues, from):
		return "packs meet only in " + pluginsShare + " and " + strings.Join(catalogues, ", ")
	case room == target:
		return ""
	}
	for _, a := range arrows {
		if a.from == room {
			if slices.Contains(a.to, target) {
				return ""
			}
			return fmt.Sprintf("%s may import of this module only [%s]", room, strings.Join(a.to, ", "))
		}
	}
	return ""
}

// judgeFloors judges an import inside of host.
func judgeFloors(from, to string) string {
	if nearest(from, testOnly) != "" {
		return ""
	}
	var rooms []string
	level := map[string]int{}
	for i, floor := range floors {
		for _, room := range floor {
			rooms = append(rooms, room)
			level[room] = i
		}
	}
	a, b := nearest(from, rooms), nearest(to, rooms)
	switch {
	case a == "host" && from != "host" || b == "host" && to != "host":
		return "a folder of host has no floor: give it a place in floors"
	case a == b || level[a] > level[b] || slices.Contains(steps, [2]string{a, b}):
		return ""
	case level[a] == level[b]:
		return fmt.Sprintf("%s and %s stand on one floor: only the steps go from one to the other", a, b)
	}
	return fmt.Sprintf("%s stands on floor %d, below %s on floor %d", a, level[a], b, level[b])
}

func TestFloors(t *testing.T) {
	sources, _ := load(t)
	for _, s := range sources {
		for path := range s.imports() {
			if to := folderOf(path); to != "" && to != s.folder {
				if why := judge(s.folder, to); why != "" {
					t.Errorf("%s -> %s: %s", s.folder, to, why)
				}
				continue
			}
			if host, _, _ := strings.Cut(path, "/"); strings.Contains(host, ".") && folderOf(path) == "" {
				judgeModule(t, s.folder, path)
			}
		}
	}
}

// judgeModule judges the import of another module.
func judgeModule(t *testing.T, from, path string) {
	t.Helper()
	if room := nearest(from, standardOnly); room != "" {
		t.Errorf("%s -> %s: %s imports only the standard library and this module", from, path, room)
	}
	for _, only := range onlyHere {
		if (path == only.module || strings.HasPrefix(path, only.module+"/")) && !anyHolds(from, only.in) {
			t.Errorf("%s -> %s: only in tests and [%s]", from, path, strings.Join(only.in, ", "))
		}
	}
}

// The judge must be able to say no.
func TestFloorsJudge(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		allowed  bool
	}{
		{"cmd/gantry", "api", true}, {"cmd/gantry", "plugins", true}, {"cmd/gantry", ".", true}, {"cmd/gantry", "host/auth", true},
		{"cmd/gantry", "pdk", false}, {"cmd/gantry", "plugins/http.fetch", true}, {"cmd/gantry", "host/hosttest", false},
		{"api", "host/engine", true}, {"api/mcp", "api", true}, {"api", "plugins", false}, {"api", "cmd/gantry", false}, {"api", "pdk", false},
		{"host", "registry/schema", true}, {"host", "plugins", false}, {"host", "api", false}, {"host", "host/imports", true},
		{"host/auth", "host/store", true}, {"host/store", "host/auth", false}, {"host/store", "host/config", false}, {"host/auth/keyfile", "host/auth", true},
		{"host/engine", "host/wasm", false}, {"host/wasm", "host/engine", true}, {"host/wasm/rewrite", "host/wasm", true},
		{"host/wasm", "host/imports", false}, {"host/imports", "host/wasm", true}, {"host/audit", "host/artifact", false},
		{"host/memory", "host/artifact", true}, {"host/engine", "host", false}, {"host/hosttest", "host", true}, {"host", "host/hosttest", false},
		{"host/store", "host/store/storetest", false}, {"host/newcomer", "host/store", false}, {"host/wasm", "host/newcomer", false},
		{"registry", "registry/schema", true}, {"registry/schema", "pdk/wire", true}, {"registry", "host/store", false}, {"registry", "pdk", false},
		{"pdk", "pdk/wire", true}, {"pdk/wire", "pdk", false}, {"pdk", "registry", false},
		{"plugins/http.fetch", "pdk", true}, {"plugins/http.fetch", "pdk/wire", true}, {"plugins/http.fetch", "plugins/internal/forge", true},
		{"plugins/http.fetch", "plugins/web.scrape", false}, {"plugins/core", "plugins/http.fetch", true}, {"plugins/http.fetch", "host/egress", false},
		{"plugins", "plugins/http.fetch", false}, {".", "pdk", false}, {"tools", "pdk", false}, {"sidecars/agent", "sidecars/wire", true},
		{"host/hosttest", "plugins", true}, {"host/session", "sidecars/wire", true}, {"host/session", "sidecars/agent", false}, {"sidecars/agent", "host", false},
	} {
		if why := judge(tt.from, tt.to); (why == "") != tt.allowed {
			t.Errorf("%s -> %s: allowed %v, but %q", tt.from, tt.to, tt.allowed, why)
		}
	}
}

func TestSize(t *testing.T) {
	sources, fset := load(t)
	for _, s := range sources {
		for name, f := range s.files {
			if n := fset.Position(f.FileEnd).Line; n > maxFile {
				t.Errorf("%s has %d lines: at most %d", name, n, maxFile)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunction {
					t.Errorf("%s: func %s has %d lines: at most %d", name, fn.Name.Name, n, maxFunction)
				}
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	sources, _ := load(t)
	for _, s := range sources {
		said := len(s.files) == 0
		for _, f := range s.files {
			said = said || f.Doc.Text() != ""
		}
		if !said {
			t.Errorf("%s has no package comment", s.folder)
		}
	}
}

func TestEnvironment(t *testing.T) {
	readers := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"}
	sources, fset := load(t)
	for _, s := range sources {
		if s.folder == environment || anyHolds(s.folder, testOnly) {
			continue
		}
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains(readers, sel.Sel.Name) {
					return true
				}
				if pkg, ok := sel.X.(*ast.Ident); ok && (importedAs(f, "os", pkg.Name) || importedAs(f, "syscall", pkg.Name)) {
					t.Errorf("%s: %s.%s: only %s reads the environment", fset.Position(n.Pos()), pkg.Name, sel.Sel.Name, environment)
				}
				return true
			})
		}
	}
}

// importedAs says whether a file imports path under a name.
func importedAs(f *ast.File, path, name string) bool {
	for _, i := range f.Imports {
		if i.Path.Value == strconv.Quote(path) {
			return i.Name == nil && name == filepath.Base(path) || i.Name != nil && i.Name.Name == name
		}
	}
	return false
}

func TestWayOut(t *testing.T) {
	sources, fset := load(t)
	for _, s := range sources {
		if anyHolds(s.folder, mayGoOut) || anyHolds(s.folder, testOnly) {
			continue
		}
		for _, f := range s.files {
			for _, use := range waysOut(f) {
				t.Errorf("%s: %s: take a client of %s instead", fset.Position(use.Pos()), use.Sel.Name, mayGoOut[0])
			}
		}
	}
}

// waysOut finds the uses of wayOut in a file. A type behind a star is a pointer that somebody else has made.
func waysOut(f *ast.File) (uses []*ast.SelectorExpr) {
	ast.Inspect(f, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok {
			sel, ok := star.X.(*ast.SelectorExpr)
			return !ok || !slices.Contains(pointedTo, sel.Sel.Name)
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		for path, names := range wayOut {
			pkg, ok := sel.X.(*ast.Ident)
			if ok && slices.Contains(names, sel.Sel.Name) && importedAs(f, path, pkg.Name) {
				uses = append(uses, sel)
			}
		}
		return true
	})
	return uses
}

// The rule must be able to say no.
func TestWayOutJudge(t *testing.T) {
	for code, want := range map[string]int{
		`http.Get("x")`: 1, `http.DefaultClient.Do(nil)`: 1, `c := http.Client{}; c.Get("x")`: 1, `_ = &http.Client{Transport: &http.Transport{}}`: 2,
		`_ = new(http.Client)`: 1, `var c http.Client; c.Get("x")`: 1, `net.Dial("tcp", "x")`: 1, `(&net.Dialer{}).Dial("tcp", "x")`: 1,
		`f := http.Post; f("x", "", nil)`: 1, `type t struct{ http.Client }`: 1, `_ = http.DefaultTransport.(*http.Transport).Clone()`: 1,
		`var c *http.Client; c.Do(nil)`: 0, `_ = http.StatusOK`: 0, `var l net.Listener; _ = l`: 0, `_ = func(c *http.Client) {}`: 0,
		`*http.DefaultClient = x`: 1, `other.Get("x")`: 0,
	} {
		text := "package p\nimport (\n\"net\"\n\"net/http\"\n)\nfunc f() {\n" + code + "\n}"
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if got := len(waysOut(f)); got != want {
			t.Errorf("%s: %d ways out are seen, want %d", code, got, want)
		}
	}
}
