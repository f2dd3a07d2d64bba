package hosttest

import (
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	blogTitle = 255             // characters
	blogTag   = 191             // characters
	blogLead  = 2 * time.Minute // between now and a scheduled post
)

// blogTime is how Ghost writes a time.
const blogTime = "2006-01-02T15:04:05.000Z"

// postFields are the fields of a post that the stand-in knows; Ghost refuses unknown ones too.
var postFields = []string{"title", "html", "lexical", "status", "published_at", "tags", "feature_image"}

// blogPost is a post as a client writes it.
type blogPost struct {
	Title        string
	HTML         *string
	Lexical      *string
	Status       string
	PublishedAt  *time.Time `json:"published_at"`
	Tags         []struct{ Name string }
	FeatureImage *string `json:"feature_image"`
}

func invalidPost(context string) *blogRefusal {
	return &blogRefusal{http.StatusUnprocessableEntity, "ValidationError", "Validation error, cannot save post.", context, ""}
}

// readPost checks a new post. html counts only with ?source=html; without it Ghost makes an empty post, and so does this.
func readPost(fields map[string]json.RawMessage, source bool, now time.Time) (map[string]any, *blogRefusal) {
	for name := range fields {
		if !slices.Contains(postFields, name) {
			return nil, invalidPost("Validation (AdditionalProperties) failed for " + name)
		}
	}
	raw, _ := json.Marshal(fields) // it has just been read
	p := blogPost{Status: "draft"}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, invalidPost("Validation (Type) failed: " + err.Error())
	}
	if why := p.wrong(now); why != "" {
		return nil, invalidPost(why)
	}
	post := map[string]any{"title": p.Title, "status": p.Status, "published_at": nil, "feature_image": p.FeatureImage, "lexical": emptyLexical}
	switch {
	case p.Lexical != nil:
		post["lexical"] = *p.Lexical
	case p.HTML != nil && source:
		// Ghost makes cards of the HTML; how, nothing here depends on.
		post["lexical"], post["html"] = nil, *p.HTML
	}
	tags := []map[string]string{}
	for _, t := range p.Tags {
		tags = append(tags, map[string]string{"name": t.Name})
	}
	post["tags"] = tags
	if p.Status == "published" && p.PublishedAt == nil {
		p.PublishedAt = &now
	}
	if p.PublishedAt != nil {
		post["published_at"] = p.PublishedAt.UTC().Format(blogTime)
	}
	return post, nil
}

const emptyLexical = `{"root":{"children":[],"direction":null,"format":"","indent":0,"type":"root","version":1}}`

// wrong says why the post cannot be saved, "" if it can.
func (p blogPost) wrong(now time.Time) string {
	switch {
	case strings.TrimSpace(p.Title) == "":
		return "Value in [posts.title] cannot be blank."
	case utf8.RuneCountInString(p.Title) > blogTitle:
		return "Title cannot be longer than 255 characters."
	case !slices.Contains([]string{"draft", "published", "scheduled"}, p.Status):
		return "Validation (Enum) failed for status"
	case p.Status == "scheduled" && p.PublishedAt == nil:
		return "Value in published_at cannot be blank."
	case p.Status == "scheduled" && p.PublishedAt.Before(now.Add(blogLead)):
		return "Date must be at least 2 minutes in the future."
	case p.Lexical != nil && !validLexical(*p.Lexical):
		return "Invalid lexical structure."
	}
	for _, t := range p.Tags {
		if strings.TrimSpace(t.Name) == "" || utf8.RuneCountInString(t.Name) > blogTag {
			return "Value in [tags.name] must be 1 to 191 characters."
		}
	}
	return ""
}

// validLexical says whether the text is a document whose cards the stand-in can show: markdown ones with their text.
func validLexical(text string) bool {
	var doc struct {
		Root struct {
			Type     string
			Version  int
			Children []struct {
				Type     string
				Version  int
				Markdown *string
			}
		}
	}
	if json.Unmarshal([]byte(text), &doc) != nil || doc.Root.Type != "root" || doc.Root.Version != 1 {
		return false
	}
	for _, c := range doc.Root.Children {
		if c.Type != "markdown" || c.Version != 1 || c.Markdown == nil {
			return false
		}
	}
	return true
}

// blogImages are the pictures that Ghost takes, by extension. It looks at the part's own content type, not at the bytes.
var blogImages = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
}

// readImage checks an upload.
func readImage(file io.Reader, head *multipart.FileHeader, purpose string) (data []byte, contentType string, refused *blogRefusal) {
	contentType = head.Header.Get("Content-Type")
	if !slices.Contains([]string{"", "image", "profile_image", "icon"}, purpose) {
		return nil, "", &blogRefusal{http.StatusUnprocessableEntity, "ValidationError", "Validation error, cannot upload image.", "Validation (AllowedValues) failed for purpose", ""}
	}
	if want := blogImages[strings.ToLower(path.Ext(head.Filename))]; want == "" || want != contentType {
		return nil, "", &blogRefusal{http.StatusUnsupportedMediaType, "UnsupportedMediaTypeError", "Please select a valid image.", "", ""}
	}
	data, err := io.ReadAll(file)
	if err != nil || len(data) == 0 {
		return nil, "", &blogRefusal{http.StatusUnprocessableEntity, "ValidationError", "Please select an image.", "", ""}
	}
	return data, contentType, nil
}
