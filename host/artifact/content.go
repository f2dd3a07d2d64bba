package artifact

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxContentType bounds a content type, in bytes.
const maxContentType = 255

// sniffLen is how many bytes http.DetectContentType looks at.
const sniffLen = 512

// contentTypes says which type an extension has and, first match, which extension a type gets. It is ours and not the
// operating system's, so that the same name has the same type on every machine.
var contentTypes = []struct{ ext, contentType string }{
	{"txt", "text/plain; charset=utf-8"}, {"log", "text/plain; charset=utf-8"}, {"md", "text/markdown; charset=utf-8"},
	{"html", "text/html; charset=utf-8"}, {"htm", "text/html; charset=utf-8"}, {"css", "text/css; charset=utf-8"},
	{"csv", "text/csv; charset=utf-8"}, {"js", "text/javascript; charset=utf-8"}, {"mjs", "text/javascript; charset=utf-8"},
	{"diff", "text/x-diff; charset=utf-8"}, {"patch", "text/x-diff; charset=utf-8"}, {"xml", "text/xml; charset=utf-8"},
	{"json", "application/json"}, {"jsonl", "application/jsonl"}, {"yaml", "application/yaml"}, {"yml", "application/yaml"},
	{"pdf", "application/pdf"}, {"zip", "application/zip"}, {"gz", "application/gzip"}, {"gz", "application/x-gzip"},
	{"tgz", "application/gzip"}, {"tar", "application/x-tar"}, {"wasm", "application/wasm"},
	{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"png", "image/png"}, {"jpg", "image/jpeg"}, {"jpeg", "image/jpeg"}, {"gif", "image/gif"}, {"webp", "image/webp"},
	{"avif", "image/avif"}, {"svg", "image/svg+xml"}, {"ico", "image/x-icon"}, {"bmp", "image/bmp"}, {"tiff", "image/tiff"},
	{"mp3", "audio/mpeg"}, {"wav", "audio/wav"}, {"wav", "audio/wave"}, {"ogg", "audio/ogg"}, {"ogg", "application/ogg"},
	{"flac", "audio/flac"}, {"m4a", "audio/mp4"}, {"mp4", "video/mp4"}, {"webm", "video/webm"}, {"srt", "application/x-subrip"},
	{"vtt", "text/vtt; charset=utf-8"}, {"bin", "application/octet-stream"},
}

// contentTypeOf decides: what was given, else by the extension, else by the first bytes.
func contentTypeOf(given, ext string, head []byte) (string, error) {
	if given != "" {
		return cleanContentType(given)
	}
	for _, t := range contentTypes {
		if t.ext == ext {
			return t.contentType, nil
		}
	}
	return http.DetectContentType(head), nil
}

// cleanContentType takes a type apart and writes it anew, so that nothing but a type can reach a response header.
func cleanContentType(given string) (string, error) {
	bad := wire.Invalid("content_type must be a MIME type such as image/png")
	if len(given) > maxContentType {
		return "", bad
	}
	base, params, err := mime.ParseMediaType(given)
	if err != nil {
		return "", bad
	}
	clean := mime.FormatMediaType(base, params)
	if top, sub, ok := strings.Cut(base, "/"); !ok || top == "" || sub == "" || clean == "" {
		return "", bad
	}
	return clean, nil
}

// extensionOf gives a name without an extension the usual one of its type.
func extensionOf(contentType string) string {
	base, _, _ := strings.Cut(contentType, ";")
	for _, t := range contentTypes {
		if b, _, _ := strings.Cut(t.contentType, ";"); b == base {
			return t.ext
		}
	}
	return "bin"
}
