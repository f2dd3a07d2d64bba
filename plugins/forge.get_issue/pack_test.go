package forgegetissue

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
			if err := site.Fill("octo/hello", 2); err != nil {
				t.Fatal(err)
			}
			out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello","issue_number":2}`))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Number       int
				Title, State string
				User         struct{ Login string }
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Number != 2 || got.Title != "Issue 2" || got.State != "open" || got.User.Login != "alice" {
				t.Errorf("%s", out)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`:                               "repo is missing",
		`{"repo":"octo","issue_number":1}`: "owner/name",
		`{"repo":"octo/hello"}`:            "issue_number is missing",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
