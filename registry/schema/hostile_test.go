package schema

import (
	"fmt"
	"strings"
	"testing"
)

func TestCompileRefuses(t *testing.T) {
	tests := []struct{ name, raw, reason string }{
		{"not JSON", `{`, "not valid JSON"},
		{"not an object", `[]`, "must be a JSON object"},
		{"a boolean", `true`, "must be a JSON object"},
		{"duplicate keys", `{"type": "object", "type": "array"}`, "stands twice"},
		{"unknown type", `{"properties": {"a": {"type": "strnig"}}}`, "properties.a.type"},
		{"wrong keyword", `{"properties": {"a": {"minLength": "x"}}}`, "properties.a.minLength: expected integer, got string"},
		{"required is no list", `{"required": "a"}`, "required: expected array, got string"},
		{"remote ref", `{"properties": {"a": {"$ref": "https://evil.test/x.json"}}}`, "$ref to https://evil.test/x.json: only references inside the schema"},
		{"remote ref, http", `{"$ref": "http://169.254.169.254/latest"}`, "only references inside the schema"},
		{"file ref", `{"$ref": "file:///etc/passwd"}`, "only references inside the schema"},
		{"relative ref", `{"$ref": "../../other.json"}`, "$ref to other.json: only references"},
		{"relative to an id", `{"$id": "https://evil.test/a.json", "$ref": "b.json"}`, "$ref to https://evil.test/b.json: only"},
		{"the metaschema", `{"$ref": "https://json-schema.org/draft/2020-12/schema"}`, "only references inside the schema"},
		{"remote $schema", `{"$schema": "https://evil.test/meta"}`, "only references inside the schema"},
		{"dangling ref", `{"$ref": "#/$defs/no"}`, "#/$defs/no"},
		{"dynamic ref", `{"$dynamicAnchor": "x", "properties": {"a": {"$dynamicRef": "#x"}}}`, "use $ref"},
		{"ref to itself", `{"$ref": "#"}`, "never end"},
		{"ref loop", `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`, "never end"},
		{"allOf loop", `{"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"not": {"$ref": "#/$defs/a"}}]}}}`, "never end"},
		{"dependent loop", `{"dependentSchemas": {"a": {"$ref": "#"}}}`, "never end"},
		{"lookahead", `{"properties": {"a": {"pattern": "(?=x)"}}}`, "pattern"},
		{"long pattern", `{"pattern": "` + strings.Repeat("a", MaxPattern+1) + `"}`, "pattern"},
		{"large pattern", `{"pattern": "` + strings.Repeat("([a-z]|b){900}", 9) + `"}`, "pattern"},
		{"large property pattern", `{"patternProperties": {"((x{30}){30})y{900}": {}}}`, "patternProperties"},
		{"too long", `{"description": "` + strings.Repeat("x", MaxSchemaBytes) + `"}`, "at most 262144"},
		{"too deep", strings.Repeat(`{"items":`, 70) + "{}" + strings.Repeat("}", 70), "64 levels"},
		{"too many", `{"enum": [` + strings.Repeat("{},", 2000) + `{}]}`, "more than 2000"},
		{"long key", `{"properties": {"` + strings.Repeat("k", 300) + `": {}}}`, "at most 256"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compile([]byte(tt.raw))
			if err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Fatalf("Compile(%.100s): %v; want an error that says %q", tt.raw, err, tt.reason)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// doubling is a schema of n steps, each of which refers twice to the next.
func doubling(n int, step string) string {
	defs := []string{fmt.Sprintf(`"d%d": {"type": "object"}`, n)}
	for i := range n {
		ref := fmt.Sprintf(`{"$ref": "#/$defs/d%d"}`, i+1)
		defs = append(defs, fmt.Sprintf(`"d%d": %s`, i, strings.ReplaceAll(step, "NEXT", ref)))
	}
	return `{"$ref": "#/$defs/d0", "$defs": {` + strings.Join(defs, ",") + `}}`
}

// Small schemas that would run for ever, or nearly: the billion laughs of JSON Schema.
func TestCompileRefusesExplosions(t *testing.T) {
	for name, raw := range map[string]string{
		"doubling allOf":         doubling(30, `{"allOf": [NEXT, NEXT]}`),
		"doubling with not":      doubling(30, `{"if": {"not": NEXT}, "then": NEXT, "else": NEXT}`),
		"doubling going down":    doubling(30, `{"allOf": [{"items": NEXT}, {"items": NEXT}]}`),
		"doubling by properties": doubling(30, `{"properties": {"a": NEXT}, "patternProperties": {"^a": NEXT}}`),
		"doubling by contains":   doubling(30, `{"items": NEXT, "contains": NEXT}`),
		"doubling recursion":     `{"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}`,
		"doubling unevaluated":   `{"anyOf": [{"additionalProperties": {"$ref": "#"}}, {"unevaluatedProperties": {"$ref": "#"}}]}`,
		"long chain":             doubling(100, `{"allOf": [NEXT]}`),
	} {
		if _, err := Compile([]byte(raw)); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
}

func TestCompileAllowsManyReferences(t *testing.T) {
	s := compiled(t, doubling(6, `{"allOf": [NEXT, NEXT]}`))
	if err := s.Validate(decoded(t, `{}`)); err != nil {
		t.Error(err)
	}
}

// 34,000 different arrays that all have the same hash in the library, whose own check would take half a minute.
func TestUniqueItemsIsLinear(t *testing.T) {
	s := compiled(t, `{"uniqueItems": true}`)
	if s.sch.UniqueItems {
		t.Fatal("uniqueItems is left to the library")
	}
	const length = 60
	var items []any
	for i := range length {
		for j := range i {
			for k := range j {
				var b strings.Builder
				for at := range length {
					b.WriteString("a\x04")
					if at == i || at == j || at == k {
						b.WriteByte('|')
					}
				}
				var item []any
				for part := range strings.SplitSeq(b.String(), "\x04|") {
					item = append(item, part)
				}
				items = append(items, item)
			}
		}
	}
	if err := s.Validate(items); err != nil {
		t.Error(err)
	}
}

func TestUniqueItems(t *testing.T) {
	s := compiled(t, `{"uniqueItems": true}`)
	for raw, equal := range map[string]bool{
		`[]`: false, `[1, 2, "1", true, null, [1], {"a": 1}, -1]`: false,
		`[1, 1.0]`: true, `[100, 1e2]`: true, `["a", "\u0061"]`: true, `[null, null]`: true, `[true, false, true]`: true,
		`[{"a": 1, "b": 2}, {"b": 2, "a": 1}]`: true, `[["a", "b"], ["a\u0004b"]]`: false, `[[], {}, ""]`: false, `[["a"], ["a"]]`: true,
	} {
		if err := s.Validate(decoded(t, raw)); (err != nil) != equal {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// Documents that are allowed by Decode, but would keep the schema busy.
func TestValidateRefusesTooMuchWork(t *testing.T) {
	many := `{"items": {"anyOf": [` + strings.Repeat(`{"type": "object", "required": ["x"]},`, 200) + `{"type": "string"}]}}`
	err := compiled(t, many).Validate(decoded(t, "["+strings.Repeat("1,", 100_000)+"1]"))
	if err == nil || !strings.Contains(err.Error(), "too many to check") {
		t.Error(err)
	}
	slow := `{"items": {"pattern": "^([a-z]?[0-9]?){120}$"}}`
	text := `"` + strings.Repeat("a", 60_000) + `"`
	err = compiled(t, slow).Validate(decoded(t, "["+strings.Repeat(text+",", 30)+text+"]"))
	if err == nil || !strings.Contains(err.Error(), "too many to check against patterns") {
		t.Error(err)
	}
}

func TestPatternOnLongString(t *testing.T) {
	v := map[string]any{"a": strings.Repeat("x", MaxPatternString+1)}
	for _, raw := range []string{`{"properties": {"a": {"pattern": "^x*$"}}}`, `{"properties": {"a": {"not": {"pattern": "y"}}}}`} {
		if err := compiled(t, raw).Validate(v); err == nil || !strings.Contains(err.Error(), "too long to be checked against a pattern") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// The body of the largest file that a pack can be sent.
func TestValidateLargeString(t *testing.T) {
	s := compiled(t, `{"properties": {"content_b64": {"type": "string", "contentEncoding": "base64", "minLength": 4, "maxLength": 100000000}, "name": {"pattern": "^[a-z]+$"}}}`)
	if err := s.Validate(map[string]any{"content_b64": strings.Repeat("QUJD", 12<<20), "name": "x"}); err != nil {
		t.Error(err)
	}
}

// FuzzSchema compiles anything and checks anything with it: there must be no panic and no hang.
func FuzzSchema(f *testing.F) {
	f.Add(search, `{"query": "fox", "steps": [{"action": "type"}]}`)
	f.Add(`{"$id": "%zz", "$anchor": "a", "$ref": "#a"}`, `1e400`)
	f.Add(`{"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMaximum": true, "maximum": 3}`, `3`)
	f.Add(`{"unevaluatedItems": false, "prefixItems": [true], "contains": {"const": 1}, "minContains": 2}`, `[1, 1, 2]`)
	f.Add(`{"properties": {"a": {"contentEncoding": "base64"}}, "additionalProperties": {"$ref": "#"}}`, `{"a": "eA=="}`)
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := Compile([]byte(raw))
		if err != nil {
			return
		}
		v, err := Decode([]byte(value))
		if err != nil {
			return
		}
		_ = s.Validate(v)
		_ = s.Base64At([]string{"a", "*", "b"})
	})
}
