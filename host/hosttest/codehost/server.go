// Package codehost is a code-hosting platform for tests: an HTTP server that keeps its state in memory and answers as GitHub's
// REST API is documented to, for what the packs forge.* ask. Below /api/v1 it answers as Gitea and Forgejo do, as their API
// is told apart by its address; below /api/v3, and at the root, as GitHub. The state behind both is the same.
package codehost

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is one platform. Make it with [New], seed it, and give it to httptest.NewServer.
type Server struct {
	github, gitea http.Handler

	mu        sync.Mutex
	repos     map[string]*repo   // by owner/name in lower case
	orgs      map[string][]label // labels of Gitea's organisations, by name
	accounts  map[string]*Account
	anonymous Account
	seen      []Seen
	lastID    int64
}

// Account is who a token stands for.
type Account struct {
	Login    string
	ReadOnly bool // reads private repositories, writes nothing
	Quota    int  // requests that the hour still has; 0 stands for the documented limit, less for none
	used     int
}

// Repo seeds a repository.
type Repo struct {
	Name     string // owner/name
	Private  bool
	Labels   []string
	Branches []string          // default: main; the first is the default branch
	Files    map[string]string // path → content, for the search
	Commits  []string          // messages, for the search
	Trouble  Trouble           // how it misbehaves
}

// Seen is a request as it came.
type Seen struct {
	Method, URL string
	Header      http.Header
	Body        string
}

// The documented hourly limits.
const (
	accountQuota   = 5000
	anonymousQuota = 60
)

// maxBody is the largest request body that is read, in bytes.
const maxBody = 4 << 20

// New is a platform without accounts and repositories.
func New() *Server {
	s := &Server{repos: map[string]*repo{}, orgs: map[string][]label{}, accounts: map[string]*Account{}}
	s.github, s.gitea = s.routes(false), s.routes(true)
	return s
}

// AddAccount makes a token that stands for an account.
func (s *Server) AddAccount(token string, a Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[token] = &a
}

// LimitAnonymous sets how many requests without a token are still answered in this hour.
func (s *Server) LimitAnonymous(quota int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anonymous = Account{Quota: quota}
}

// AddRepo makes a repository.
func (s *Server) AddRepo(r Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.Branches) == 0 {
		r.Branches = []string{"main"}
	}
	made := &repo{Repo: r, id: s.nextID()}
	for _, name := range r.Labels {
		made.labels = append(made.labels, label{s.nextID(), name})
	}
	s.repos[strings.ToLower(r.Name)] = made
}

// AddOrganisation makes an organisation with labels for all of its repositories, as Gitea has them.
func (s *Server) AddOrganisation(name string, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orgs[name] = []label{}
	for _, l := range labels {
		s.orgs[name] = append(s.orgs[name], label{s.nextID(), l})
	}
}

// Seen are the requests so far, in order.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.seen = append(s.seen, Seen{r.Method, r.URL.String(), r.Header.Clone(), string(body)})
	s.mu.Unlock()
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		http.StripPrefix("/api/v1", s.gitea).ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/api/v3/"):
		http.StripPrefix("/api/v3", s.github).ServeHTTP(w, r)
	default:
		s.github.ServeHTTP(w, r)
	}
}

func (s *Server) routes(gitea bool) http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, answer func(*exchange)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, gitea, answer) })
	}
	route("GET /repos/{owner}/{repo}/issues", (*exchange).listIssues)
	route("POST /repos/{owner}/{repo}/issues", (*exchange).createIssue)
	route("GET /repos/{owner}/{repo}/issues/{number}", (*exchange).getIssue)
	route("POST /repos/{owner}/{repo}/issues/{number}/comments", (*exchange).createComment)
	route("GET /repos/{owner}/{repo}/issues/{number}/comments", (*exchange).listComments)
	route("GET /repos/{owner}/{repo}/labels", (*exchange).listLabels)
	route("GET /repos/{owner}/{repo}/pulls", (*exchange).listPulls)
	route("POST /repos/{owner}/{repo}/pulls", (*exchange).createPull)
	route("POST /repos/{owner}/{repo}/releases", (*exchange).createRelease)
	if gitea {
		route("GET /orgs/{org}/labels", (*exchange).listOrgLabels)
		route("GET /repos/search", (*exchange).searchReposGitea)
		route("GET /repos/issues/search", (*exchange).searchIssuesGitea)
	} else {
		route("GET /search/{kind}", (*exchange).search)
	}
	route("/", (*exchange).notFound)
	return mux
}

// answer does what comes before every answer: the caller's account, its quota, and the trouble that a repository is in.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, gitea bool, then func(*exchange)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &exchange{s: s, w: w, r: r, gitea: gitea, base: "http://" + r.Host + strings.TrimSuffix(prefix(r), "/")}
	if r.Header.Get("User-Agent") == "" {
		http.Error(w, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.", http.StatusForbidden)
		return
	}
	if !x.identify() || !x.spend() {
		return
	}
	name := r.PathValue("owner") + "/" + r.PathValue("repo")
	if name != "/" {
		known := s.repos[strings.ToLower(name)]
		if known == nil || known.Private && x.account == &s.anonymous {
			x.notFound()
			return
		}
		x.repo = known
		if known.Trouble != "" && x.misbehave(known.Trouble) {
			return
		}
	}
	if r.Method == http.MethodPost && !x.mayWrite() {
		return
	}
	then(x)
}

// prefix is what stood before the path that the routes see.
func prefix(r *http.Request) string {
	before, _, _ := strings.Cut(r.RequestURI, "?")
	return strings.TrimSuffix(before, r.URL.EscapedPath())
}

// nextID counts everything that has an id.
func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}

// clock gives things their times: a fixed start and a second for each id, so that what is newer has a later one.
func clock(id int64) string {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(id) * time.Second).Format(time.RFC3339)
}
