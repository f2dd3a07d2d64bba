// Package stocksearch finds photos at a stock photo provider and stores the best as artifacts.
package stocksearch

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	engine            = "pexels"
	defaultCredential = "stock-key"
	maxCount          = 4
	maxQuery          = 256      // characters
	maxColor          = 20       // characters of a name
	maxPhoto          = 32 << 20 // bytes
)

// Input is what the photos shall show.
type Input struct {
	Query       string `json:"query"`
	Engine      string `json:"engine"` // pexels, also when empty
	Count       *int   `json:"count"`  // nil is 1
	Orientation string `json:"orientation"`
	Size        string `json:"size"` // the smallest that is wanted
	Color       string `json:"color"`
	MediaType   string `json:"media_type"` // photo, also when empty
	Credential  string `json:"credential"`
}

// Output holds the photos in the provider's order, best first; artifact_keys are the keys of results.
type Output struct {
	Engine       string   `json:"engine"`
	ArtifactKeys []string `json:"artifact_keys"`
	Results      []Result `json:"results"`
	QueryUsed    string   `json:"query_used"`
}

// Result is one photo. Width and height are in pixels.
type Result struct {
	ID              int64  `json:"id"`
	Photographer    string `json:"photographer"`
	PhotographerURL string `json:"photographer_url"`
	SourceURL       string `json:"source_url"`
	Width           int    `json:"width"`
	Height          int    `json:"height"`
	AltText         string `json:"alt_text"`
	ArtifactKey     string `json:"artifact_key"`
}

//go:wasmexport stock.search
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	in.Query = strings.TrimSpace(in.Query)
	if err := check(in); err != nil {
		return Output{}, err
	}
	found, err := search(in)
	if err != nil {
		return Output{}, err
	}
	// All are fetched before the first is stored, so that a search that fails leaves nothing behind.
	pictures := make([]picture, len(found))
	for i, p := range found {
		pdk.Progress(float64(100*(i+1)/(len(found)+1)), fmt.Sprintf("fetching photo %d of %d", i+1, len(found)))
		if pictures[i], err = fetch(p); err != nil {
			return Output{}, err
		}
	}
	out := Output{Engine: engine, QueryUsed: in.Query}
	for i, p := range found {
		name := fmt.Sprintf("photo-%03d.%s", i+1, pictures[i].extension)
		a, err := pdk.PutArtifact(name, pictures[i].contentType, pictures[i].body)
		if err != nil {
			return Output{}, err
		}
		out.ArtifactKeys = append(out.ArtifactKeys, a.Key)
		out.Results = append(out.Results, p.result(a.Key))
	}
	return out, nil
}

// check refuses what the provider would not understand. All refusals are invalid_input.
func check(in Input) error {
	switch {
	case in.Query == "":
		return pdk.Invalid("query is empty: say what the photo shall show, such as mountains at dawn")
	case utf8.RuneCountInString(in.Query) > maxQuery:
		return pdk.Invalid("query is longer than %d characters", maxQuery)
	case in.Engine != "" && in.Engine != engine:
		return pdk.Invalid("engine %q: %s is the only one", in.Engine, engine)
	case in.Count != nil && (*in.Count < 1 || *in.Count > maxCount):
		return pdk.Invalid("count %d: ask for 1 to %d photos", *in.Count, maxCount)
	case !slices.Contains([]string{"", "landscape", "portrait", "square"}, in.Orientation):
		return pdk.Invalid("orientation %q: use landscape, portrait or square", in.Orientation)
	case !slices.Contains([]string{"", "large", "medium", "small"}, in.Size):
		return pdk.Invalid("size %q: use large, medium or small", in.Size)
	case in.Color != "" && !isColor(in.Color):
		return pdk.Invalid("color %q: write it as #rrggbb, or as a name such as blue", in.Color)
	case in.MediaType != "" && in.MediaType != "photo":
		return pdk.Invalid("media_type %q: photo is the only one", in.MediaType)
	}
	return nil
}

// isColor says whether text is #rrggbb or may be a color's name; which names there are, the provider knows.
func isColor(text string) bool {
	const hex, letters = "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"
	text = strings.ToLower(text)
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		return len(digits) == 6 && strings.Trim(digits, hex) == ""
	}
	return len(text) <= maxColor && strings.Trim(text, letters) == ""
}
