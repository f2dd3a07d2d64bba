package hosttest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
)

// Fault is a way in which a stand-in for somebody else's service misbehaves. The key that a request carries chooses it, so
// that scripts which run at the same time against the same stand-in don't get in each other's way.
type Fault string

// The faults that every stand-in knows.
const (
	FaultNone     Fault = ""
	FaultSlow     Fault = "slow"     // no answer until the client has left
	FaultCut      Fault = "cut"      // the connection breaks in the middle of the body
	FaultHTML     Fault = "html"     // a page and status 200, as a portal in between would answer
	FaultBusy     Fault = "busy"     // 429
	FaultDown     Fault = "down"     // 503
	FaultDenied   Fault = "denied"   // 403
	FaultHuge     Fault = "huge"     // a body without an end
	FaultRedirect Fault = "redirect" // to the metadata address of a cloud
	FaultEcho     Fault = "echo"     // the credentials that were sent come back in the answer
)

var commonFaults = []Fault{FaultSlow, FaultCut, FaultHTML, FaultBusy, FaultDown, FaultDenied, FaultHuge, FaultRedirect, FaultEcho}

// metadataURL is where no request of a guarded client may arrive.
const metadataURL = "http://169.254.169.254/latest/meta-data/"

// hugeBody is what a huge answer ends with at last, in bytes: more than anybody should read.
const hugeBody = 256 << 20

// variable names the fault in a script's variable: BLOG_KEY, BLOG_KEY_SLOW.
func (f Fault) variable(prefix string) string {
	if f == FaultNone {
		return prefix
	}
	return prefix + "_" + strings.ToUpper(strings.ReplaceAll(string(f), "-", "_"))
}

// hexKey makes a key's digits: the same ones for the same words, different ones for others.
func hexKey(digits int, words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, " ")))
	return hex.EncodeToString(sum[:])[:digits]
}

// serve misbehaves, if the fault is one of those that need to know nothing of the service, and says whether it did.
// contentType is that of the huge and the cut body.
func (f Fault) serve(w http.ResponseWriter, r *http.Request, contentType string) bool {
	switch f {
	case FaultSlow:
		_, _ = io.Copy(io.Discard, r.Body) // an unread body keeps the server from noticing that the client left
		<-r.Context().Done()
	case FaultCut:
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"photos":[{"id":1,`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Welcome</title><p>Please sign in to the network.")
	case FaultHuge:
		w.Header().Set("Content-Type", contentType)
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range hugeBody / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return true
			}
		}
	case FaultRedirect:
		http.Redirect(w, r, metadataURL, http.StatusTemporaryRedirect)
	default:
		return false
	}
	return true
}
