package schema

import (
	"fmt"
	"strings"
	"testing"
)

func compiled(t testing.TB, raw string) *Schema {
	t.Helper()
	s, err := Compile([]byte(raw))
	if err != nil {
		t.Fatalf("Compile(%.200s): %v", raw, err)
	}
	return s
}

func decoded(t testing.TB, raw string) any {
	t.Helper()
	v, err := Decode([]byte(raw))
	if err != nil {
		t.Fatalf("Decode(%.200s): %v", raw, err)
	}
	return v
}

const search = `{"type": "object", "required": ["query"], "additionalProperties": false, "properties": {
	"query": {"type": "string", "minLength": 2},
	"count": {"type": "integer", "minimum": 1, "maximum": 4},
	"format": {"enum": ["markdown", "html"]},
	"ratio": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
	"tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": true},
	"steps": {"type": "array", "items": {"oneOf": [
		{"required": ["selector"], "properties": {"action": {"const": "click"}, "selector": {"type": "string"}}},
		{"required": ["value"], "properties": {"action": {"const": "type"}, "value": {"type": "string"}}}]}},
	"id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
	"slug": {"type": "string", "pattern": "^[a-z]+$"},
	"auth": {"type": "object", "dependentRequired": {"user": ["password"]}, "propertyNames": {"pattern": "^[a-z]+$"}},
	"source": {"type": "object", "anyOf": [{"required": ["text"]}, {"required": ["clone_path", "path"]}]}}}`

func TestValidate(t *testing.T) {
	tests := []struct{ value, want string }{
		{`{"query": "fox"}`, ""},
		{`{"query": "fox", "count": 4.0, "tags": ["a", "b"], "id": 7, "source": {"text": "x"}}`, ""},
		{`{}`, "query: missing (required)"},
		{`[]`, "top level: expected object, got array"},
		{`{"query": "fox", "count": 9}`, "count: 9 is over the maximum of 4"},
		{`{"query": "fox", "count": 0}`, "count: 0 is under the minimum of 1"},
		{`{"query": "fox", "count": 1.5}`, "count: expected integer, got number"},
		{`{"query": "fox", "count": "4"}`, "count: expected integer, got string"},
		{`{"query": "f"}`, "query: has 1 characters, at least 2 are needed"},
		{`{"query": "fox", "format": "pdf"}`, `format: "pdf" is not one of "markdown", "html"`},
		{`{"query": "fox", "ratio": 0.75}`, "ratio: 0.75 is not a multiple of 0.5"},
		{`{"query": "fox", "ratio": 0}`, "ratio: 0 must be more than 0"},
		{`{"query": "fox", "foo": 1, "bar baz": 2}`, `"bar baz": unknown field; foo: unknown field`},
		{`{"query": "fox", "tags": ["a", "b", "a", 4]}`, "tags: has 4 items, at most 3 are allowed; tags: items 0 and 2 are equal; tags[3]: expected string, got number"},
		{`{"query": "fox", "steps": [{"action": "type"}]}`, "steps[0].value: missing (required)"},
		{`{"query": "fox", "steps": [{"selector": "a", "value": "b"}]}`, "steps[0]: fits more than one of the alternatives: exactly one is allowed"},
		{`{"query": "fox", "id": null}`, "id: expected string or integer, got null"},
		{`{"query": "fox", "slug": "Ä"}`, "slug: does not match the pattern ^[a-z]+$"},
		{`{"query": "fox", "auth": {"user": "ann"}}`, "auth.password: missing (required when user is given)"},
		{`{"query": "fox", "auth": {"A": 1}}`, "auth.A: this name is not allowed for a field"},
		{`{"query": "fox", "source": {"path": "x"}}`, "source: needs text, or clone_path"},
	}
	s := compiled(t, search)
	for _, tt := range tests {
		got := ""
		if err := s.Validate(decoded(t, tt.value)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.value, got, tt.want)
		}
	}
}

func TestValidateListsInOrder(t *testing.T) {
	err := compiled(t, `{"items": {"type": "string"}}`).Validate(decoded(t, `["", 1`+strings.Repeat(`, ""`, 8)+`, 2, 3]`))
	if err == nil || err.Error() != "[1]: expected string, got number; [10]: expected string, got number; [11]: expected string, got number" {
		t.Error(err)
	}
}

