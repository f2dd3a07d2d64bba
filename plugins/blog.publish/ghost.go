package blogpublish

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/gantry-packs/gantry/pdk"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Ghost's Admin API.
const (
	postsPath  = "/ghost/api/admin/posts/"
	imagesPath = "/ghost/api/admin/images/upload/"
	apiVersion = "v5.0"
	audience   = "/admin/"
	tokenTTL   = 5 * time.Minute // the longest that Ghost takes
	timeFormat = "2006-01-02T15:04:05.000Z"
)

// site is a platform with a token for it, which is good for this call.
type site struct {
	base, token string
}

// publish brings the post to the platform and notes in out what it made of it. Errors are invalid_input for a credential or a
// host that can't be used and handler_failed for a platform that refuses or fails; out is then as it was.
func publish(in Input, c cover, out *Output) error {
	s, err := open(in)
	if err != nil {
		return failure(err)
	}
	image, err := s.upload(c, slugify(in.Title)+coverSuffix)
	if err != nil {
		return failure(err)
	}
	made, err := s.create(in, image)
	if err != nil {
		return failure(err)
	}
	out.Status, out.PostID, out.URL, out.HTMLURL = made.Status, made.ID, made.URL, made.URL
	out.PublishedAt, out.FeatureImageURL = made.PublishedAt, image
	return nil
}

// open makes a token for the platform. The key never comes here: the host signs with it.
func open(in Input) (site, error) {
	base, host := address(in.Host)
	now := time.Now()
	claims, err := json.Marshal(map[string]any{"iat": now.Unix(), "exp": now.Add(tokenTTL).Unix(), "aud": audience})
	if err != nil {
		return site{}, err
	}
	signed, err := pdk.Sign(pdk.SignRequest{
		Credential: cmp.Or(in.Credential, defaultCredential), Host: host, Alg: pdk.JWTHS256, Claims: claims, IDSecret: true,
	})
	return site{base, signed.JWT}, err
}

// address makes a base URL, https unless it says otherwise, and host:port of the input's host, which checkGhost has seen.
func address(given string) (base, hostPort string) {
	scheme, port := "https://", ":443"
	host := strings.TrimPrefix(given, scheme)
	if rest, plain := strings.CutPrefix(given, "http://"); plain {
		scheme, port, host = "http://", ":80", rest
	}
	host = strings.TrimSuffix(host, "/")
	if strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') { // a colon inside of brackets is of an IPv6 address
		port = ""
	}
	return scheme + host, host + port
}

// upload gives the platform the post's image and returns its URL there, "" if there is no image.
func (s site) upload(c cover, name string) (string, error) {
	if c.body.IsZero() {
		return "", nil
	}
	extension := imageExtension(c.contentType)
	if extension == "" {
		return "", pdk.Invalid("feature_image_artifact_key: the blog platform takes JPEG, PNG, GIF, WebP and SVG, not %s", c.contentType)
	}
	ref, err := c.body.Ref()
	if err != nil {
		return "", err
	}
	name += extension
	purpose := "image"
	var answer struct {
		Images []struct{ URL string }
	}
	err = s.post(imagesPath, "the image", &answer, pdk.HTTPRequest{Form: []wire.FormPart{
		{Name: "file", Filename: name, ContentType: c.contentType, Blob: ref},
		{Name: "purpose", Text: &purpose},
		{Name: "ref", Text: &name},
	}})
	if err != nil {
		return "", err
	}
	if len(answer.Images) != 1 || answer.Images[0].URL == "" {
		return "", pdk.Failed("the blog platform took the image without saying where it is")
	}
	return answer.Images[0].URL, nil
}

// imageExtension is the file name's end that Ghost wants for the type, "" for a type that it doesn't take.
func imageExtension(contentType string) string {
	contentType, _, _ = strings.Cut(contentType, ";")
	switch kind := strings.TrimPrefix(contentType, "image/"); kind {
	case "jpeg":
		return ".jpg"
	case "png", "gif", "webp":
		return "." + kind
	case "svg+xml":
		return ".svg"
	}
	return ""
}

// draft is a post as the platform takes it: HTML as html, Markdown as the one card of a Lexical document, which the platform
// renders itself and its editor opens as Markdown.
type draft struct {
	Title        string  `json:"title"`
	Status       string  `json:"status"`
	HTML         string  `json:"html,omitempty"`
	Lexical      string  `json:"lexical,omitempty"`
	PublishedAt  string  `json:"published_at,omitempty"`
	FeatureImage string  `json:"feature_image,omitempty"`
	Tags         []label `json:"tags,omitempty"`
}

type label struct {
	Name string `json:"name"`
}

// made is a post as the platform answers it.
type made struct {
	ID          string
	URL         string
	Status      string
	PublishedAt string `json:"published_at"`
}

func (s site) create(in Input, image string) (made, error) {
	d := draft{Title: in.Title, Status: cmp.Or(in.Status, "draft"), FeatureImage: image}
	for _, name := range in.Tags {
		d.Tags = append(d.Tags, label{name})
	}
	if in.PublishedAt != "" {
		at, err := time.Parse(time.RFC3339, in.PublishedAt)
		if err != nil {
			return made{}, pdk.Invalid("published_at is not RFC 3339")
		}
		d.PublishedAt = at.UTC().Format(timeFormat)
	}
	path := postsPath
	if in.Format == "html" {
		d.HTML, path = in.Body, path+"?source=html"
	} else {
		text, err := lexical(in.Body)
		if err != nil {
			return made{}, err
		}
		d.Lexical = text
	}
	body, err := encode(map[string][]draft{"posts": {d}})
	if err != nil {
		return made{}, err
	}
	var answer struct{ Posts []made }
	err = s.post(path, "the post", &answer, pdk.HTTPRequest{Body: &body, Headers: map[string]string{"Content-Type": "application/json"}})
	if err != nil {
		return made{}, err
	}
	if len(answer.Posts) != 1 || answer.Posts[0].ID == "" {
		return made{}, pdk.Failed("the blog platform took the post without saying what it became")
	}
	switch p := answer.Posts[0]; p.Status {
	case "draft", "published", "scheduled":
		return p, nil
	default:
		return made{}, pdk.Failed("the blog platform made post %s of it with the unknown status %q: look there before you send it again", p.ID, cut(p.Status))
	}
}

// lexical is a document with one Markdown card.
func lexical(markdown string) (string, error) {
	card := map[string]any{"type": "markdown", "version": 1, "markdown": markdown}
	return encode(map[string]any{"root": map[string]any{
		"children": []any{card}, "direction": "ltr", "format": "", "indent": 0, "type": "root", "version": 1,
	}})
}
