// Package artifactlist lists the caller's artifacts.
package artifactlist

import "github.com/gantry-packs/gantry/pdk"

// The bounds of limit.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Input narrows and pages the list.
type Input struct {
	Pack   string `json:"pack"`
	Limit  *int   `json:"limit"`
	Cursor string `json:"cursor"`
}

//go:wasmexport artifact.list
func Export() int32 { return pdk.Run(run) }

func run(in Input) (pdk.ArtifactPage, error) {
	limit := defaultLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > maxLimit {
		return pdk.ArtifactPage{}, pdk.Invalid("limit is %d: give 1 to %d", limit, maxLimit)
	}
	page, err := pdk.ListArtifacts(pdk.ArtifactFilter{Pack: in.Pack, Limit: limit, Cursor: in.Cursor})
	if page.Artifacts == nil {
		page.Artifacts = []pdk.Artifact{} // an empty list is [], never null
	}
	return page, err
}
