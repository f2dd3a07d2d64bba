package blogpublish

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	sendTimeout = 30_000   // ms; two requests stay below the pack's timeout_s, so that a slow platform still gets an answer
	maxAnswer   = 32 << 20 // bytes: a new post comes back with its body
	maxCause    = 300      // bytes of what the platform says of an error
)

// post sends what to the platform and reads its answer, which must be 201: a 200 would be of a page that a redirect led to.
func (s site) post(path, what string, answer any, r pdk.HTTPRequest) error {
	r.Method, r.URL, r.TimeoutMS, r.MaxBytes = "POST", s.base+path, sendTimeout, maxAnswer
	headers := map[string]string{"Authorization": "Ghost " + s.token, "Accept-Version": apiVersion, "Accept": "application/json"}
	for name, value := range r.Headers {
		headers[name] = value
	}
	r.Headers = headers
	resp, err := pdk.Send(r)
	if err != nil {
		return err
	}
	raw, err := pdk.ResponseBytes(resp)
	if err != nil {
		return err
	}
	if resp.Status != 201 {
		return pdk.Failed("the blog platform did not take %s: %s", what, s.cause(resp, raw))
	}
	if err := json.Unmarshal(raw, answer); err != nil || resp.Truncated {
		return pdk.Failed("the blog platform answered %s with something that is not its JSON: look there before you send it again", what)
	}
	return nil
}

// cause is what the platform says of its refusal, short, and without the token should it repeat it.
func (s site) cause(resp pdk.HTTPResponse, raw []byte) string {
	text := "status " + strconv.Itoa(resp.Status)
	var said struct {
		Errors []struct{ Message, Context string }
	}
	if json.Unmarshal(raw, &said) == nil && len(said.Errors) > 0 {
		for _, part := range []string{said.Errors[0].Message, said.Errors[0].Context} {
			if part = cut(strings.ReplaceAll(part, s.token, "[token]")); part != "" {
				text += ": " + part
			}
		}
	}
	if at := strings.ToLower(resp.URL); at != "" && !strings.HasPrefix(at, strings.ToLower(s.base)+"/") {
		text += " (it sent the request on to another address: give that one as host)"
	}
	return text
}

// cut shortens what somebody else says.
func cut(text string) string {
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

// encode leaves <, > and & as they are: HTML would grow six times.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return b.String(), nil
}

// failure keeps invalid_input and makes handler_failed of the rest, such as a platform that is too slow.
func failure(err error) error {
	var e *pdk.Error
	if errors.As(err, &e) && e.Code == pdk.InvalidInput {
		return err
	}
	return pdk.Failed("%s", message(err))
}

// message is an error's text without its code.
func message(err error) string {
	var e *pdk.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
