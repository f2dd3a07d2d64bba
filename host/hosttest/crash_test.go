package hosttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	crashRounds  = 3
	crashWorkers = 8
	crashAfter   = 150 // acknowledged operations of a round, then the power is cut
	tidyLimit    = 15 * time.Second
)

// leftover is what a half-written file would be called.
var leftover = regexp.MustCompile(`(?i)tmp|temp|partial|\.part$|\.new$|staging`)

// promise is something that the program has acknowledged, and so may not forget.
type promise struct {
	what      string // for the failure's text
	requestID string
	kept      func(t *testing.T, s *Server) error
}

// ledger collects promises from many goroutines until the cut.
type ledger struct {
	mu       sync.Mutex
	promises []promise
	enough   chan struct{} // closed at crashAfter
}

func (l *ledger) add(p promise) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.promises = append(l.promises, p)
	if len(l.promises) == crashAfter {
		close(l.enough)
	}
}

// TestKill9 cuts the power under load, several times on one data directory: what was acknowledged is there afterwards.
func TestKill9(t *testing.T) {
	s := Start(t, Options{})
	writer := s.Mint("writer", "packs:call", "packs:read")
	var all []promise
	for round := range crashRounds {
		l := &ledger{enough: make(chan struct{})}
		var workers sync.WaitGroup
		workers.Go(func() { workOnFiles(s, l, writer, fmt.Sprintf("%d-files", round)) })
		for worker := range crashWorkers {
			workers.Go(func() { work(s, l, s.AdminToken(), writer, fmt.Sprintf("%d-%d", round, worker)) })
		}
		select {
		case <-l.enough:
		case <-time.After(requestLimit):
			t.Errorf("the load made only %d acknowledged operations", len(l.promises))
		}
		awaitWriting(t, s)
		s.Kill9()
		workers.Wait()
		all = append(all, l.promises...)

		started := time.Now()
		s.Restart()
		t.Logf("round %d: %d operations acknowledged, ready again after %s", round, len(l.promises), time.Since(started).Round(time.Millisecond))
		noLeftovers(t, s)
		rows := auditedRequests(t, s)
		for _, p := range all { // those of earlier rounds too: a later crash must not lose them
			if err := p.kept(t, s); err != nil {
				t.Errorf("round %d: %s: %v", round, p.what, err)
			}
			if !rows[p.requestID] {
				t.Errorf("round %d: %s: no audit row of request %s", round, p.what, p.requestID)
			}
		}
	}
}

// work makes acknowledged changes until the server is gone.
func work(s *Server, l *ledger, admin, writer, id string) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d", id, i)
		var p promise
		var err error
		switch i % 5 {
		case 0:
			p, err = putArtifact(s, writer, name, 20<<10)
		case 1:
			p, err = storeMemory(s, writer, name)
		case 2:
			p, err = savePlan(s, writer, name)
		case 3:
			p, err = mintToken(s, admin, name)
		case 4:
			p, err = revokeToken(s, admin, name)
		}
		if err != nil {
			return
		}
		l.add(p)
	}
}

// try makes a request; no answer, or one that isn't a success, is an error and promises nothing.
func try(s *Server, method, path, token, body string) (Answer, error) {
	a, err := s.Do(method, path, token, strings.NewReader(body))
	if err == nil && a.Status >= 300 {
		err = fmt.Errorf("%s", a)
	}
	return a, err
}

func answered(what string, a Answer, kept func(*testing.T, *Server) error) promise {
	return promise{what: what, requestID: a.Header.Get("X-Request-Id"), kept: kept}
}

// workOnFiles stores files that take a while to write, so that the cut falls into one.
func workOnFiles(s *Server, l *ledger, writer, id string) {
	for i := 0; ; i++ {
		p, err := putArtifact(s, writer, fmt.Sprintf("%s-%d", id, i), 4<<20)
		if err != nil {
			return
		}
		l.add(p)
	}
}

func putArtifact(s *Server, token, name string, size int) (promise, error) {
	content := strings.Repeat(name+"\n", size/len(name))
	a, err := try(s, "POST", "/api/v1/packs/artifact.put", token, compact(map[string]any{"name": name + ".txt", "content": content}))
	if err != nil {
		return promise{}, err
	}
	key, _ := a.At("artifacts.0.key").(string)
	return answered("artifact "+name, a, func(_ *testing.T, s *Server) error {
		got, err := try(s, "GET", "/api/v1/artifacts/"+key, token, "")
		if err == nil && string(got.Body) != content {
			err = fmt.Errorf("%d bytes that differ from the %d stored", len(got.Body), len(content))
		}
		return err
	}), nil
}

