package forgesearch

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
			site, url := codehost.Start(t, codehost.Repo{Name: "octo/hello", Files: map[string]string{"a/main.go": "package main"}, Commits: []string{"First hello"}})
			h := pdk.NewHost(t)
			h.Settings = map[string]string{"GANTRY_FORGE_API_URL": url + flavour}
			h.Secrets = map[string]string{"forge-token": codehost.WriterToken}
			if err := site.Fill("octo/hello", 33); err != nil {
				t.Fatal(err)
			}
			for kind, want := range map[string]int{"code": 1, "issues": 33, "repositories": 1, "commits": 1} {
				query := map[string]string{"code": "main", "issues": "issue", "repositories": "hello", "commits": "first"}[kind]
				out, err := pdk.Answer(run, []byte(`{"query":"`+query+`","type":"`+kind+`"}`))
				if flavour == "/api/v1" && (kind == "code" || kind == "commits") {
					if err == nil || !strings.Contains(err.Error(), "cannot search for "+kind) {
						t.Errorf("%s: %s, %v", kind, out, err)
					}
					continue
				}
				var got struct {
					Total int `json:"total_count"`
					Items []map[string]any
				}
				if err != nil || json.Unmarshal(out, &got) != nil || got.Total != want || len(got.Items) != min(want, 30) {
					t.Errorf("%s: %s, %v; want %d", kind, out, err, want)
				}
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for input, says := range map[string]string{
		`{}`:                             "query is missing",
		`{"query":"x","type":"../user"}`: "search for code, issues",
	} {
		pdk.NewHost(t)
		out, err := pdk.Answer(run, []byte(input))
		var e *pdk.Error
		if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, says) {
			t.Errorf("%s: answered %s, %v; want …%s…", input, out, err, says)
		}
	}
}
