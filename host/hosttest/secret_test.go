package hosttest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// operatorKey is a key that the operator gives by a variable. It is made of what the encodings write differently.
const operatorKey = `sk-7Hq/Zt+9"4xW<0>vB&e1`

// parrot repeats a request in its answer, in the way that the path says, and counts.
func parrot(t *testing.T) (server *httptest.Server, heard func() int) {
	t.Helper()
	requests := make(chan struct{}, 1000)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := fmt.Sprintf("%s %v %v", r.URL, r.Header, r.URL.Query())
		if strings.Contains(all, operatorKey) || strings.Contains(all, base64.StdEncoding.EncodeToString([]byte(operatorKey+":"))) {
			requests <- struct{}{}
		}
		switch r.URL.Path {
		case "/header":
			w.Header().Set("X-Echo", r.Header.Get("Authorization")+r.Header.Get("X-Key"))
		case "/error":
			http.Error(w, all, http.StatusUnauthorized)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_ = json.NewEncoder(z).Encode(all)
			_ = z.Close()
		case "/binary":
			_, _ = w.Write([]byte("\xff\xfe" + all))
		case "/away":
			http.Redirect(w, r, "http://127.0.0.1:1/?was="+url.QueryEscape(all), http.StatusFound)
		case "/drop":
			panic(http.ErrAbortHandler)
		default:
			_, _ = w.Write([]byte(all))
		}
	}))
	t.Cleanup(server.Close)
	return server, func() int { return len(requests) }
}

// leak names the form in which data tells the key, "" if it does not.
func leak(data []byte) string {
	quoted, _ := json.Marshal(operatorKey)
	for form, text := range map[string]string{
		"plain": operatorKey, "query": url.QueryEscape(operatorKey), "json": string(quoted[1 : len(quoted)-1]), "half": operatorKey[:10],
		"base64": base64.StdEncoding.EncodeToString([]byte(operatorKey)), "basic": base64.StdEncoding.EncodeToString([]byte(operatorKey + ":")),
	} {
		if bytes.Contains(data, []byte(text)) {
			return form
		}
	}
	return ""
}

// A key goes out in every way there is and comes back in every way there is; it is in no answer, log line, metric, audit row
// or file.
func TestNoSecretAnywhere(t *testing.T) {
	upstream, heard := parrot(t)
	s := Start(t, Options{Env: map[string]string{"GANTRY_STOCK_BASE_URL": upstream.URL, "GANTRY_STOCK_API_KEY": operatorKey, "GANTRY_LOG_LEVEL": "debug"}})
	token := s.Mint("alice", "packs:call")
	uses := 0
	for _, path := range []string{"/", "/header", "/error", "/gzip", "/binary", "/away", "/drop"} {
		for _, input := range []map[string]any{
			{"credential": "stock-key", "as": "bearer"}, {"credential": "stock-key", "as": "basic"}, {"credential": "stock-key", "as": "header:X-Key"},
			{"credential": "stock-key", "as": "query:key"}, {"headers": map[string]string{"Authorization": "Token ${vault:stock-key}"}},
		} {
			input["url"] = upstream.URL + path
			uses++
			a := s.MustDo("POST", "/api/v1/packs/http.fetch", token, compact(input))
			if form := leak(a.Body); form != "" || leak([]byte(fmt.Sprint(a.Header))) != "" {
				t.Errorf("%s: the answer holds the key (%s): %s", compact(input), form, a)
			}
			if wantOK := path != "/away" && path != "/drop"; wantOK != (a.Status == http.StatusOK) {
				t.Errorf("%s: %s", compact(input), a)
			}
			if path == "/" && !strings.Contains(string(a.Body), "[masked]") {
				t.Errorf("nothing was masked: %s", a)
			}
			for _, key := range artifactsOf(a) {
				if form := leak(s.MustDo("GET", "/api/v1/artifacts/"+key, token, "").Body); form != "" {
					t.Errorf("the artifact %s holds the key (%s)", key, form)
				}
			}
		}
	}
	if heard() < uses {
		t.Fatalf("the upstream heard the key %d times in %d uses", heard(), uses)
	}
	for name, data := range map[string][]byte{
		"metrics": s.MustDo("GET", "/metrics", "", "").Body, "audit": s.MustDo("GET", "/api/v1/audit?limit=1000", s.AdminToken(), "").Body,
	} {
		if form := leak(data); form != "" || len(data) < 1000 {
			t.Errorf("%s (%d bytes) hold the key (%s)", name, len(data), form)
		}
	}
	s.Stop()
	if form := leak([]byte(s.Log())); form != "" || !strings.Contains(s.Log(), "level=DEBUG") {
		t.Errorf("the log of %d bytes holds the key (%s)", len(s.Log()), form)
	}
	leakInFiles(t, s.DataDir)
	leakInFiles(t, s.TempDir)
}

func artifactsOf(a Answer) (keys []string) {
	list, _ := a.At("artifacts").([]any)
	for i := range list {
		key, _ := a.At(fmt.Sprintf("artifacts.%d.key", i)).(string)
		keys = append(keys, key)
	}
	return keys
}

func leakInFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if form := leak(data); form != "" {
			t.Errorf("%s holds the key (%s)", path, form)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
