package blogpublish

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	defaultCredential = "blog-admin-key"
	maxBody           = 8 << 20 // bytes
	maxTitle          = 255     // characters, the platform's limit
)

// check refuses what the schema cannot tell or would tell less helpfully. All refusals are invalid_input.
func check(in Input) error {
	for _, rule := range []func(Input) error{checkPost, checkBody, checkStatus, checkGhost} {
		if err := rule(in); err != nil {
			return err
		}
	}
	if in.FeatureImageKey != "" && in.HeroImage {
		return pdk.Invalid("feature_image_artifact_key and hero_image exclude each other: use the image you have, or ask for one")
	}
	return nil
}

func checkPost(in Input) error {
	switch in.Destination {
	case "", "artifact", "ghost":
	default:
		return pdk.Invalid("destination %q: use artifact (default) or ghost", in.Destination)
	}
	switch in.Format {
	case "markdown", "html":
	default:
		return pdk.Invalid("format %q: use markdown or html", in.Format)
	}
	switch {
	case strings.TrimSpace(in.Title) == "":
		return pdk.Invalid("title is empty: the post and its artifact are named after it")
	case utf8.RuneCountInString(in.Title) > maxTitle:
		return pdk.Invalid("title is longer than %d characters", maxTitle)
	}
	return nil
}

func checkBody(in Input) error {
	switch {
	case in.Body != "" && in.Prompt != "":
		return pdk.Invalid("body and prompt exclude each other: send the text, or what a model shall write")
	case in.Body == "" && in.Prompt == "":
		return pdk.Invalid("send the post as body, or prompt with model to have it written")
	case in.Prompt != "" && in.Model == "":
		return pdk.Invalid("prompt needs model: name one as provider/model")
	case len(in.Body) > maxBody:
		return pdk.Invalid("body is over %d MiB", maxBody>>20)
	}
	return nil
}

func checkStatus(in Input) error {
	switch in.Status {
	case "", "draft", "published", "scheduled":
	default:
		return pdk.Invalid("status %q: use draft (default), published or scheduled", in.Status)
	}
	if in.PublishedAt == "" {
		if in.Status == "scheduled" {
			return pdk.Invalid("status scheduled needs published_at: a time in the future such as 2030-01-31T09:00:00Z")
		}
		return nil
	}
	at, err := time.Parse(time.RFC3339, in.PublishedAt)
	if err != nil {
		return pdk.Invalid("published_at %q is not RFC 3339: write it as 2030-01-31T09:00:00Z", in.PublishedAt)
	}
	if in.Status == "scheduled" && !at.After(time.Now()) {
		return pdk.Invalid("published_at %s is not in the future: a scheduled post needs a later time", in.PublishedAt)
	}
	return nil
}

func checkGhost(in Input) error {
	if in.Destination != "ghost" {
		return nil
	}
	if in.Host == "" {
		return pdk.Invalid("destination ghost needs host: the platform's host name, such as blog.example.com")
	}
	host := in.Host
	for _, scheme := range []string{"https://", "http://"} {
		if rest, ok := strings.CutPrefix(in.Host, scheme); ok {
			host = rest
		}
	}
	if host = strings.TrimSuffix(host, "/"); host == "" || strings.ContainsAny(host, "/\\@?# \t\r\n") {
		return pdk.Invalid("host %q: give a host name with nothing behind it, as blog.example.com, https://blog.example.com or http://host:port", in.Host)
	}
	return nil
}
