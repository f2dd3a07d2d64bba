package hosttest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// statusOf is the closed set of error codes with the HTTP status of each.
var statusOf = map[string]int{
	"invalid_input": 400, "invalid_json": 400, "schema_mismatch": 409, "session_unavailable": 503, "timeout": 504,
	"invalid_output": 502, "handler_failed": 502, "artifact_failed": 502, "internal": 500,
	"body_too_large": 413, "unsupported_media_type": 415, "unauthorized": 401, "forbidden": 403, "not_found": 404,
	"method_not_allowed": 405, "pack_not_found": 404, "artifact_not_found": 404, "token_not_found": 404, "credential_not_found": 404, "conflict": 409,
	"range_not_satisfiable": 416, "rate_limited": 429, "overloaded": 503, "canceled": 499,
}

// noGateway is in the one internal error that the contract asks for: a pack that needs a model, in a service without a gateway.
const noGateway = "no gateway dispatcher"

// wellMade says what is wrong with an answer whatever was asked: an error must be typed, whole and not internal.
func wellMade(method string, a Answer) error {
	if a.Header.Get("X-Request-Id") == "" {
		return fmt.Errorf("no X-Request-Id: %s", a)
	}
	if a.Status < http.StatusBadRequest || method == http.MethodHead {
		return nil
	}
	if kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); kind != "application/json" {
		return fmt.Errorf("an error of type %q: %s", a.Header.Get("Content-Type"), a)
	}
	var fields map[string]any
	if err := json.Unmarshal(a.Body, &fields); err != nil {
		return fmt.Errorf("the error is not a JSON object: %s", a)
	}
	for name := range fields {
		if !slices.Contains([]string{"error", "message", "pack", "session_id", "details"}, name) {
			return fmt.Errorf("the error has a field %q: %s", name, a)
		}
	}
	if m, _ := fields["message"].(string); m == "" {
		return fmt.Errorf("the error has no message: %s", a)
	}
	switch want, known := statusOf[a.Code()]; {
	case !known:
		return fmt.Errorf("the code is not of the closed set: %s", a)
	case want != a.Status:
		return fmt.Errorf("%s must be %d: %s", a.Code(), want, a)
	case a.Code() == "internal" && !strings.Contains(string(a.Body), noGateway):
		return fmt.Errorf("bad input must never be an internal error: %s", a)
	}
	return nil
}

// wellMadeWith also asks for one of the codes; "" among them stands for success.
func wellMadeWith(method string, a Answer, codes ...string) error {
	if err := wellMade(method, a); err != nil {
		return err
	}
	code := ""
	if a.Status >= http.StatusBadRequest {
		code = a.Code()
	}
	if !slices.Contains(codes, code) {
		return fmt.Errorf("want %q: %s", codes, a)
	}
	return nil
}
