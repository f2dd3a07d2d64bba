package hosttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The nesting of bodies that no parser should follow. The deepest ones are longer than a small route reads at all.
const (
	deep    = 5_000
	deepest = 20_000
)

// goodBodies are small bodies that each JSON route takes. A route that openapi.json lists with a JSON body must stand here.
var goodBodies = map[string]string{
	"POST /api/v1/auth/login":   `{"username":"nobody","password":"x"}`,
	"POST /api/v1/auth/tokens":  `{"name":"storm","scopes":["packs:read"],"ttl":"1h"}`,
	"POST /api/v1/packs/{name}": `{}`,

	"POST /api/v1/vault/credentials":                 `{"name":"storm","type":"api_key","host_pattern":"example.com","plaintext":"storm-secret"}`,
	"PUT /api/v1/vault/credentials/{credential}":     `{"plaintext":"storm-secret"}`,
	"PUT /api/v1/vault/credentials/{credential}/acl": `{"acl":[{"subject":"ann","client":"*"}]}`,
}

func nested(levels int, open, closing string) string {
	return strings.Repeat(open, levels) + strings.Repeat(closing, levels)
}

// badBodies are wrong for every route that takes JSON.
var badBodies = []struct {
	name, body string
	codes      []string
}{
	{"malformed", `{"name":`, []string{"invalid_json"}},
	{"not JSON", `name=x`, []string{"invalid_json"}},
	{"duplicate key", `{"name":"a","name":"b"}`, []string{"invalid_json"}},
	{"duplicate key, escaped", `{"name":"a","\u006eame":"b"}`, []string{"invalid_json"}},
	{"trailing object", `{} {}`, []string{"invalid_json"}},
	{"trailing bytes", `{}x`, []string{"invalid_json"}},
	{"deep array", nested(deep, "[", "]"), []string{"invalid_json"}},
	{"deep object", nested(deep, `{"a":`, "}"), []string{"invalid_json"}},
	{"deep in a field", `{"name":` + nested(deep, "[", "]") + `}`, []string{"invalid_json"}},
	{"deep and never closed", nested(deep, `[{"a":`, ""), []string{"invalid_json"}},
	{"deepest array", nested(deepest, "[", "]"), []string{"invalid_json"}},
	{"deepest object", nested(deepest, `{"a":`, "}"), []string{"invalid_json", "body_too_large"}},
	{"deepest and never closed", nested(deepest, `[{"a":`, ""), []string{"invalid_json", "body_too_large"}},
	{"invalid UTF-8", "{\"name\":\"\xff\xfe\"}", []string{"invalid_json"}},
	{"lone surrogate", `{"name":"\ud800"}`, []string{"invalid_json", "invalid_input"}},
	{"NUL byte", "{\"name\":\"\x00\"}", []string{"invalid_json"}},
	{"NUL after the object", "{}\x00", []string{"invalid_json"}},
	{"byte order mark in UTF-16", "\xff\xfe{\x00}\x00", []string{"invalid_json"}},
	{"array", `[]`, []string{"invalid_input"}},
	{"string", `"x"`, []string{"invalid_input"}},
	{"number", `1e400`, []string{"invalid_input", "invalid_json"}},
	{"null", `null`, []string{"invalid_input"}},
}

func TestBadInput(t *testing.T) {
	s := Start(t, Options{})
	admin := s.AdminToken()
	s.Restart() // the first start compiled the packs, which leaves more memory behind than any storm
	ops := operations(t, s)
	before := warmed(t, s)

	t.Run("bodies", func(t *testing.T) { stormBodies(t, s, ops) })
	t.Run("methods", func(t *testing.T) { stormMethods(t, s, ops) })
	t.Run("tokens", func(t *testing.T) { stormTokens(t, s, ops) })
	t.Run("queries", func(t *testing.T) { stormQueries(t, s, ops) })
	t.Run("sizes", func(t *testing.T) { stormSizes(t, s, ops) })
	t.Run("packs", func(t *testing.T) { stormPacks(t, s) })

	if a := s.MustDo("GET", "/readyz", "", ""); a.Status != http.StatusOK {
		t.Errorf("after the storm: %s", a)
	}
	if a := s.MustDo("POST", "/api/v1/packs/memory.store", admin, `{"category":"storm","key":"k","value":1}`); a.Status != http.StatusOK {
		t.Errorf("after the storm a good call fails: %s", a)
	}
	settled(t, s, before)
}

func stormBodies(t *testing.T, s *Server, ops []operation) {
	admin := s.AdminToken()
	for _, op := range ops {
		if !op.json {
			continue
		}
		good, known := goodBodies[op.String()]
		if !known && !strings.HasPrefix(op.path, "/api/v1/packs/") {
			t.Errorf("%s takes JSON: add a body that it takes to goodBodies", op)
			continue
		}
		check := func(name, body string, codes []string, headers ...string) {
			a := s.MustDo(op.method, op.url(), admin, body, headers...)
			if err := wellMadeWith(op.method, a, codes...); err != nil {
				t.Errorf("%s, %s: %v", op, name, err)
			}
		}
		for _, bad := range badBodies {
			check(bad.name, bad.body, bad.codes)
		}
		empty := []string{"invalid_input", "invalid_json"}
		if strings.HasPrefix(op.path, "/api/v1/packs/") {
			empty = []string{"invalid_input", ""} // no body means {}, which some packs take
			if strings.HasPrefix(op.path, "/api/v1/packs/forge.") {
				empty = append(empty, "handler_failed") // what their part of the contract says of a missing field
			}
		}
		check("empty", "", empty)
		check("text/plain", good, []string{"unsupported_media_type"}, "Content-Type: text/plain")
		check("a form", good, []string{"unsupported_media_type"}, "Content-Type: application/x-www-form-urlencoded")
		check("no media type at all", good, []string{"unsupported_media_type"}, "Content-Type: ;;;")
		check("gzip", good, []string{"unsupported_media_type", "invalid_json"}, "Content-Encoding: gzip")
		if !known {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(good), &fields); err != nil {
			t.Fatal(err)
		}
		for field := range fields {
			for _, wrong := range wrongTypes(fields[field]) {
				check(field+" "+compact(wrong), with(fields, field, wrong), []string{"invalid_input"})
			}
			check(field+" long", with(fields, field, strings.Repeat("x", 200_000)), []string{"invalid_input", "unauthorized", "body_too_large", "rate_limited", "credential_not_found"})
		}
		check("unknown field", with(fields, "no_such_field", 1), []string{"invalid_input", "unauthorized", "rate_limited", "credential_not_found", ""})
	}
}

// wrongTypes are values of every JSON type but the good value's.
func wrongTypes(good any) []any {
	all := []any{"text", 7.5, true, nil, []any{1}, map[string]any{"a": 1}}
	return slices.DeleteFunc(all, func(v any) bool { return fmt.Sprintf("%T", v) == fmt.Sprintf("%T", good) })
}

// with is the JSON of fields with one of them replaced.
func with(fields map[string]any, name string, value any) string {
	c := map[string]any{}
	for k, v := range fields {
		c[k] = v
	}
	c[name] = value
	return compact(c)
}
