package stocksearch

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	baseSetting   = "GANTRY_STOCK_BASE_URL"
	defaultBase   = "https://api.pexels.com"
	maxAnswer     = 1 << 20 // bytes of a search's answer; 4 photos take 6 KB
	searchTimeout = 20_000  // ms
	photoTimeout  = 30_000  // ms
)

// photo is one of the provider's, as it describes it.
type photo struct {
	ID              int64  `json:"id"`
	Width           int    `json:"width"`
	Height          int    `json:"height"`
	URL             string `json:"url"`
	Photographer    string `json:"photographer"`
	PhotographerURL string `json:"photographer_url"`
	Alt             string `json:"alt"`
	Src             struct {
		Original string `json:"original"`
	} `json:"src"`
}

func (p photo) result(key string) Result {
	return Result{
		ID: p.ID, Photographer: p.Photographer, PhotographerURL: p.PhotographerURL, SourceURL: p.URL,
		Width: p.Width, Height: p.Height, AltText: p.Alt, ArtifactKey: key,
	}
}

// search asks the provider; it returns at least one photo, and not more than were asked for.
func search(in Input) ([]photo, error) {
	count := 1
	if in.Count != nil {
		count = *in.Count
	}
	credential := cmp.Or(in.Credential, defaultCredential)
	answer, resp, err := pdk.SendJSON[struct {
		Photos []photo `json:"photos"`
	}](pdk.HTTPRequest{
		URL: searchURL(in, count), Auth: []pdk.HTTPAuth{{Credential: credential, As: "header:Authorization"}},
		TimeoutMS: searchTimeout, MaxBytes: maxAnswer,
	}, nil)
	var e *pdk.Error
	switch {
	case errors.As(err, &e) && e.Code == pdk.InvalidInput:
		return nil, err // of the credential
	case resp.Truncated:
		return nil, pdk.Failed("the stock provider's answer is over %d MiB, so it cannot be a search result", maxAnswer>>20)
	case err != nil:
		return nil, pdk.Failed("the stock provider gave no usable answer: %s", message(err))
	}
	if err := refusal(resp.Status, credential); err != nil {
		return nil, err
	}
	if len(answer.Photos) == 0 {
		return nil, pdk.Failed("no photo was found for %q: use fewer or more common words, or leave orientation, size and color out", in.Query)
	}
	return answer.Photos[:min(count, len(answer.Photos))], nil
}

func searchURL(in Input, count int) string {
	base, ok := pdk.Setting(baseSetting)
	if !ok || base == "" {
		base = defaultBase
	}
	q := url.Values{"query": {in.Query}, "per_page": {strconv.Itoa(count)}}
	for name, value := range map[string]string{"orientation": in.Orientation, "size": in.Size, "color": in.Color} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return strings.TrimSuffix(base, "/") + "/v1/search?" + q.Encode()
}

// refusal says what a status that is no success means for the caller.
func refusal(status int, credential string) error {
	switch {
	case status >= 200 && status <= 299:
		return nil
	case status == 401 || status == 403:
		return pdk.Invalid("the stock provider refuses the key in credential %s (status %d): put a valid one into the vault", credential, status)
	case status == 429:
		return pdk.Failed("the stock provider's rate limit is reached (status 429; its free plan has 200 requests an hour): try again later")
	}
	return pdk.Failed("the stock provider failed with status %d: try again later", status)
}

// picture is a photo's bytes, which stay with the host.
type picture struct {
	body                   pdk.Blob
	contentType, extension string
}

// fetch downloads a photo in its original size. The key goes to the provider's API alone, so not with this request.
func fetch(p photo) (picture, error) {
	resp, err := pdk.Send(pdk.HTTPRequest{URL: p.Src.Original, TimeoutMS: photoTimeout, MaxBytes: maxPhoto, AsBlob: true})
	switch {
	case err != nil: // also when the guard refuses the address: that is the provider's doing, not the caller's
		return picture{}, pdk.Failed("photo %d cannot be downloaded: %s", p.ID, message(err))
	case resp.Status != 200:
		return picture{}, pdk.Failed("photo %d cannot be downloaded: the photo host answered %d", p.ID, resp.Status)
	case resp.Truncated:
		return picture{}, pdk.Failed("photo %d is over %d MiB", p.ID, maxPhoto>>20)
	case resp.Size == 0:
		return picture{}, pdk.Failed("photo %d cannot be downloaded: it is empty", p.ID)
	}
	contentType := ""
	if v := resp.Headers["Content-Type"]; len(v) > 0 {
		contentType, _, _ = strings.Cut(strings.ToLower(v[0]), ";")
		contentType = strings.TrimSpace(contentType)
	}
	extension := extensionOf(contentType)
	if extension == "" {
		return picture{}, pdk.Failed("photo %d cannot be used: the photo host sent %q, not an image", p.ID, contentType)
	}
	return picture{pdk.BlobOf(resp.Blob), contentType, extension}, nil
}

// extensionOf is empty for what isn't a picture that browsers show as one. SVG is none here: it is a document.
func extensionOf(contentType string) string {
	switch contentType {
	case "image/jpeg":
		return "jpg"
	case "image/png", "image/webp", "image/gif", "image/avif":
		return strings.TrimPrefix(contentType, "image/")
	}
	return ""
}

// message is an error's text without its code.
func message(err error) string {
	var e *pdk.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
