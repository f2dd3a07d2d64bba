package forgelistprs

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
			site, url := codehost.Start(t, codehost.Repo{Name: "octo/hello", Branches: []string{"main", "fix", "other"}})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			for _, head := range []string{"fix", "other"} {
				if err := site.OpenPull("octo/hello", head, "main"); err != nil {
					t.Fatal(err)
				}
			}
			for filter, want := range map[string]int{``: 2, `,"head":"fix"`: 1, `,"head":"octo:fix"`: 1, `,"head":"eve:fix"`: 0, `,"base":"main"`: 2, `,"base":"fix"`: 0, `,"state":"closed"`: 0} {
				out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello"`+filter+`}`))
				if err != nil {
					t.Fatal(err)
				}
				var got struct {
					PRs   []struct{ Number int }
					Count int
				}
				if err := json.Unmarshal(out, &got); err != nil || got.PRs == nil || got.Count != want || len(got.PRs) != want {
					t.Errorf("%s: %s, %v; want %d", filter, out, err, want)
				}
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`:              "repo is missing",
		`{"repo":"octo"}`: "owner/name",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
