package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/gantry-packs/gantry/pdk/wire"
)

const jsonType = "application/json"

// statusClientGone is answered to nobody: it only tells the log that the caller left before the answer.
const statusClientGone = 499

// status is the one place where error codes become HTTP.
func status(code wire.Code) int {
	switch code {
	case wire.InvalidInput, wire.InvalidJSON:
		return http.StatusBadRequest
	case wire.Unauthorized:
		return http.StatusUnauthorized
	case wire.Forbidden:
		return http.StatusForbidden
	case wire.NotFound, wire.PackNotFound, wire.ArtifactNotFound, wire.TokenNotFound, wire.CredentialNotFound:
		return http.StatusNotFound
	case wire.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case wire.SchemaMismatch, wire.Conflict:
		return http.StatusConflict
	case wire.BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case wire.UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case wire.RangeInvalid:
		return http.StatusRequestedRangeNotSatisfiable
	case wire.RateLimited:
		return http.StatusTooManyRequests
	case wire.Canceled:
		return statusClientGone
	case wire.InvalidOutput, wire.HandlerFailed, wire.ArtifactFailed:
		return http.StatusBadGateway
	case wire.SessionUnavailable, wire.Overloaded:
		return http.StatusServiceUnavailable
	case wire.Timeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// failure is the body of every error. The last three are those of a failed pack call.
type failure struct {
	Error     wire.Code       `json:"error"`
	Message   string          `json:"message"`
	Pack      string          `json:"pack,omitempty"`
	SessionID string          `json:"session_id,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
}

// fail answers err.
func fail(w http.ResponseWriter, r *http.Request, err error) { failCall(w, r, err, "", "") }

// failCall answers the err that a pack call ended with.
func failCall(w http.ResponseWriter, r *http.Request, err error, pack, session string) {
	x, e := exchangeOf(r), wire.As(err)
	x.err = e
	if x.status != 0 {
		return // the answer has begun: the caller sees it end early
	}
	code := status(e.Code)
	if errors.Is(err, errStalled) {
		code = http.StatusRequestTimeout // the caller's time, not the pack's
	}
	h := w.Header()
	for _, name := range []string{"Content-Disposition", "Content-Encoding", "Content-Length", "ETag", "Last-Modified"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	switch {
	case code == http.StatusRequestEntityTooLarge || code == http.StatusRequestTimeout:
		h.Set("Connection", "close") // what is left of the body is not read
	case e.Code == wire.Overloaded || e.Code == wire.RateLimited:
		if h.Get("Retry-After") == "" {
			h.Set("Retry-After", "1")
		}
	}
	body := failure{Error: e.Code, Message: e.Message, Pack: pack, SessionID: session, Details: e.Details}
	raw, merr := encode(body)
	if merr != nil { // details that are no JSON: the pack's fault, and no reason to lose the error itself
		body.Details = nil
		raw, _ = encode(body)
	}
	writeRaw(w, code, raw)
}

// writeJSON answers v.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	raw, err := encode(v)
	if err != nil {
		fail(w, r, err)
		return
	}
	writeRaw(w, status, raw)
}

// encode is json.Marshal without \u003c for <: no answer is ever read as HTML, and messages are read by people.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// writeRaw answers JSON as it is. An error of the write is the caller's broken connection; there is nobody to tell.
func writeRaw(w http.ResponseWriter, status int, raw []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func notFound(w http.ResponseWriter, r *http.Request) {
	fail(w, r, wire.Errorf(wire.NotFound, "no such path: GET /api/v1/openapi.json describes those that exist"))
}

// methodNotAllowed answers a known path that was asked for with another method.
func methodNotAllowed(pattern, allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		exchangeOf(r).route = pattern
		w.Header().Set("Allow", allow)
		fail(w, r, wire.Errorf(wire.MethodNotAllowed, "this path takes %s only", allow))
	}
}
