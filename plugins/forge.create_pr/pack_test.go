package forgecreatepr

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
			_, url := codehost.Start(t, codehost.Repo{Name: "octo/hello", Branches: []string{"main", "fix"}})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello","head":"fix","base":"main","title":"Fix","draft":true}`))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Number  int
				URL     string
				HTMLURL string `json:"html_url"`
				Draft   bool
				Title   string
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Number != 1 || got.URL != url+flavour+"/repos/octo/hello/pulls/1" || got.HTMLURL != url+"/octo/hello/pull/1" || !got.Draft || !strings.HasSuffix(got.Title, "Fix") {
				t.Errorf("%s", out)
			}
			for _, input := range []string{
				`{"repo":"octo/hello","head":"fix","base":"main","title":"Again"}`, `{"repo":"octo/hello","head":"none","base":"main","title":"Fix"}`,
				`{"repo":"octo/hello","head":"fix","base":"none","title":"Fix"}`,
			} {
				out, err := pdk.Answer(run, []byte(input))
				var e *pdk.Error
				if !errors.As(err, &e) || e.Code != pdk.HandlerFailed {
					t.Errorf("%s: %s, %v", input, out, err)
				}
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`: "repo is missing",
		`{"repo":"octo","head":"a","base":"b","title":"c"}`: "owner/name",
		`{"repo":"octo/hello","base":"b","title":"c"}`:      "head is missing",
		`{"repo":"octo/hello","head":"a","title":"c"}`:      "base is missing",
		`{"repo":"octo/hello","head":"a","base":"b"}`:       "title is missing",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