func storeMemory(s *Server, token, name string) (promise, error) {
	memory := compact(map[string]any{"category": "crash", "key": name, "value": name})
	a, err := try(s, "POST", "/api/v1/packs/memory.store", token, memory)
	if err != nil {
		return promise{}, err
	}
	return answered("memory "+name, a, func(_ *testing.T, s *Server) error {
		// Forgetting says whether it was there; then it is stored again for the next round.
		got, err := try(s, "POST", "/api/v1/packs/memory.forget", token, compact(map[string]any{"category": "crash", "key": name}))
		if err == nil && got.At("output.forgotten") != 1.0 {
			err = fmt.Errorf("forgotten: %s", got)
		}
		if err == nil {
			_, err = try(s, "POST", "/api/v1/packs/memory.store", token, memory)
		}
		return err
	}), nil
}

func savePlan(s *Server, token, name string) (promise, error) {
	a, err := try(s, "POST", "/api/v1/packs/plan.save", token, compact(map[string]any{"intent": name, "steps": []string{"one", "two"}}))
	if err != nil {
		return promise{}, err
	}
	return answered("plan "+name, a, func(*testing.T, *Server) error { return nil }), nil // its audit row is what can be seen of it
}

func mintToken(s *Server, admin, name string) (promise, error) {
	a, err := try(s, "POST", "/api/v1/auth/tokens", admin, compact(map[string]any{"name": name, "subject": name, "scopes": []string{"packs:read"}, "ttl": "1h"}))
	if err != nil {
		return promise{}, err
	}
	token, _ := a.At("token").(string)
	return answered("token "+name, a, func(_ *testing.T, s *Server) error {
		_, err := try(s, "GET", "/api/v1/packs", token, "")
		return err
	}), nil
}

func revokeToken(s *Server, admin, name string) (promise, error) {
	minted, err := try(s, "POST", "/api/v1/auth/tokens", admin, compact(map[string]any{"name": name, "scopes": []string{"packs:read"}, "ttl": "1h"}))
	if err != nil {
		return promise{}, err
	}
	token, _ := minted.At("token").(string)
	id, _ := minted.At("id").(string)
	a, err := try(s, "DELETE", "/api/v1/auth/tokens/"+id, admin, "")
	if err != nil {
		return promise{}, err
	}
	return answered("revocation "+name, a, func(_ *testing.T, s *Server) error {
		got, err := s.Do("GET", "/api/v1/packs", token, nil)
		if err == nil && got.Status != http.StatusUnauthorized {
			err = fmt.Errorf("the revoked token works again: %d", got.Status)
		}
		return err
	}), nil
}

// auditedRequests reads the whole audit log and returns the request ids in it.
func auditedRequests(t *testing.T, s *Server) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, row := range auditRows(t, s, url.Values{}) {
		ids[row.RequestID] = true
	}
	return ids
}

// auditRow is what tests read of one.
type auditRow struct {
	RequestID string `json:"request_id"`
	Subject   string
	Action    string
	Pack      string
	Status    string
	Error     string
}

// auditRows reads all pages of the rows that the query selects.
func auditRows(t *testing.T, s *Server, q url.Values) []auditRow {
	t.Helper()
	var rows []auditRow
	q.Set("limit", "1000")
	for {
		var page struct {
			Rows       []auditRow `json:"rows"`
			NextCursor string     `json:"next_cursor"`
		}
		a := s.MustDo("GET", "/api/v1/audit?"+q.Encode(), s.AdminToken(), "")
		if err := json.Unmarshal(a.Body, &page); err != nil || a.Status != http.StatusOK {
			t.Fatalf("the audit log: %v: %s", err, a)
		}
		rows = append(rows, page.Rows...)
		if page.NextCursor == "" {
			return rows
		}
		q.Set("cursor", page.NextCursor)
	}
}

// awaitWriting returns when a file is being written, or after a while: that is when a cut leaves something behind.
func awaitWriting(t *testing.T, s *Server) {
	t.Helper()
	for end := time.Now().Add(tidyLimit); time.Now().Before(end) && len(leftovers(t, s)) == 0; {
	}
}

// noLeftovers waits until what a cut in the middle of a write left behind is gone; the program may tidy up after its
// ready line, but it must.
func noLeftovers(t *testing.T, s *Server) {
	t.Helper()
	var found []string
	for end := time.Now().Add(tidyLimit); time.Now().Before(end); {
		if found = leftovers(t, s); len(found) == 0 {
			return
		}
		s.MustDo("GET", "/healthz", "", "")
	}
	t.Errorf("left over after a crash: %q", found)
}

func leftovers(t *testing.T, s *Server) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(s.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && leftover.MatchString(strings.TrimPrefix(path, s.DataDir)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is being tidied
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.TempDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, filepath.Join(s.TempDir, e.Name()))
	}
	return found
}
