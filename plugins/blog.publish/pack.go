// Package blogpublish stores a blog post as an artifact and, if asked, publishes it on the blog platform.
package blogpublish

import (
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

// Input is a post and where it goes.
type Input struct {
	Destination      string   `json:"destination"`        // artifact (also when empty) or ghost
	AlsoSaveArtifact *bool    `json:"also_save_artifact"` // with ghost; nil is true
	Format           string   `json:"format"`             // markdown or html
	Title            string   `json:"title"`
	Body             string   `json:"body"`
	Prompt           string   `json:"prompt"`
	Model            string   `json:"model"`
	MaxTokens        int      `json:"max_tokens"`
	Tags             []string `json:"tags"`
	Status           string   `json:"status"`       // draft (also when empty), published or scheduled
	PublishedAt      string   `json:"published_at"` // RFC 3339
	Host             string   `json:"host"`
	Credential       string   `json:"credential"`
	FeatureImageKey  string   `json:"feature_image_artifact_key"`
	HeroImage        bool     `json:"hero_image"`
	HeroImagePrompt  string   `json:"hero_image_prompt"`
	HeroImageModel   string   `json:"hero_image_model"`
	Mermaid          *bool    `json:"mermaid"`
}

// Output says what became of the post. Status artifact_saved_ghost_failed is a success: the post is safe as an artifact, the
// platform's refusal is in GhostError.
type Output struct {
	Destination string `json:"destination"`
	Format      string `json:"format"`
	BodySource  string `json:"body_source"`
	Status      string `json:"status"`

	ArtifactKey     string `json:"artifact_key,omitempty"` // and the next three: unless also_save_artifact is false
	ArtifactURL     string `json:"artifact_url,omitempty"`
	Size            int64  `json:"size,omitempty"` // bytes of the stored body, which is never empty
	FeatureImageKey string `json:"feature_image_artifact_key,omitempty"`

	PostID          string `json:"post_id,omitempty"` // and the next four: once the platform has the post
	URL             string `json:"url,omitempty"`
	HTMLURL         string `json:"html_url,omitempty"`     // the same
	PublishedAt     string `json:"published_at,omitempty"` // RFC 3339; a draft has none
	FeatureImageURL string `json:"feature_image_url,omitempty"`

	GhostError string `json:"ghost_error,omitempty"`
}

//go:wasmexport blog.publish
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	if err := check(in); err != nil {
		return Output{}, err
	}
	if err := needsGateway(in); err != nil {
		return Output{}, err
	}
	cover, err := featureImage(in.FeatureImageKey)
	if err != nil {
		return Output{}, err
	}
	out := Output{Destination: "artifact", Format: in.Format, BodySource: "input", Status: "artifact_saved"}
	saved := in.Destination != "ghost" || in.AlsoSaveArtifact == nil || *in.AlsoSaveArtifact
	if saved {
		if err := save(in, cover, &out); err != nil {
			return Output{}, err
		}
	}
	if in.Destination == "ghost" {
		out.Destination = "ghost"
		if err := publish(in, cover, &out); err != nil && !saved {
			return Output{}, err
		} else if err != nil {
			out.Status, out.GhostError = "artifact_saved_ghost_failed", message(err)
		}
	}
	return out, nil
}

// needsGateway refuses what only a model can write or draw, as long as no model can be reached from a pack.
func needsGateway(in Input) error {
	switch {
	case in.Prompt != "":
		return pdk.Errorf(pdk.Internal, "no gateway dispatcher: this server cannot write a body from a prompt; send body instead")
	case in.HeroImage:
		return pdk.Errorf(pdk.Internal, "no gateway dispatcher: this server cannot draw a hero image; send feature_image_artifact_key or leave hero_image out")
	}
	return nil
}

// featureImage finds the artifact that the post shall show; without a key there is none.
func featureImage(key string) (cover, error) {
	if key == "" {
		return cover{}, nil
	}
	entry, body, err := pdk.GetArtifact(key)
	if pdk.NoArtifact(err) {
		return cover{}, pdk.Invalid("feature_image_artifact_key: no artifact of yours has the key %q", key)
	}
	if err != nil {
		return cover{}, err
	}
	if !strings.HasPrefix(entry.ContentType, "image/") {
		return cover{}, pdk.Invalid("feature_image_artifact_key: %s is %s, not an image", key, entry.ContentType)
	}
	return cover{entry.ContentType, body}, nil
}

type cover struct {
	contentType string
	body        pdk.Blob
}

// save stores the body and the cover, and notes them in out. Mermaid blocks of a stored post stay what they are: text that
// whoever reads the file can edit and render.
func save(in Input, c cover, out *Output) error {
	name, contentType := slugify(in.Title), "text/markdown; charset=utf-8"
	extension := ".md"
	if in.Format == "html" {
		extension, contentType = ".html", "text/html; charset=utf-8"
	}
	post, err := pdk.PutArtifact(name+extension, contentType, pdk.NewBlob([]byte(in.Body)))
	if err != nil {
		return err
	}
	out.ArtifactKey, out.ArtifactURL, out.Size = post.Key, post.URL, post.Size
	if c.body.IsZero() {
		return nil
	}
	// The name ends in .png whatever the image is: callers look for <slug>-cover.png. The content type tells the truth.
	image, err := pdk.PutArtifact(name+coverSuffix+".png", c.contentType, c.body)
	if err != nil {
		return err
	}
	out.FeatureImageKey = image.Key
	return nil
}
