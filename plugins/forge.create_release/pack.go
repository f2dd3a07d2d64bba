// Package forgecreaterelease makes a release on the forge.
package forgecreaterelease

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input is a release to be made.
type Input struct {
	Repo       string `json:"repo"` // owner/name
	Tag        string `json:"tag"`
	Name       string `json:"name"` // default: the tag
	Body       string `json:"body"`
	Draft      bool   `json:"draft"`
	Credential string `json:"credential"`
}

//go:wasmexport forge.create_release
func Export() int32 { return pdk.Run(run) }

func run(in Input) (forge.Released, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return forge.Released{}, err
	}
	if err := forge.Required("tag", in.Tag, "a release needs one, such as v1.2.0"); err != nil {
		return forge.Released{}, err
	}
	if in.Name == "" {
		in.Name = in.Tag
	}
	return forge.Writer(in.Credential).CreateRelease(repo, forge.Release{Tag: in.Tag, Name: in.Name, Body: in.Body, Draft: in.Draft})
}
