// Package forgelistprs lists pull requests of the forge.
package forgelistprs

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input says which pull requests.
type Input struct {
	Repo       string `json:"repo"`  // owner/name
	State      string `json:"state"` // open (also when empty), closed or all
	Head       string `json:"head"`  // branch or owner:branch
	Base       string `json:"base"`  // branch
	Credential string `json:"credential"`
}

// Output is the first page of them.
type Output struct {
	PRs   []forge.Object `json:"prs"`
	Count int            `json:"count"` // of PRs
}

//go:wasmexport forge.list_prs
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return Output{}, err
	}
	prs, err := forge.Reader(in.Credential).Pulls(repo, forge.PullFilter{State: in.State, Head: in.Head, Base: in.Base})
	return Output{prs, len(prs)}, err
}
