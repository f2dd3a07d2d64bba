package codehost

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func ask(t *testing.T, method, url, token, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// The answers that GitHub documents, and where Gitea's differ.
func TestAnswers(t *testing.T) {
	site, url := Start(t, Repo{Name: "octo/hello", Labels: []string{"bug"}, Branches: []string{"main", "fix"}}, Repo{Name: "octo/secret", Private: true})
	if err := site.Fill("octo/hello", 65); err != nil {
		t.Fatal(err)
	}
	const repo = "/repos/octo/hello"
	tests := []struct {
		method, path, token, body string
		status                    int
		says                      string
	}{
		{"GET", repo + "/issues", "", "", 200, `"number":65`},
		{"GET", repo + "/issues", "wrong", "", 401, "Bad credentials"},
		{"GET", "/repos/octo/none/issues", "", "", 404, `"message":"Not Found"`},
		{"GET", "/repos/octo/secret/issues", "", "", 404, "Not Found"},
		{"GET", "/repos/octo/secret/issues", ReaderToken, "", 200, "[]"},
		{"GET", repo + "/issues", UsedUpToken, "", 403, "API rate limit exceeded"},
		{"GET", repo + "/issues/66", "", "", 404, "Not Found"},
		{"GET", repo + "/issues/x", "", "", 404, "Not Found"},
		{"POST", repo + "/issues", "", `{"title":"a"}`, 401, "Requires authentication"},
		{"POST", repo + "/issues", ReaderToken, `{"title":"a"}`, 403, "Resource not accessible"},
		{"POST", repo + "/issues", WriterToken, `{`, 400, "Problems parsing JSON"},
		{"POST", repo + "/issues", WriterToken, `{}`, 422, `"code":"missing_field","field":"title"`},
		{"POST", repo + "/issues", WriterToken, `{"title":"a","labels":["new"]}`, 201, `"name":"new"`}, // as GitHub does
		{"POST", "/api/v1" + repo + "/issues", WriterToken, `{"title":"a","labels":["bug"]}`, 201, `"labels":[]`},
		{"POST", repo + "/issues/1/comments", WriterToken, `{"body":""}`, 422, "body is too short"},
		{"POST", repo + "/pulls", WriterToken, `{"title":"a","head":"fix","base":"none"}`, 422, `"code":"invalid","field":"base"`},
		{"POST", repo + "/pulls", WriterToken, `{"title":"a","head":"main","base":"main"}`, 422, "No commits between main and main"},
		{"POST", repo + "/pulls", WriterToken, `{"title":"a","head":"fix","base":"main"}`, 201, `"number":68`},
		{"POST", repo + "/pulls", WriterToken, `{"title":"a","head":"octo:fix","base":"main"}`, 422, "already exists for octo:fix"},
		{"POST", "/api/v1" + repo + "/pulls", WriterToken, `{"title":"a","head":"fix","base":"main"}`, 409, "already exists"},
		{"GET", repo + "/issues/68", "", "", 200, `"pull_request":{`},
		{"GET", repo + "/pulls?head=fix", "", "", 200, `"label":"octo:fix"`}, // a head without owner is overlooked
		{"GET", repo + "/pulls?head=eve:fix", "", "", 200, "[]"},
		{"POST", repo + "/releases", WriterToken, `{"tag_name":"v1"}`, 201, `/assets{?name,label}"`},
		{"POST", repo + "/releases", WriterToken, `{"tag_name":"v1"}`, 422, `"code":"already_exists"`},
		{"POST", "/api/v1" + repo + "/releases", WriterToken, `{"tag_name":"v1"}`, 409, "message"},
		{"GET", "/search/issues?q=", "", "", 422, `"field":"q"`},
		{"GET", "/search/code?q=x", "", "", 401, "Requires authentication"},
		{"GET", "/search/users?q=x", "", "", 404, "Not Found"},
		{"GET", "/api/v1/search/issues?q=x", "", "", 404, "couldn't be found"},
		{"GET", repo, "", "", 404, "Not Found"},
	}
	for _, tt := range tests {
		resp, text := ask(t, tt.method, url+tt.path, tt.token, tt.body)
		if resp.StatusCode != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s %s %s: %d %s, want %d …%s…", tt.method, tt.path, tt.body, resp.StatusCode, text[:min(len(text), 300)], tt.status, tt.says)
		}
	}
}

func TestPages(t *testing.T) {
	site, url := Start(t, Repo{Name: "octo/hello"})
	if err := site.Fill("octo/hello", 65); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query, next string
		count       int
	}{
		{"", "page=2", 30}, {"?page=3", "", 5}, {"?page=4", "", 0}, {"?per_page=100", "", 65}, {"?per_page=60", "page=2", 60}, {"?per_page=-1&page=-1", "page=2", 30},
	} {
		resp, text := ask(t, "GET", url+"/repos/octo/hello/issues"+tt.query, "", "")
		if n := strings.Count(text, `"number":`); n != tt.count {
			t.Errorf("%q: %d issues, want %d", tt.query, n, tt.count)
		}
		link := resp.Header.Get("Link")
		if strings.Contains(link, `rel="next"`) != (tt.next != "") || !strings.Contains(link, tt.next) {
			t.Errorf("%q: Link %s", tt.query, link)
		}
	}
}

func TestAnonymousLimit(t *testing.T) {
	site, url := Start(t, Repo{Name: "octo/hello"})
	site.LimitAnonymous(2)
	for _, want := range []int{200, 200, 403} {
		resp, _ := ask(t, "GET", url+"/repos/octo/hello/issues", "", "")
		if resp.StatusCode != want || resp.Header.Get("X-RateLimit-Limit") != "2" || resp.Header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%d with %v, want %d", resp.StatusCode, resp.Header, want)
		}
	}
}
