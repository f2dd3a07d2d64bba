// Package forgepostcomment comments on an issue of the forge.
package forgepostcomment

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input is a comment and where it goes.
type Input struct {
	Repo       string `json:"repo"`         // owner/name
	Number     int64  `json:"issue_number"` // of an issue or a pull request
	Body       string `json:"body"`
	Credential string `json:"credential"`
}

//go:wasmexport forge.post_comment
func Export() int32 { return pdk.Run(run) }

func run(in Input) (forge.Made, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return forge.Made{}, err
	}
	if err := forge.RequiredNumber(in.Number); err != nil {
		return forge.Made{}, err
	}
	if err := forge.Required("body", in.Body, "a comment needs a text"); err != nil {
		return forge.Made{}, err
	}
	return forge.Writer(in.Credential).Comment(repo, in.Number, in.Body)
}
