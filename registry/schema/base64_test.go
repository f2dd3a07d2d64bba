package schema

import (
	"fmt"
	"strings"
	"testing"
)

func TestBase64At(t *testing.T) {
	s := compiled(t, `{
		"properties": {
			"file": {"type": "string", "contentEncoding": "base64"},
			"text": {"type": "string", "contentEncoding": "quoted-printable"},
			"ref": {"$ref": "#/$defs/bytes"},
			"list": {"items": {"properties": {"data": {"$ref": "#/$defs/bytes"}}}},
			"pair": {"prefixItems": [{"type": "string"}, {"contentEncoding": "base64"}]},
			"map": {"properties": {"plain": {"type": "string"}}, "additionalProperties": {"contentEncoding": "base64"}},
			"any": {"anyOf": [{"type": "null"}, {"allOf": [{"oneOf": [{"contentEncoding": "base64"}]}]}]},
			"not": {"not": {"contentEncoding": "base64"}},
			"tree": {"$ref": "#/$defs/tree"}},
		"allOf": [{"properties": {"text": {}, "both": {"contentEncoding": "base64"}}}, {"properties": {"both": {"type": "string"}}}],
		"$defs": {
			"bytes": {"contentEncoding": "base64"},
			"tree": {"properties": {"leaf": {"contentEncoding": "base64"}, "nodes": {"items": {"$ref": "#/$defs/tree"}}}}}}`)
	if !s.Base64() {
		t.Fatal("Base64() = false")
	}
	for path, want := range map[string]bool{
		"": false, "file": true, "file/x": false, "text": false, "ref": true, "list": false, "list/*": false, "list/*/data": true,
		"list/*/other": false, "pair/*": true, "map/x": true, "map/plain": false, "any": true, "not": false, "both": true,
		"tree/leaf": true, "tree/nodes/*/nodes/*/leaf": true, "tree/nodes/leaf": false, "unknown": false, "unknown/file": false,
	} {
		var keys []string
		if path != "" {
			keys = strings.Split(path, "/")
		}
		if got := s.Base64At(keys); got != want {
			t.Errorf("Base64At(%s) = %v", path, got)
		}
	}
	if err := s.Validate(decoded(t, `{"file": "not base64!"}`)); err != nil {
		t.Errorf("contentEncoding is checked: %v", err)
	}
}

func TestBase64None(t *testing.T) {
	s := compiled(t, `{"properties": {"a": {"contentEncoding": "base32"}}}`)
	if s.Base64() || s.Base64At([]string{"a"}) || s.Base64At(nil) {
		t.Error("a schema without base64 fields has one")
	}
}

// "The twelfth key from the end is an a": to tell where that is takes 2^12 places. Refused, not computed.
func TestBase64TooManyPlaces(t *testing.T) {
	var defs []string
	for i := range 12 {
		defs = append(defs, fmt.Sprintf(`"q%d": {"properties": {"a": {"$ref": "#/$defs/q%d"}, "b": {"$ref": "#/$defs/q%d"}}}`, i+1, i+2, i+2))
	}
	_, err := Compile(fmt.Appendf(nil, `{"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/q1"}]}, "b": {"$ref": "#"}},
		"$defs": {%s, "q13": {"contentEncoding": "base64"}}}`, strings.Join(defs, ",")))
	if err == nil || !strings.Contains(err.Error(), "too many alternatives") {
		t.Error(err)
	}
}