func TestEnum(t *testing.T) {
	s := compiled(t, `{"enum": ["a", 1, null, true, [1, "x"], {"k": 2.5}]}`)
	for raw, fits := range map[string]bool{
		`"a"`: true, `1.0`: true, `null`: true, `true`: true, `[1, "x"]`: true, `{"k": 25e-1}`: true,
		`"1"`: false, `"b"`: false, `false`: false, `[1]`: false, `{}`: false, `2`: false, `""`: false,
	} {
		if err := s.Validate(decoded(t, raw)); (err == nil) != fits {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestValidateListsEight(t *testing.T) {
	s := compiled(t, `{"additionalProperties": false}`)
	var fields []string
	for i := range 20 {
		fields = append(fields, fmt.Sprintf(`"f%02d": 1`, i))
	}
	err := s.Validate(decoded(t, "{"+strings.Join(fields, ",")+"}"))
	if got := strings.Count(err.Error(), "unknown field"); got != maxFindings || !strings.HasSuffix(err.Error(), "; and 12 more") {
		t.Errorf("lists %d: %v", got, err)
	}
}

// A value that is long, or isn't text, must not come back in an error.
func TestValidateEchoesLittle(t *testing.T) {
	secret := strings.Repeat("hunter2", 100)
	for name, tt := range map[string][2]string{
		"enum":       {`{"properties": {"a": {"enum": ["x"]}}}`, `{"a": "` + secret + `"}`},
		"pattern":    {`{"properties": {"a": {"pattern": "^x"}}}`, `{"a": "` + secret + `"}`},
		"const":      {`{"properties": {"a": {"const": "x"}}}`, `{"a": "` + secret + `"}`},
		"key":        {`{"additionalProperties": false}`, `{"` + secret + `": 1}`},
		"key name":   {`{"propertyNames": {"maxLength": 3}}`, `{"` + secret + `": 1}`},
		"inner":      {`{"properties": {"a": {"enum": ["x"]}}}`, `{"a": {"` + secret + `": ["` + secret + `"]}}`},
		"number":     {`{"properties": {"a": {"maximum": 3}}}`, `{"a": ` + strings.Repeat("9", 900) + `}`},
		"control":    {`{"additionalProperties": false}`, `{"a\u0000\u001b[31m\n": 1}`},
		"not a rune": {`{"additionalProperties": false}`, `{"` + strings.Repeat("é", 200) + `": 1}`},
	} {
		err := compiled(t, tt[0]).Validate(decoded(t, tt[1]))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if len(err.Error()) > 250 || strings.Contains(err.Error(), secret[:80]) || strings.ContainsAny(err.Error(), "\x00\x1b\n") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

func TestCompileNothing(t *testing.T) {
	for _, raw := range []string{"", "  ", "null"} {
		s := compiled(t, raw)
		if err := s.Validate(decoded(t, `{"any": ["thing"]}`)); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		if err := s.Validate(decoded(t, `[]`)); err == nil {
			t.Errorf("%q takes an array", raw)
		}
		if string(s.Raw()) != anyObject {
			t.Errorf("%q: Raw() = %s", raw, s.Raw())
		}
	}
}

// The form of older packs: required and properties alone.
func TestCompileSubset(t *testing.T) {
	s := compiled(t, `{"required": ["text"], "properties": {"text": {"type": "string", "description": "what to say"}}}`)
	if err := s.Validate(decoded(t, `{"text": "x", "more": 1}`)); err != nil {
		t.Error(err)
	}
	if err := s.Validate(decoded(t, `{"text": 1}`)); err == nil || err.Error() != "text: expected string, got number" {
		t.Error(err)
	}
}

func TestCompileDrafts(t *testing.T) {
	old := compiled(t, `{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}},
		"properties": {"pair": {"items": [{"type": "string"}, {"$ref": "#/definitions/n"}], "additionalItems": false}}}`)
	if err := old.Validate(decoded(t, `{"pair": ["a", 1, 2]}`)); err == nil || err.Error() != "pair: 1 items too many" {
		t.Error(err)
	}
	ids := compiled(t, `{"$id": "https://packs.test/a.json", "$defs": {"n": {"$id": "n.json", "type": "integer"}}, "properties": {"n": {"$ref": "n.json"}}}`)
	if err := ids.Validate(decoded(t, `{"n": "x"}`)); err == nil || err.Error() != "n: expected integer, got string" {
		t.Error(err)
	}
}

func TestRecursiveSchema(t *testing.T) {
	s := compiled(t, `{"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}`)
	if err := s.Validate(decoded(t, `{"children": [{"children": [{"children": 1}]}]}`)); err == nil ||
		err.Error() != "children[0].children[0].children: expected array, got number" {
		t.Error(err)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compiled(b, search)
	}
}

func BenchmarkValidate(b *testing.B) {
	s := compiled(b, search)
	v := decoded(b, `{"query": "fox", "count": 4, "tags": ["a", "b"], "id": 7, "source": {"text": "x"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}
