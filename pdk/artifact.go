package pdk

import (
	"errors"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// Artifact is the entry of a stored artifact.
type Artifact = wire.Artifact

// ArtifactFilter narrows [ListArtifacts].
type ArtifactFilter = wire.ArtifactList

// ArtifactPage is one page of artifacts, newest first.
type ArtifactPage = wire.ArtifactPage

// PutArtifact stores body; it will stand in the envelope's artifacts. The key becomes <pack>/<random>-<name>, with name made
// fit for a path and its extension kept. An empty contentType is told from the extension, else from the bytes.
// Needs the permission artifacts. Errors: invalid_input for a bad name, artifact_failed when the store fails.
func PutArtifact(name, contentType string, body Blob) (Artifact, error) {
	ref, err := body.handle()
	if err != nil {
		return Artifact{}, err
	}
	return ask[Artifact](artifactPut, wire.ArtifactPut{Name: name, ContentType: contentType, Blob: &ref})
}

// GetArtifact returns an artifact of the caller. Needs the permission artifacts. One that doesn't exist or belongs to another
// subject is an error for which [NoArtifact] holds.
func GetArtifact(key string) (Artifact, Blob, error) {
	c, err := ask[wire.ArtifactContent](artifactGet, wire.ArtifactGet{Key: key})
	return c.Entry, Blob{ref: c.Blob}, err
}

// NoArtifact says whether err is [GetArtifact]'s answer for a key that the caller cannot see.
func NoArtifact(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.ArtifactNotFound
}

// ListArtifacts returns a page of the caller's artifacts, newest first. Needs the permission artifacts.
func ListArtifacts(f ArtifactFilter) (ArtifactPage, error) {
	return ask[ArtifactPage](artifactList, f)
}
