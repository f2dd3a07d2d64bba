package pdk

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// HTTPRequest is one request to another server.
type HTTPRequest = wire.HTTPRequest

// HTTPResponse is what came back.
type HTTPResponse = wire.HTTPResponse

// HTTPAuth names a credential of the vault and how it goes into the request: bearer, basic, header:NAME or query:NAME.
type HTTPAuth = wire.HTTPAuth

// maxInlineBody is the longest text body that is written into the request itself, in bytes; Send hands a longer one over as a
// blob.
const maxInlineBody = 256 << 10

// Send makes one HTTP request; redirects are followed. Needs the permission net, and vault for credentials. Any status is an
// answer. Errors: invalid_input for a request that may not be made (address, header, credential), handler_failed when no
// answer came, timeout when none came in time.
func Send(r HTTPRequest) (HTTPResponse, error) {
	if r.Body != nil && (len(*r.Body) > maxInlineBody || !utf8.ValidString(*r.Body)) {
		ref, err := NewBlob([]byte(*r.Body)).Ref()
		if err != nil {
			return HTTPResponse{}, err
		}
		r.Body, r.BodyBlob = nil, ref
	}
	return ask[HTTPResponse](httpSend, r)
}

// ResponseBytes is a response's body, wherever the host has put it.
func ResponseBytes(r HTTPResponse) ([]byte, error) {
	if r.Blob != nil {
		return BlobOf(r.Blob).Bytes()
	}
	return []byte(r.Body), nil
}

// SendJSON sends body as JSON (nil: none), and reads a 2xx answer's JSON into T. Another status is no error: T is then zero,
// and the response says why.
func SendJSON[T any](r HTTPRequest, body any) (T, HTTPResponse, error) {
	var answer T
	headers := map[string]string{"Accept": "application/json"}
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return answer, HTTPResponse{}, fmt.Errorf("writing the request: %w", err)
		}
		text := string(raw)
		r.Body, headers["Content-Type"] = &text, "application/json"
	}
	for name, value := range r.Headers {
		headers[name] = value
	}
	r.Headers = headers
	resp, err := Send(r)
	if err != nil || resp.Status < 200 || resp.Status > 299 {
		return answer, resp, err
	}
	raw, err := ResponseBytes(resp)
	if err != nil || len(raw) == 0 {
		return answer, resp, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, resp, wire.Failed("the server answered something that is not the JSON that was expected: %s", err)
	}
	return answer, resp, nil
}
