package engine

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// EnvelopeVersion is the version of the envelope's shape.
const EnvelopeVersion = "v1"

// Envelope is the answer of a call that succeeded.
type Envelope struct {
	Pack      string
	Version   string
	Output    []byte // the pack's own JSON object
	Artifacts []wire.Artifact
	Duration  time.Duration
	SessionID string
}

// AppendJSON appends the envelope as JSON: {pack, version, output, artifacts?, duration_ms, session_id?}. The output is
// copied as it is: marshalling it again would cost more than the rest of a small call.
func (v Envelope) AppendJSON(b []byte) []byte {
	b = append(b, `{"pack":`...)
	b = strconv.AppendQuote(b, v.Pack) // names are [a-z0-9_.]
	b = append(b, `,"version":`...)
	b = strconv.AppendQuote(b, v.Version)
	b = append(b, `,"output":`...)
	b = append(b, v.Output...)
	if len(v.Artifacts) > 0 {
		// Strings and numbers: cannot fail, once text that isn't UTF-8 is let through as U+FFFD.
		list, _ := json.Marshal(v.Artifacts, jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(true))
		b = append(b, `,"artifacts":`...)
		b = append(b, list...)
	}
	b = append(b, `,"duration_ms":`...)
	b = strconv.AppendFloat(b, float64(v.Duration.Microseconds())/1000, 'f', -1, 64)
	if v.SessionID != "" {
		b = append(b, `,"session_id":`...)
		b = strconv.AppendQuote(b, v.SessionID)
	}
	return append(b, '}')
}
