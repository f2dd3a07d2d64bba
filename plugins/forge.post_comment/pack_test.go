package forgepostcomment

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
			site, url := codehost.Start(t, codehost.Repo{Name: "octo/hello"})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			if err := site.Fill("octo/hello", 1); err != nil {
				t.Fatal(err)
			}
			out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello","issue_number":1,"body":"Fixed"}`))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				ID      int
				URL     string
				HTMLURL string `json:"html_url"`
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.ID == 0 || !strings.HasPrefix(got.URL, url+flavour+"/repos/octo/hello/issues/comments/") || !strings.HasPrefix(got.HTMLURL, url+"/octo/hello/issues/1#") {
				t.Errorf("%s", out)
			}
			_, err = pdk.Answer(run, []byte(`{"repo":"octo/hello","issue_number":2,"body":"Fixed"}`))
			if err == nil || !strings.Contains(err.Error(), "404: issue 2 of octo/hello does not exist") {
				t.Errorf("an issue that is not there: %v", err)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`: "repo is missing",
		`{"repo":"octo","issue_number":1,"body":"x"}`:        "owner/name",
		`{"repo":"octo/hello","body":"x"}`:                   "issue_number is missing",
		`{"repo":"octo/hello","issue_number":-1,"body":"x"}`: "issue_number is missing",
		`{"repo":"octo/hello","issue_number":1}`:             "body is missing",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
