package forgecreaterelease

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/hosttest/codehost"
	"github.com/gantry-packs/gantry/pdk"
)

func TestRun(t *testing.T) {
	for _, flavour := range []string{"/api/v3", "/api/v1"} {
		t.Run(flavour, func(t *testing.T) {
			_, url := codehost.Start(t, codehost.Repo{Name: "octo/hello"})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello","tag":"v1.0.0"}`))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				ID        int
				URL       string
				HTMLURL   string `json:"html_url"`
				UploadURL string `json:"upload_url"`
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.ID == 0 || !strings.HasPrefix(got.URL, url+flavour+"/repos/octo/hello/releases/") || got.HTMLURL != url+"/octo/hello/releases/tag/v1.0.0" || !strings.HasPrefix(got.UploadURL, got.URL+"/assets") {
				t.Errorf("%s", out)
			}
			_, err = pdk.Answer(run, []byte(`{"repo":"octo/hello","tag":"v1.0.0"}`))
			var e *pdk.Error
			if !errors.As(err, &e) || e.Code != pdk.HandlerFailed {
				t.Errorf("a second release of the tag: %v", err)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`:                         "repo is missing",
		`{"repo":"octo","tag":"v1"}`: "owner/name",
		`{"repo":"octo/hello"}`:      "tag is missing",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
