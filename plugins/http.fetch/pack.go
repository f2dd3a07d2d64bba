// Package httpfetch makes one HTTP request for an agent. The host guards the way and puts credentials in.
package httpfetch

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

// baseURL is the setting that a url without a host belongs to.
const baseURL = "GANTRY_BASE_URL"

// Input is a request as the caller writes it.
type Input struct {
	URL        string            `json:"url"`
	Method     string            `json:"method"`
	Headers    map[string]string `json:"headers"`
	Body       json.RawMessage   `json:"body"`
	Credential string            `json:"credential"`
	As         string            `json:"as"`
	TimeoutMS  int64             `json:"timeout_ms"`
}

// Output is the answer: its body as text, or as an artifact.
type Output struct {
	Status      int               `json:"status"`
	Headers     map[string]string `json:"headers"`
	Body        *string           `json:"body,omitempty"`
	ArtifactKey string            `json:"artifact_key,omitempty"`
	Truncated   bool              `json:"truncated"`
	URL         string            `json:"url"`
	Size        int64             `json:"size"`
}

//go:wasmexport http.fetch
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	request, err := requestOf(in)
	if err != nil {
		return Output{}, err
	}
	resp, err := pdk.Send(request)
	if err != nil {
		return Output{}, err
	}
	out := Output{Status: resp.Status, Headers: map[string]string{}, Truncated: resp.Truncated, URL: resp.URL, Size: resp.Size}
	for name, values := range resp.Headers {
		out.Headers[name] = strings.Join(values, ", ")
	}
	if resp.Blob == nil {
		out.Body = &resp.Body
		return out, nil
	}
	a, err := pdk.PutArtifact(fileName(resp.URL), mediaType(out.Headers["Content-Type"]), pdk.BlobOf(resp.Blob))
	out.ArtifactKey = a.Key
	return out, err
}

func requestOf(in Input) (pdk.HTTPRequest, error) {
	r := pdk.HTTPRequest{Method: in.Method, URL: in.URL, Headers: in.Headers, TimeoutMS: in.TimeoutMS}
	if r.URL == "" {
		return r, pdk.Invalid("url is empty: give a URL such as https://api.example.com/items")
	}
	if strings.HasPrefix(r.URL, "/") {
		own, ok := pdk.Setting(baseURL)
		if !ok || strings.HasPrefix(r.URL, "//") {
			return r, pdk.Invalid("url has no host: give it whole, such as https://api.example.com/items")
		}
		r.URL = own + r.URL
	}
	switch {
	case in.Credential != "" && in.As == "":
		in.As = "bearer"
	case in.Credential == "" && in.As != "":
		return r, pdk.Invalid("as says how the credential goes along, but none is named: add credential")
	}
	if in.Credential != "" {
		r.Auth = []pdk.HTTPAuth{{Credential: in.Credential, As: in.As}}
	}
	return r, setBody(&r, in.Body)
}

// setBody sends text as it is and anything else as the JSON that it is.
func setBody(r *pdk.HTTPRequest, raw json.RawMessage) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	body := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &body); err != nil {
			return pdk.Invalid("body is not text: %s", err)
		}
	} else if !names(r.Headers, "Content-Type") {
		headers := map[string]string{"Content-Type": "application/json"}
		for name, value := range r.Headers {
			headers[name] = value
		}
		r.Headers = headers
	}
	r.Body = &body
	return nil
}

func names(headers map[string]string, name string) bool {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

// fileName is the last part of a URL's path.
func fileName(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	_, url, _ = strings.Cut(url, "://")
	_, path, _ := strings.Cut(url, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" {
		return "body"
	}
	return name[:min(len(name), 100)]
}

// mediaType is a Content-Type that the artifact store takes: what a server writes there may be anything.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	top, sub, ok := strings.Cut(media, "/")
	if !ok || !isName(top) || !isName(sub) {
		return ""
	}
	return media
}

func isName(s string) bool {
	return s != "" && len(s) <= 100 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.+-") == ""
}
