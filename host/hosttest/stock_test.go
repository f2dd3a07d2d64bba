package hosttest

import (
	"strings"
	"testing"
)

func TestStockSearch(t *testing.T) {
	s := StartStock(t)
	c := newClient()
	tests := map[string]struct {
		key, query string
		status     int
		path, want string
	}{
		"good":         {s.Key(FaultNone), "query=mountains&per_page=2&page=2", 200, "photos.0.id", "1261728"},
		"total":        {s.Key(FaultNone), "query=mountains&per_page=2&page=2", 200, "total_results", "5"},
		"next page":    {s.Key(FaultNone), "query=mountains&per_page=2&page=2", 200, "next_page", `"` + s.URL + `/v1/search?page=3\u0026per_page=2\u0026query=mountains"`},
		"last page":    {s.Key(FaultNone), "query=mountains&per_page=2&page=3", 200, "next_page", "null"},
		"first page":   {s.Key(FaultNone), "query=mountains", 200, "prev_page", "null"},
		"nothing":      {s.Key(FaultNone), "query=submarine", 200, "photos", "[]"},
		"no key":       {"", "query=x", 401, "code", `"Unauthorized"`},
		"with scheme":  {"Bearer " + s.Key(FaultNone), "query=x", 401, "code", `"Unauthorized"`},
		"no query":     {s.Key(FaultNone), "", 400, "code", `"Bad Request"`},
		"81 on a page": {s.Key(FaultNone), "query=x&per_page=81", 400, "code", `"Bad Request"`},
		"orientation":  {s.Key(FaultNone), "query=x&orientation=tall", 400, "code", `"Bad Request"`},
		"too often":    {s.Key(FaultBusy), "query=x", 429, "code", `"Too Many Requests"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req, err := newRequest(s.URL, "GET", "/v1/search?"+tt.query, "", nil, []string{"Authorization: " + tt.key})
			if err != nil {
				t.Fatal(err)
			}
			a, err := send(c, req)
			if err != nil || a.Status != tt.status || compact(a.At(tt.path)) != tt.want {
				t.Errorf("%s, %v: %s is %s", a, err, tt.path, compact(a.At(tt.path)))
			}
			if limited := a.Header.Get("X-Ratelimit-Limit") != ""; limited != (tt.status == 200) {
				t.Errorf("%d with the headers %v", a.Status, a.Header)
			}
		})
	}
}

// No two faults may share a key, or a script would test another one than it says.
func TestFaultKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range append(StartStock(t).Env(), StartBlog(t).Env()...) {
		name, value, _ := strings.Cut(line, "=")
		if seen[name] || seen[value] {
			t.Errorf("%s is there twice", line)
		}
		seen[name], seen[value] = true, true
	}
	if !seen["STOCK_KEY_PHOTO_GONE"] || !seen["BLOG_KEY_SLOW"] || !seen["STOCK_KEY"] {
		t.Errorf("variables %v", seen)
	}
}
