package api

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gantry-packs/gantry/registry/schema"
)

func TestDescriptionIsValid(t *testing.T) {
	s := start(t)
	raw := s.want(200, "", "GET", "/api/v1/openapi.json", "", "").body
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	for _, rt := range routes(s.host, "") {
		path := doc.Paths.Value(strings.ReplaceAll(rt.pattern, "...", ""))
		if path == nil || path.GetOperation(rt.method) == nil {
			t.Errorf("%s %s is not described", rt.method, rt.pattern)
		}
	}
	echo := doc.Paths.Value("/api/v1/packs/test.echo")
	if echo == nil || echo.Post == nil || echo.Get == nil {
		t.Fatal("test.echo is not described")
	}
	in := echo.Post.RequestBody.Value.Content.Get(jsonType).Schema.Value
	if text := in.Properties["text"]; text == nil || text.Value == nil || !text.Value.Type.Is("string") {
		t.Errorf("the $ref of a pack's own schema does not resolve: %+v", in.Properties["text"])
	}
	everyRefResolves(t, raw)
}

// everyRefResolves follows each $ref of the document by hand.
func everyRefResolves(t *testing.T, raw []byte) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && !resolves(doc, ref) {
				t.Errorf("%s leads nowhere", ref)
			}
			for _, sub := range v {
				walk(sub)
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		}
	}
	walk(doc)
}

func resolves(doc any, ref string) bool {
	pointer, ok := strings.CutPrefix(ref, "#/")
	for token := range strings.SplitSeq(pointer, "/") {
		token, err := url.PathUnescape(token)
		if err != nil {
			return false
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := doc.(type) {
		case map[string]any:
			doc = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return false
			}
			doc = v[i]
		default:
			return false
		}
	}
	return ok && doc != nil
}

func TestEmbedSchema(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"pointer":            {`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{}}}`, `{"$defs":{"x":{}},"properties":{"a":{"$ref":"HOME/$defs/x"}}}`},
		"itself":             {`{"items":{"$ref":"#"}}`, `{"items":{"$ref":"HOME"}}`},
		"its own id":         {`{"$id":"https://x.org/s","$schema":"y","not":{"$ref":"https://x.org/s#/$defs/x"},"$defs":{"x":{}}}`, `{"$defs":{"x":{}},"not":{"$ref":"HOME/$defs/x"}}`},
		"anchor":             {`{"anyOf":[{"$ref":"#far"}],"$defs":{"a/b c":{"$anchor":"far"}}}`, `{"$defs":{"a/b c":{}},"anyOf":[{"$ref":"HOME/$defs/a~1b%20c"}]}`},
		"dynamic":            {`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"}}`, `{"items":{"$ref":"HOME"}}`},
		"a field named $ref": {`{"properties":{"$ref":{"type":"string"},"enum":{"$ref":"#/$defs/x"}},"$defs":{"x":{}}}`, `{"$defs":{"x":{}},"properties":{"$ref":{"type":"string"},"enum":{"$ref":"HOME/$defs/x"}}}`},
		"values":             {`{"const":{"$ref":"#/a"},"enum":[{"$ref":"#"}],"default":{"$anchor":"z"}}`, `{"const":{"$ref":"#/a"},"default":{"$anchor":"z"},"enum":[{"$ref":"#"}]}`},
		"numbers":            {`{"maximum":1e300,"minimum":9007199254740993}`, `{"maximum":1e300,"minimum":9007199254740993}`},
		"boolean":            {`true`, `true`},
	} {
		v, err := embedSchema([]byte(c.in), "HOME")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, _ := json.Marshal(v); string(got) != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

func FuzzEmbedSchema(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$anchor":"n","items":{"$ref":"#n"}}}}`)
	f.Add("")
	f.Add(`{"allOf":[{"$dynamicRef":"#"}],"$id":"a","enum":[1]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := schema.Compile([]byte(text)); err != nil {
			return // not one that a pack can have
		}
		v, err := embedSchema(schemaOf([]byte(text)), schemaPath+"p.input")
		if err != nil {
			t.Fatalf("a schema that compiles does not embed: %v", err)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDescriptionFollowsThePacks(t *testing.T) {
	s := start(t)
	before := s.want(200, "", "GET", "/api/v1/openapi.json", "", "").body
	if again := s.want(200, "", "GET", "/api/v1/openapi.json", "", "").body; string(again) != string(before) {
		t.Error("the same packs, another description")
	}
	p, _ := s.host.Packs.Lookup("test.echo")
	next := *p
	next.Name = "test.other"
	if err := s.host.Packs.Add(&next); err != nil {
		t.Fatal(err)
	}
	after := string(s.want(200, "", "GET", "/api/v1/openapi.json", "", "").body)
	if !strings.Contains(after, "/api/v1/packs/test.other") {
		t.Error("a new pack is not described")
	}
}
