package api

import (
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// inertCSP goes with every artifact: what opens in a browser has an origin of its own and may load, run and send nothing.
const inertCSP = "default-src 'none'; sandbox; frame-ancestors 'none'"

// inline are the types that a browser only shows. All others, HTML, SVG, PDF, XML and scripts among them, are for saving.
var inline = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/bmp": true,
	"audio/mpeg": true, "audio/wav": true, "audio/ogg": true, "audio/mp4": true, "audio/webm": true, "audio/flac": true,
	"video/mp4": true, "video/webm": true, "video/ogg": true,
	"text/plain": true, "text/csv": true, "text/markdown": true, "application/json": true,
}

// getArtifact gives an artifact's bytes, or its entry to a caller with a token who would rather have JSON. A signed URL
// never gives the entry: its fresh url would make 15 minutes into for ever.
func getArtifact(s *artifact.Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x, key := exchangeOf(r), r.PathValue("key")
		entry, body, err := openArtifact(s, x, r, key)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer body.Close()
		w.Header().Set("Vary", "Accept, Authorization")
		if !x.signed && wantsEntry(r.Header.Values("Accept"), entry.ContentType) {
			writeJSON(w, r, http.StatusOK, s.Public(entry))
			return
		}
		serveArtifact(w, r, entry, body)
	}
}

func openArtifact(s *artifact.Store, x *exchange, r *http.Request, key string) (artifact.Entry, io.ReadSeekCloser, error) {
	if x.signed {
		q := r.URL.Query()
		return s.OpenSigned(r.Context(), key, q.Get("exp"), q.Get("sig"))
	}
	return s.Open(r.Context(), x.caller, key)
}

// serveArtifact answers the bytes, whole or in ranges, such that they can run nowhere.
func serveArtifact(w http.ResponseWriter, r *http.Request, e artifact.Entry, body io.ReadSeeker) {
	h := w.Header()
	kind, how := "application/octet-stream", "attachment"
	if media, parameters, err := mime.ParseMediaType(e.ContentType); err == nil {
		kind = mime.FormatMediaType(media, parameters)
		if inline[media] {
			how = "inline"
		}
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", disposition(how, path.Base(e.Key)))
	h.Set("Content-Security-Policy", inertCSP)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", e.ETag())
	guard := &rangeGuard{ResponseWriter: w}
	http.ServeContent(guard, r, "", e.CreatedAt, body)
	if guard.refused {
		fail(w, r, wire.Errorf(wire.RangeInvalid, "the artifact has %d bytes: ask for a range within them", e.Size))
	}
}

// disposition is a Content-Disposition whose file name can't break out of it.
func disposition(how, name string) string {
	if d := mime.FormatMediaType(how, map[string]string{"filename": name}); d != "" {
		return d
	}
	return how
}

// rangeGuard holds back http.ServeContent's own text for a range that can't be had.
type rangeGuard struct {
	http.ResponseWriter
	refused bool
}

func (g *rangeGuard) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		g.refused = true
		return
	}
	g.ResponseWriter.WriteHeader(status)
}

func (g *rangeGuard) Write(b []byte) (int, error) {
	if g.refused {
		return len(b), nil
	}
	return g.ResponseWriter.Write(b)
}

// wantsEntry says whether an Accept header asks for JSON by name and for the artifact's own type less, or not at all.
// Accept: application/json, */* does not: many clients always send it, and mean nothing by it.
func wantsEntry(accept []string, contentType string) bool {
	own, _, _ := mime.ParseMediaType(contentType)
	family, _, _ := strings.Cut(own, "/")
	var asJSON, asBytes float64
	for text := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, parameters, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		q := 1.0
		if v, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(v, 64); err != nil {
				continue
			}
		}
		switch media {
		case jsonType:
			asJSON = max(asJSON, q)
		case own, family + "/*", "*/*":
			asBytes = max(asBytes, q)
		}
	}
	return asJSON > asBytes
}
