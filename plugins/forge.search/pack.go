// Package forgesearch searches the forge.
package forgesearch

import (
	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/plugins/internal/forge"
)

// Input says what to search for.
type Input struct {
	Query      string `json:"query"`
	Type       string `json:"type"` // code (also when empty), issues, repositories or commits
	Credential string `json:"credential"`
}

//go:wasmexport forge.search
func Export() int32 { return pdk.Run(run) }

func run(in Input) (forge.Found, error) {
	if err := forge.Required("query", in.Query, "say what to search for"); err != nil {
		return forge.Found{}, err
	}
	if in.Type == "" {
		in.Type = "code"
	}
	return forge.Reader(in.Credential).Search(in.Type, in.Query)
}
