package artifactget

import (
	"errors"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

func TestGet(t *testing.T) {
	tests := map[string]struct {
		contentType, body string
		text              bool
	}{
		"text":           {"text/plain; charset=utf-8", "grüß", true},
		"empty text":     {"text/plain", "", true},
		"JSON":           {"application/json", "{}", true},
		"JSON by suffix": {"application/ld+json", "{}", true},
		"SVG":            {"image/svg+xml", "<svg/>", true},
		"picture":        {"image/png", "plain", false},
		"unknown":        {"", "plain", false},
		"not UTF-8":      {"text/plain", "a\xff", false},
		"NUL":            {"text/plain", "a\x00b", false},
		"large text":     {"text/plain", strings.Repeat("a", maxText+1), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pdk.NewHost(t)
			a, err := pdk.PutArtifact("a", tt.contentType, pdk.NewBlob([]byte(tt.body)))
			if err != nil {
				t.Fatal(err)
			}
			out, err := run(Input{Key: a.Key})
			if err != nil {
				t.Fatal(err)
			}
			if out.Entry != a || (out.Content != nil) != tt.text || out.ContentB64.IsZero() != tt.text {
				t.Fatalf("answered %+v", out)
			}
			if tt.text && *out.Content != tt.body {
				t.Errorf("text %q", *out.Content)
			}
			if !tt.text {
				if body, err := out.ContentB64.Bytes(); err != nil || string(body) != tt.body {
					t.Errorf("%d bytes, %v", len(body), err)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	pdk.NewHost(t)
	large, err := pdk.PutArtifact("large", "text/plain", pdk.NewBlob(make([]byte, maxBody+1)))
	if err != nil {
		t.Fatal(err)
	}
	for key, says := range map[string]string{"": "key is empty", "a/b": "no artifact of yours", large.Key: "over 32 MiB"} {
		_, err := run(Input{Key: key})
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.InvalidInput || !strings.Contains(e.Message, says) {
			t.Errorf("%q: %v, want …%s…", key, err, says)
		}
	}
}
