// Package artifactput keeps a text or a file as an artifact of the caller.
package artifactput

import (
	"strings"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/pdk"
)

// The limits of the manifest's schema, in bytes where that counts characters.
const (
	maxName    = 200
	maxContent = 8 << 20
	maxBlob    = 32 << 20
)

// Input is a name with a text or with base64 bytes.
type Input struct {
	Name        string   `json:"name"`
	Content     *string  `json:"content"`
	ContentB64  pdk.Blob `json:"content_b64"`
	ContentType string   `json:"content_type"`
}

//go:wasmexport artifact.put
func Export() int32 { return pdk.Run(run) }

func run(in Input) (pdk.Artifact, error) {
	if err := check(in); err != nil {
		return pdk.Artifact{}, err
	}
	body := in.ContentB64
	if in.Content != nil {
		body = pdk.NewBlob([]byte(*in.Content))
	}
	return pdk.PutArtifact(in.Name, in.ContentType, body)
}

func check(in Input) error {
	switch {
	case strings.TrimSpace(in.Name) == "":
		return pdk.Invalid("name is empty: give a file name such as report.md")
	case utf8.RuneCountInString(in.Name) > maxName:
		return pdk.Invalid("name is longer than %d characters", maxName)
	case in.Content == nil && in.ContentB64.IsZero():
		return pdk.Invalid("give the bytes: content for text, or content_b64 for anything else")
	case in.Content != nil && !in.ContentB64.IsZero():
		return pdk.Invalid("content and content_b64 exclude each other: give one")
	case in.Content != nil && len(*in.Content) > maxContent:
		return pdk.Invalid("content is over %d MiB: send it as content_b64", maxContent>>20)
	case in.ContentB64.Size() > maxBlob:
		return pdk.Invalid("content_b64 is over %d MiB", maxBlob>>20)
	}
	return nil
}
