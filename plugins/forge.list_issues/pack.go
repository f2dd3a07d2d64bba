// Package forgelistissues lists issues of the forge.
package forgelistissues

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input says which issues.
type Input struct {
	Repo       string `json:"repo"`     // owner/name
	State      string `json:"state"`    // open (also when empty), closed or all
	Labels     string `json:"labels"`   // comma-separated; all must be there
	Assignee   string `json:"assignee"` // login
	Credential string `json:"credential"`
}

// Output is the first page of them.
type Output struct {
	Issues []forge.Object `json:"issues"`
	Count  int            `json:"count"` // of Issues
}

//go:wasmexport forge.list_issues
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return Output{}, err
	}
	issues, err := forge.Reader(in.Credential).Issues(repo, forge.IssueFilter{State: in.State, Labels: in.Labels, Assignee: in.Assignee})
	return Output{issues, len(issues)}, err
}
