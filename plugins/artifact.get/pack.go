// Package artifactget reads an artifact of the caller back.
package artifactget

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	maxText = 8 << 20  // bytes that are answered as text; more is base64
	maxBody = 32 << 20 // bytes that are answered at all; more is fetched at the entry's url
)

// Input names the artifact.
type Input struct {
	Key string `json:"key"`
}

// Output is the entry with its bytes in one of two forms.
type Output struct {
	Content    *string      `json:"content,omitempty"`
	ContentB64 pdk.Blob     `json:"content_b64,omitzero"`
	Entry      pdk.Artifact `json:"entry"`
}

//go:wasmexport artifact.get
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	if in.Key == "" {
		return Output{}, pdk.Invalid("key is empty: artifact.list gives the keys")
	}
	entry, blob, err := pdk.GetArtifact(in.Key)
	if pdk.NoArtifact(err) {
		return Output{}, pdk.Invalid("no artifact of yours has the key %q: artifact.list gives the keys", in.Key)
	}
	if err != nil {
		return Output{}, err
	}
	if blob.Size() > maxBody {
		return Output{}, pdk.Invalid("the artifact has %d bytes, over %d MiB: fetch it with GET /api/v1/artifacts/%s", blob.Size(), maxBody>>20, in.Key)
	}
	if blob.Size() > maxText || !textual(entry.ContentType) {
		return Output{ContentB64: blob, Entry: entry}, nil
	}
	body, err := blob.Bytes()
	if err != nil {
		return Output{}, err
	}
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		return Output{ContentB64: blob, Entry: entry}, nil
	}
	text := string(body)
	return Output{Content: &text, Entry: entry}, nil
}

// textual says whether a content type is one that people read.
func textual(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch media {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/x-ndjson", "application/x-subrip", "application/sql":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
}
