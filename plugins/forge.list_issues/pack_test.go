package forgelistissues

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
			site, url := codehost.Start(t, codehost.Repo{Name: "octo/hello", Labels: []string{"bug", "ui"}})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			if err := site.Fill("octo/hello", 33); err != nil {
				t.Fatal(err)
			}
			out, err := pdk.Answer(run, []byte(`{"repo":"octo/hello","labels":" bug , ui ","state":"all"}`))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Issues []struct{ Number int }
				Count  int
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Count != 2 || len(got.Issues) != 2 || got.Issues[0].Number != 33 {
				t.Errorf("%s", out)
			}
			h.Secrets = nil // without a credential what is public is still read, a page of it
			out, err = pdk.Answer(run, []byte(`{"repo":"octo/hello"}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(out, &got); err != nil || got.Count != 30 {
				t.Errorf("%v, count %d", err, got.Count)
			}
			_, err = pdk.Answer(run, []byte(`{"repo":"octo/hello","credential":"forge-token"}`))
			var e *pdk.Error
			if !errors.As(err, &e) || e.Code != pdk.InvalidInput {
				t.Errorf("a named credential that is not there: %v", err)
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
