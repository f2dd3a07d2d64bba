// Package forgecreateissue makes an issue on the forge.
package forgecreateissue

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input is an issue to be made.
type Input struct {
	Repo       string   `json:"repo"` // owner/name
	Title      string   `json:"title"`
	Body       string   `json:"body"`
	Labels     []string `json:"labels"` // names; unknown ones are dropped
	Credential string   `json:"credential"`
}

//go:wasmexport forge.create_issue
func Export() int32 { return pdk.Run(run) }

func run(in Input) (forge.Object, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return nil, err
	}
	if err := forge.Required("title", in.Title, "an issue needs one"); err != nil {
		return nil, err
	}
	return forge.Writer(in.Credential).CreateIssue(repo, in.Title, in.Body, in.Labels)
}
