package blogpublish

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

// post is a good input with some fields set otherwise; nil takes a field out.
func post(t *testing.T, change map[string]any) []byte {
	t.Helper()
	in := map[string]any{"format": "markdown", "title": "Hello, wörld!", "body": "# Hello"}
	maps.Copy(in, change)
	maps.DeleteFunc(in, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		change     map[string]any
		code, says string
	}{
		"destination":              {map[string]any{"destination": "wordpress"}, "invalid_input", "artifact (default) or ghost"},
		"format":                   {map[string]any{"format": "pdf"}, "invalid_input", "markdown or html"},
		"no format":                {map[string]any{"format": nil}, "invalid_input", "markdown or html"},
		"empty title":              {map[string]any{"title": " \n"}, "invalid_input", "title is empty"},
		"long title":               {map[string]any{"title": strings.Repeat("ä", 256)}, "invalid_input", "255 characters"},
		"body and prompt":          {map[string]any{"prompt": "x", "model": "a/b"}, "invalid_input", "exclude each other"},
		"neither body nor prompt":  {map[string]any{"body": nil}, "invalid_input", "send the post as body"},
		"prompt without model":     {map[string]any{"body": nil, "prompt": "x"}, "invalid_input", "needs model"},
		"large body":               {map[string]any{"body": strings.Repeat("a", maxBody+1)}, "invalid_input", "over 8 MiB"},
		"status":                   {map[string]any{"status": "gone"}, "invalid_input", "draft (default), published or scheduled"},
		"scheduled without time":   {map[string]any{"status": "scheduled"}, "invalid_input", "needs published_at"},
		"scheduled in the past":    {map[string]any{"status": "scheduled", "published_at": "2001-01-01T00:00:00Z"}, "invalid_input", "not in the future"},
		"time without zone":        {map[string]any{"published_at": "2999-01-01T00:00:00"}, "invalid_input", "RFC 3339"},
		"ghost without host":       {map[string]any{"destination": "ghost"}, "invalid_input", "needs host"},
		"host with a path":         {map[string]any{"destination": "ghost", "host": "https://blog.example.com/ghost"}, "invalid_input", "host name"},
		"host with a user":         {map[string]any{"destination": "ghost", "host": "http://a@b.example.com"}, "invalid_input", "host name"},
		"both image sources":       {map[string]any{"hero_image": true, "feature_image_artifact_key": "a/b"}, "invalid_input", "exclude each other"},
		"unknown feature image":    {map[string]any{"feature_image_artifact_key": "a/b"}, "invalid_input", "no artifact of yours"},
		"prompt without a gateway": {map[string]any{"body": nil, "prompt": "x", "model": "a/b"}, "internal", "no gateway dispatcher"},
		"hero without a gateway":   {map[string]any{"hero_image": true}, "internal", "no gateway dispatcher"},
		"ghost, nothing saved":     {map[string]any{"destination": "ghost", "host": "blog.example.com", "also_save_artifact": false}, "invalid_input", "credential blog-admin-key not in the vault"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := pdk.NewHost(t)
			out, err := pdk.Answer(run, post(t, tt.change))
			var e *pdk.Error
			if !errors.As(err, &e) {
				t.Fatalf("answered %s, %v", out, err)
			}
			if string(e.Code) != tt.code || !strings.Contains(e.Message, tt.says) {
				t.Errorf("error %v, want %s: …%s…", e, tt.code, tt.says)
			}
			if n := len(h.Artifacts()); n != 0 {
				t.Errorf("a refused post left %d artifacts", n)
			}
		})
	}
}

