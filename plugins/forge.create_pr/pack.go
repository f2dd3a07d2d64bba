// Package forgecreatepr opens a pull request on the forge.
package forgecreatepr

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input is a pull request to be opened.
type Input struct {
	Repo       string `json:"repo"` // owner/name
	Head       string `json:"head"` // branch, or owner:branch of a fork
	Base       string `json:"base"` // branch
	Title      string `json:"title"`
	Body       string `json:"body"`
	Draft      bool   `json:"draft"`
	Credential string `json:"credential"`
}

//go:wasmexport forge.create_pr
func Export() int32 { return pdk.Run(run) }

func run(in Input) (forge.Object, error) {
	repo, err := forge.ParseRepo(in.Repo)
	if err != nil {
		return nil, err
	}
	for _, field := range [][3]string{
		{"head", in.Head, "name the branch with the changes"},
		{"base", in.Base, "name the branch that the changes go into"},
		{"title", in.Title, "a pull request needs one"},
	} {
		if err := forge.Required(field[0], field[1], field[2]); err != nil {
			return nil, err
		}
	}
	return forge.Writer(in.Credential).CreatePull(repo, forge.Pull{Title: in.Title, Body: in.Body, Head: in.Head, Base: in.Base, Draft: in.Draft})
}
