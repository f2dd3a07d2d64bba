package blogpublish

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/hosttest"
	"github.com/gantry-packs/gantry/pdk"
)

// pixel is a GIF of one pixel.
const pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

// guarded lets everything out but what the real host's guard stops first: the metadata address.
type guarded struct{}

func (guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Host, "127.0.0.1:") {
		return nil, errors.New("refused: " + r.URL.Host)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// start gives the pack a stand-in for the platform, and a vault with one key of it for each fault.
func start(t *testing.T) (*pdk.Host, *hosttest.Blog) {
	t.Helper()
	blog := hosttest.StartBlog(t)
	h := pdk.NewHost(t)
	h.HTTP = guarded{}
	h.Secrets[defaultCredential] = blog.Key(hosttest.FaultNone)
	h.Secrets["malformed"] = ":0123456789abcdef"
	h.Secrets["not hex"] = "id:secret"
	h.Secrets["unknown"] = strings.Repeat("0", 24) + ":" + strings.Repeat("0", 64)
	h.Secrets["wrong"] = strings.Split(blog.Key(hosttest.FaultNone), ":")[0] + ":" + strings.Repeat("0", 64)
	for _, f := range []hosttest.Fault{
		hosttest.FaultCut, hosttest.FaultHTML, hosttest.FaultBusy, hosttest.FaultDown, hosttest.FaultDenied, hosttest.FaultHuge,
		hosttest.FaultRedirect, hosttest.FaultEcho, hosttest.FaultStale,
	} {
		h.Secrets[string(f)] = blog.Key(f)
	}
	return h, blog
}

// image stores one and returns its key.
func image(t *testing.T, contentType string) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	a, err := pdk.PutArtifact("sun", contentType, pdk.NewBlob(data))
	if err != nil {
		t.Fatal(err)
	}
	return a.Key
}

func publishing(t *testing.T, in Input) Output {
	t.Helper()
	in.Destination = "ghost"
	out, err := run(in)
	if err != nil {
		t.Fatal(err)
	}
	if out.GhostError != "" {
		t.Fatalf("refused: %s", out.GhostError)
	}
	return out
}

func TestPublished(t *testing.T) {
	_, blog := start(t)
	no := false
	out := publishing(t, Input{Host: blog.URL + "/", Format: "markdown", Title: "Grüße", Body: "# A <b>\n\"&\"", Tags: []string{"a", "b c"}, AlsoSaveArtifact: &no})
	if out.Status != "draft" || out.PostID == "" || out.URL == "" || out.HTMLURL != out.URL || out.PublishedAt != "" || out.ArtifactKey != "" || out.Size != 0 {
		t.Errorf("draft: %+v", out)
	}
	post := blog.Posts()[0]
	var doc struct {
		Root struct {
			Children []struct{ Type, Markdown string }
		}
	}
	if err := json.Unmarshal([]byte(post["lexical"].(string)), &doc); err != nil {
		t.Fatal(err)
	}
	if c := doc.Root.Children; len(c) != 1 || c[0].Type != "markdown" || c[0].Markdown != "# A <b>\n\"&\"" || post["title"] != "Grüße" {
		t.Errorf("arrived as %v", post)
	}
	if tags, _ := json.Marshal(post["tags"]); string(tags) != `[{"name":"a"},{"name":"b c"}]` {
		t.Errorf("tags %s", tags)
	}

	out = publishing(t, Input{Host: blog.URL, Format: "html", Title: "B", Body: "<p>B</p>", Status: "published"})
	if out.Status != "published" || out.PublishedAt == "" || !strings.HasSuffix(out.ArtifactKey, "-b.html") || out.Size != 8 {
		t.Errorf("published: %+v", out)
	}
	if post := blog.Posts()[1]; post["html"] != "<p>B</p>" {
		t.Errorf("arrived as %v", post)
	}

	out = publishing(t, Input{Host: blog.URL, Format: "html", Title: "C", Body: "<p>", Status: "scheduled", PublishedAt: "2999-01-01T01:30:00+01:30"})
	if out.Status != "scheduled" || out.PublishedAt != "2999-01-01T00:00:00.000Z" {
		t.Errorf("scheduled: %+v", out)
	}
}

func TestPublishedWithImage(t *testing.T) {
	h, blog := start(t)
	out := publishing(t, Input{Host: blog.URL, Format: "html", Title: "Sun & Moon", Body: "<p>", FeatureImageKey: image(t, "image/gif")})
	data, kind := blog.Image(out.FeatureImageURL)
	stored, _ := h.Artifact(out.FeatureImageKey)
	if kind != "image/gif" || base64.StdEncoding.EncodeToString(data) != pixel || string(stored) != string(data) || !strings.HasSuffix(out.FeatureImageURL, "sun-moon-cover.gif") {
		t.Errorf("%+v: %s, %d bytes", out, kind, len(data))
	}
	if *blog.Posts()[0]["feature_image"].(*string) != out.FeatureImageURL {
		t.Errorf("arrived as %v", blog.Posts()[0])
	}
}