func TestStored(t *testing.T) {
	ghost := map[string]any{"destination": "ghost", "host": "http://blog.example.com:2368", "credential": "my-key", "tags": []string{"a"}}
	tests := map[string]struct {
		change                          map[string]any
		status, name, kind, says, place string
	}{
		"markdown":          {nil, "artifact_saved", "hello-world.md", "text/markdown; charset=utf-8", "", "artifact"},
		"html":              {map[string]any{"format": "html"}, "artifact_saved", "hello-world.html", "text/html; charset=utf-8", "", "artifact"},
		"empty destination": {map[string]any{"destination": ""}, "artifact_saved", "hello-world.md", "text/markdown; charset=utf-8", "", "artifact"},
		"scheduled":         {map[string]any{"status": "scheduled", "published_at": "2999-01-01T00:00:00+01:00"}, "artifact_saved", "hello-world.md", "text/markdown; charset=utf-8", "", "artifact"},
		"not saved twice":   {map[string]any{"also_save_artifact": false}, "artifact_saved", "hello-world.md", "text/markdown; charset=utf-8", "", "artifact"},
		"ghost":             {ghost, "artifact_saved_ghost_failed", "hello-world.md", "text/markdown; charset=utf-8", "credential my-key not in the vault", "ghost"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := pdk.NewHost(t)
			raw, err := pdk.Answer(run, post(t, tt.change))
			if err != nil {
				t.Fatal(err)
			}
			var out Output
			if err := json.Unmarshal(raw, &out); err != nil {
				t.Fatal(err)
			}
			if out.Status != tt.status || out.Destination != tt.place || out.BodySource != "input" || out.Size != 7 || !strings.Contains(out.GhostError, tt.says) {
				t.Errorf("answered %s", raw)
			}
			stored := h.Artifacts()
			if len(stored) != 1 || stored[0].Key != out.ArtifactKey || !strings.HasSuffix(out.ArtifactKey, "-"+tt.name) || stored[0].ContentType != tt.kind {
				t.Errorf("stored %+v, answered %s", stored, raw)
			}
			if body, _ := h.Artifact(out.ArtifactKey); string(body) != "# Hello" {
				t.Errorf("body %q", body)
			}
		})
	}
}

func TestFeatureImage(t *testing.T) {
	h := pdk.NewHost(t)
	image, err := pdk.PutArtifact("sun.jpg", "image/jpeg", pdk.NewBlob([]byte("picture")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := pdk.PutArtifact("sun.txt", "text/plain", pdk.NewBlob([]byte("picture")))
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(Input{Format: "html", Title: "Sun", Body: "<p>", FeatureImageKey: image.Key})
	if err != nil {
		t.Fatal(err)
	}
	if body, ok := h.Artifact(out.FeatureImageKey); !ok || string(body) != "picture" || !strings.HasSuffix(out.FeatureImageKey, "-sun-cover.png") {
		t.Errorf("cover %q: %q", out.FeatureImageKey, body)
	}
	if _, err := run(Input{Format: "html", Title: "Sun", Body: "<p>", FeatureImageKey: text.Key}); err == nil || !strings.Contains(err.Error(), "not an image") {
		t.Errorf("a text as an image: %v", err)
	}
}

func TestSlugify(t *testing.T) {
	tests := map[string]string{
		"Hello, World!":                "hello-world",
		"  --  ":                       "post",
		"":                             "post",
		"日本語":                          "post",
		"Ärger über Straßen":           "arger-uber-strassen",
		"Łódź, Œuvre & Þór":            "lodz-oeuvre-thor",
		"It's Go's 1.26":               "its-gos-1-26",
		"cafe\u0301":                   "cafe",
		"../../etc/passwd":             "etc-passwd",
		"İstanbul":                     "istanbul",
		strings.Repeat("a", 100):       strings.Repeat("a", 74),
		strings.Repeat("word ", 30):    strings.TrimSuffix(strings.Repeat("word-", 15), "-"),
		strings.Repeat("a", 74) + " b": strings.Repeat("a", 74),
	}
	for title, want := range tests {
		if got := slugify(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

func FuzzSlugify(f *testing.F) {
	f.Add("Hello, wörld")
	f.Add("\x00\xff/../")
	f.Fuzz(func(t *testing.T, title string) {
		s := slugify(title)
		if s == "" || len(s) > maxSlug || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s[0] == '-' || s[len(s)-1] == '-' {
			t.Errorf("%q: %q", title, s)
		}
	})
}
