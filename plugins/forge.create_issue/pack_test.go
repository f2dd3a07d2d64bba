package forgecreateissue

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
			_, url := codehost.Start(t, codehost.Repo{Name: "octo/hello", Labels: []string{"bug"}})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello","title":"Crash","body":"It <crashes>","labels":["Bug","nope"]}`))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Number      int
				URL         string
				HTMLURL     string `json:"html_url"`
				Title, Body string
				Labels      []struct{ Name string }
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Number != 1 || got.URL != url+flavour+"/repos/octo/hello/issues/1" || got.HTMLURL != url+"/octo/hello/issues/1" || got.Title != "Crash" || got.Body != "It <crashes>" {
				t.Errorf("%s", out)
			}
			if len(got.Labels) != 1 || got.Labels[0].Name != "bug" {
				t.Errorf("labels %v", got.Labels)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`:                                "repo is missing",
		`{"repo":"octo","title":"x"}`:       "owner/name",
		`{"repo":"octo/hello"}`:             "title is missing",
		`{"repo":"octo/hello","title":" "}`: "title is missing",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
