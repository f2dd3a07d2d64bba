package hosttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	longString = 1 << 20

	// growthLimit is how much more memory the process may hold after the storm than before. The largest single request is a
	// 48 MiB body, whose buffers are garbage afterwards; the collector may keep one of them for a while.
	growthLimit = 64 << 20
	settleLimit = 60 * time.Second // for the collector to return them
)

// pack is what the storm needs to know of one.
type pack struct {
	Name        string
	InputSchema struct {
		Properties           map[string]map[string]any
		Required             []string
		AdditionalProperties any `json:"additionalProperties"`
	} `json:"input_schema"`
	Examples []struct {
		Input         map[string]any
		ExpectedError string `json:"expected_error"`
	}
}

func packs(t *testing.T, s *Server) []pack {
	t.Helper()
	var list struct{ Packs []struct{ Name string } }
	if err := json.Unmarshal(s.MustDo("GET", "/api/v1/packs", s.AdminToken(), "").Body, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Packs) == 0 {
		t.Fatal("GET /api/v1/packs lists nothing")
	}
	all := make([]pack, len(list.Packs))
	for i, p := range list.Packs {
		if err := json.Unmarshal(s.MustDo("GET", "/api/v1/packs/"+p.Name, s.AdminToken(), "").Body, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// good is an input that the pack takes: its first example that isn't a refusal.
func (p pack) good() map[string]any {
	for _, e := range p.Examples {
		if e.ExpectedError == "" {
			return e.Input
		}
	}
	return map[string]any{}
}

func stormPacks(t *testing.T, s *Server) {
	token := s.Mint("stormer", "packs:call")
	for _, p := range packs(t, s) {
		t.Run(p.Name, func(t *testing.T) {
			call := func(name, body string, codes ...string) {
				if strings.HasPrefix(p.Name, "forge.") && slices.Contains(codes, "") {
					codes = append(slices.Clone(codes), "handler_failed") // what their part of the contract says of a missing field
				}
				a := s.MustDo("POST", "/api/v1/packs/"+p.Name, token, body)
				if err := wellMadeWith("POST", a, codes...); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if len(p.InputSchema.Required) > 0 {
				call("{}", `{}`, "invalid_input")
			} else {
				call("{}", `{}`, "", "invalid_input")
			}
			for field, schema := range p.InputSchema.Properties {
				for name, c := range badValues(schema) {
					call(field+" "+name, with(p.good(), field, c.value), c.codes...)
				}
			}
			if p.InputSchema.AdditionalProperties == false {
				call("extra field", with(p.good(), "no_such_field", 1), "invalid_input")
			} else {
				call("extra field", with(p.good(), "no_such_field", 1), anyRefusal...)
			}
			call("long field name", with(p.good(), strings.Repeat("f", longString), 1), anyRefusal...)
			call("session", with(p.good(), "_session_id", "none"), anyRefusal...)
			call("webhook", with(p.good(), "webhook_url", "http://127.0.0.1:1/"), anyRefusal...)
		})
	}
}

type badValue struct {
	value any
	codes []string
}

// anyRefusal are the answers to odd input that the schema may allow: success, or an error that blames the input. Of internal,
// wellMade lets only the one pass that the contract asks for.
var anyRefusal = []string{"", "invalid_input", "session_unavailable", "internal"}

// badValues are values of all the wrong types, which the schema must refuse, and odd ones of the right type.
func badValues(schema map[string]any) map[string]badValue {
	out := map[string]badValue{}
	samples := map[string]any{"string": "text", "number": 1.5, "boolean": true, "null": nil, "array": []any{"x"}, "object": map[string]any{"a": "b"}}
	types := typesOf(schema)
	for kind, v := range samples {
		codes := []string{"invalid_input"}
		if len(types) == 0 || slices.Contains(types, kind) {
			codes = anyRefusal
		}
		out["as "+kind] = badValue{v, codes}
	}
	odd := map[string]any{
		"empty": "", "NUL": "a\x00b", "long": strings.Repeat("x", longString), "path": "../../../../etc/passwd", "control": "a\r\nb\x1b[2J", "wide": strings.Repeat("𝕊", 10_000),
		"huge number": json.Number("1e308"), "negative": -1, "beyond int64": json.Number("9223372036854775808"), "beyond float": json.Number("1e999"), "tiny": json.Number("1e-999"),
		"many": slices.Repeat([]any{"x"}, 100_000), "nested": deepValue(500),
	}
	for name, v := range odd {
		out[name] = badValue{v, append([]string{"invalid_json"}, anyRefusal...)}
	}
	return out
}

// typesOf is the schema's type keyword as a list; an integer is a number here.
func typesOf(schema map[string]any) []string {
	var types []string
	switch v := schema["type"].(type) {
	case string:
		types = []string{v}
	case []any:
		for _, k := range v {
			types = append(types, fmt.Sprint(k))
		}
	}
	return types
}

func deepValue(levels int) any {
	var v any = "x"
	for range levels {
		v = []any{v}
	}
	return v
}

// warmed calls every pack once and returns the memory that the process then holds.
func warmed(t *testing.T, s *Server) int64 {
	t.Helper()
	for _, p := range packs(t, s) {
		s.MustDo("POST", "/api/v1/packs/"+p.Name, s.AdminToken(), compact(p.good()))
	}
	return s.RSS()
}

// settled waits until the process has given back what the storm took; calls between two looks let its collector run.
func settled(t *testing.T, s *Server, before int64) {
	t.Helper()
	now := s.RSS()
	for end := time.Now().Add(settleLimit); now > before+growthLimit && !raceEnabled && time.Now().Before(end); now = s.RSS() {
		for range 50 {
			s.MustDo("POST", "/api/v1/packs/memory.store", s.AdminToken(), `{"category":"storm","key":"k","value":1}`)
		}
	}
	t.Logf("memory: %d MiB before the storm, %d MiB after", before>>20, now>>20)
	if now > before+growthLimit && !raceEnabled { // the race detector's own memory tells nothing
		t.Errorf("the process holds %d MiB more than before the storm, at most %d are allowed", (now-before)>>20, growthLimit>>20)
	}
}
