package httpfetch

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

// echo answers with what it was asked.
func echo(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/picture.png":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG\xff"))
		case "/gone":
			http.Error(w, "gone", http.StatusGone)
		default:
			body, _ := io.ReadAll(r.Body)
			w.Header().Add("X-Two", "a")
			w.Header().Add("X-Two", "b")
			_ = json.NewEncoder(w).Encode(map[string]any{
				"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery, "type": r.Header.Get("Content-Type"),
				"auth": r.Header.Get("Authorization"), "key": r.Header.Get("X-Key"), "body": string(body),
			})
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestFetch(t *testing.T) {
	upstream := echo(t)
	for name, tt := range map[string]struct{ input, want string }{
		"get":      {`{"url":"URL/a?b=c"}`, `{"method":"GET","path":"/a","query":"b=c"}`},
		"own":      {`{"url":"/healthz"}`, `{"path":"/healthz"}`},
		"text":     {`{"url":"URL/","method":"POST","body":"a=b"}`, `{"method":"POST","body":"a=b","type":""}`},
		"json":     {`{"url":"URL/","method":"PUT","body":{"a":[1]}}`, `{"body":"{\"a\":[1]}","type":"application/json"}`},
		"own type": {`{"url":"URL/","method":"PUT","body":[1],"headers":{"content-type":"text/x"}}`, `{"body":"[1]","type":"text/x"}`},
		"large":    {`{"url":"URL/","method":"PUT","body":"` + strings.Repeat("x", 1<<20) + `"}`, `{"method":"PUT"}`},
		"bearer":   {`{"url":"URL/","credential":"mine"}`, `{"auth":"Bearer s3cret"}`},
		"header":   {`{"url":"URL/","credential":"mine","as":"header:X-Key"}`, `{"key":"s3cret","auth":""}`},
		"query":    {`{"url":"URL/","credential":"mine","as":"query:key"}`, `{"query":"key=s3cret"}`},
		"vault":    {`{"url":"URL/","headers":{"Authorization":"Token ${vault:mine}"}}`, `{"auth":"Token s3cret"}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := pdk.NewHost(t)
			h.Secrets["mine"], h.Settings["GANTRY_BASE_URL"] = "s3cret", upstream.URL
			out, err := pdk.Answer(run, []byte(strings.ReplaceAll(tt.input, "URL", upstream.URL)))
			if err != nil {
				t.Fatal(err)
			}
			var o Output
			var got, want map[string]any
			if err := errors.Join(json.Unmarshal(out, &o), json.Unmarshal([]byte(tt.want), &want)); err != nil {
				t.Fatal(err)
			}
			if o.Status != 200 || o.Body == nil || json.Unmarshal([]byte(*o.Body), &got) != nil || o.Headers["X-Two"] != "a, b" {
				t.Fatalf("%.300s", out)
			}
			for field, value := range want {
				if got[field] != value {
					t.Errorf("%s is %v, want %v", field, got[field], value)
				}
			}
		})
	}
}

func TestFetchOther(t *testing.T) {
	upstream := echo(t)
	h := pdk.NewHost(t)
	out, err := pdk.Answer(run, []byte(`{"url":"`+upstream.URL+`/picture.png?x=/y"}`))
	if err != nil {
		t.Fatal(err)
	}
	var o Output
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatal(err)
	}
	body, ok := h.Artifact(o.ArtifactKey)
	if !ok || string(body) != "\x89PNG\xff" || o.Body != nil || !strings.HasSuffix(o.ArtifactKey, "picture.png") {
		t.Errorf("%s: %q", out, body)
	}
	if a := h.Artifacts(); a[0].ContentType != "image/png" {
		t.Errorf("%+v", a)
	}
	if out, err = pdk.Answer(run, []byte(`{"url":"`+upstream.URL+`/gone"}`)); err != nil || !strings.Contains(string(out), `"status":410`) {
		t.Errorf("%s, %v", out, err)
	}
}

func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct{ input, says string }{
		"no url":         {`{}`, "url is empty"},
		"no host":        {`{"url":"/x"}`, "no host"},
		"slashes":        {`{"url":"//evil.test/x"}`, "no host"},
		"as alone":       {`{"url":"http://a.test/","as":"basic"}`, "add credential"},
		"no credential":  {`{"url":"http://a.test/","credential":"none"}`, "not in the vault"},
		"body of digits": {`{"url":7}`, "field url"},
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(tt.input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.InvalidInput || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

func TestFileName(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.test": "body", "https://a.test/": "body", "https://a.test/x/y.png?z=/q#/r": "y.png", "https://a.test/x/": "body", "": "body",
	} {
		if got := fileName(url); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
	for given, want := range map[string]string{"image/PNG; a=b": "image/png", "text": "", "a/b\n": "a/b", "a/<b>": "", "": ""} {
		if got := mediaType(given); got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
}
