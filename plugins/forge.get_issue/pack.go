// Package forgegetissue reads an issue of the forge.
package forgegetissue

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input names an issue.
type Input struct {
	Repo       string `json:"repo"`         // owner/name
	Number     int64  `json:"issue_number"` // of an issue or a pull request
	Credential string `json:"credential"`
}

//go:wasmexport forge.get_issue
func Export() int32 { return pdk.Run(run) }

func run(in Input) (forge.Object, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return nil, err
	}
	if err := forge.RequiredNumber(in.Number); err != nil {
		return nil, err
	}
	return forge.Reader(in.Credential).Issue(repo, in.Number)
}