func TestPlatformFails(t *testing.T) {
	tests := map[string]struct {
		change     Input
		code, says string
	}{
		"credential missing": {Input{Credential: "absent"}, "invalid_input", "credential absent not in the vault"},
		"key malformed":      {Input{Credential: "malformed"}, "invalid_input", "<id>:<hex secret>"},
		"key not hex":        {Input{Credential: "not hex"}, "invalid_input", "<id>:<hex secret>"},
		"unknown key":        {Input{Credential: "unknown"}, "handler_failed", "status 401: Unknown Admin API Key"},
		"wrong secret":       {Input{Credential: "wrong"}, "handler_failed", "status 401: Invalid token: invalid signature"},
		"denied":             {Input{Credential: "denied"}, "handler_failed", "status 403: You do not have permission"},
		"busy":               {Input{Credential: "busy"}, "handler_failed", "status 429"},
		"down":               {Input{Credential: "down"}, "handler_failed", "status 503: Site is under maintenance"},
		"echo":               {Input{Credential: "echo"}, "handler_failed", "status 400: Cannot use Ghost [token]: Key "},
		"a page":             {Input{Credential: "html"}, "handler_failed", "status 200"},
		"cut off":            {Input{Credential: "cut"}, "handler_failed", "broke off"},
		"without an end":     {Input{Credential: "huge"}, "handler_failed", "status 200"},
		"sent elsewhere":     {Input{Credential: "redirect"}, "handler_failed", "cannot be reached"},
		"unknown state":      {Input{Credential: "stale"}, "handler_failed", `unknown status "sent"`},
		"too soon":           {Input{Status: "scheduled", PublishedAt: time.Now().Add(time.Minute).Format(time.RFC3339)}, "handler_failed", "status 422: Validation error, cannot save post.: Date must be at least 2 minutes in the future."},
		"nobody there":       {Input{Host: "http://127.0.0.1:1"}, "handler_failed", "cannot be reached"},
		"https there":        {Input{Host: "127.0.0.1:1"}, "handler_failed", "cannot be reached"},
		"image type":         {Input{FeatureImageKey: "image/bmp"}, "invalid_input", "JPEG, PNG, GIF, WebP and SVG"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, blog := start(t)
			in := tt.change
			in.Destination, in.Format, in.Title, in.Body = "ghost", "markdown", "T", "B"
			if in.Host == "" {
				in.Host = blog.URL
			}
			before := 0
			if in.FeatureImageKey != "" {
				in.FeatureImageKey = image(t, in.FeatureImageKey)
				before = 1
			}
			no := false
			in.AlsoSaveArtifact = &no
			out, err := run(in)
			var e *pdk.Error
			if !errors.As(err, &e) || string(e.Code) != tt.code || !strings.Contains(e.Message, tt.says) {
				t.Errorf("not saved: %+v, %v; want %s: …%s…", out, err, tt.code, tt.says)
			}
			if n := len(h.Artifacts()); n != before {
				t.Errorf("not saved: left %d artifacts", n-before)
			}
			in.AlsoSaveArtifact = nil
			out, err = run(in)
			if err != nil || out.Status != "artifact_saved_ghost_failed" || !strings.Contains(out.GhostError, tt.says) || out.PostID != "" || out.URL != "" {
				t.Errorf("saved: %+v, %v", out, err)
			}
			if body, ok := h.Artifact(out.ArtifactKey); !ok || string(body) != "B" || out.Destination != "ghost" {
				t.Errorf("saved: %+v: %q", out, body)
			}
		})
	}
}

func TestAddress(t *testing.T) {
	tests := map[string][2]string{
		"blog.example.com":          {"https://blog.example.com", "blog.example.com:443"},
		"blog.example.com:8443":     {"https://blog.example.com:8443", "blog.example.com:8443"},
		"https://blog.example.com/": {"https://blog.example.com", "blog.example.com:443"},
		"http://blog.example.com":   {"http://blog.example.com", "blog.example.com:80"},
		"http://127.0.0.1:2368":     {"http://127.0.0.1:2368", "127.0.0.1:2368"},
		"http://[::1]":              {"http://[::1]", "[::1]:80"},
		"[2001:db8::1]:444":         {"https://[2001:db8::1]:444", "[2001:db8::1]:444"},
	}
	for given, want := range tests {
		if base, host := address(given); base != want[0] || host != want[1] {
			t.Errorf("%s: %s, %s", given, base, host)
		}
	}
}
