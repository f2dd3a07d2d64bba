package engine

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// maskJSON masks the call's secrets in every name, string and number of a JSON value, however they are escaped there. Masking
// the bytes instead would miss escapes, and could break the JSON around a secret that looks like some. It answers raw itself
// for a call that has used no secret.
func (c *Call) maskJSON(raw []byte) ([]byte, error) {
	if c.Secrets.Empty() {
		return raw, nil
	}
	var out bytes.Buffer
	// Two names may become the same by masking; whoever decodes the result refuses that.
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for dec.PeekKind() != 0 {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if k := t.Kind(); k == '"' || k == '0' {
			text := t.String()
			if masked := c.Secrets.MaskString(text); masked != text || k == '"' {
				t = jsontext.String(masked)
			}
		}
		if err := enc.WriteToken(t); err != nil {
			return nil, err
		}
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// maskError masks the call's secrets in what an error tells, and in what it tells the log.
func (c *Call) maskError(e *wire.Error) *wire.Error {
	if c.Secrets.Empty() {
		return e
	}
	masked := *e
	masked.Message = c.Secrets.MaskString(e.Message)
	if len(e.Details) > 0 {
		details, err := c.maskJSON(e.Details)
		if err != nil {
			details = nil
		}
		masked.Details = details
	}
	if cause := e.Unwrap(); cause != nil {
		return masked.Because(maskedError{cause, c.Secrets.MaskString(cause.Error())})
	}
	return &masked
}

// maskedError is an error whose text is masked; what it is stays known to errors.Is and errors.As.
type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.error }
