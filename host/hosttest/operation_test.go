package hosttest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// operation is one method of one path, as openapi.json tells.
type operation struct {
	method, path string
	json         bool // takes a JSON body
	public       bool // needs no token
}

func (o operation) String() string { return o.method + " " + o.path }

// url fills the path's parameters with things that don't exist, except for the pack.
func (o operation) url() string {
	if !strings.Contains(o.path, "{") {
		return o.path
	}
	before, rest, _ := strings.Cut(o.path, "{")
	_, after, _ := strings.Cut(rest, "}")
	value := "none"
	if strings.HasPrefix(o.path, "/api/v1/packs/") {
		value = "memory.store"
	}
	return before + value + after
}

// operations reads them from the running program, so that a new route is stormed without anybody remembering to.
func operations(t *testing.T, s *Server) []operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	a := s.MustDo("GET", "/api/v1/openapi.json", "", "")
	if err := json.Unmarshal(a.Body, &doc); err != nil {
		t.Fatalf("openapi.json: %v", err)
	}
	var ops []operation
	for path, methods := range doc.Paths {
		for name, raw := range methods {
			var op struct {
				RequestBody struct{ Content map[string]any }
				Security    *[]any
			}
			if name == "parameters" {
				continue
			}
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatalf("openapi.json, %s %s: %v", name, path, err)
			}
			_, takesJSON := op.RequestBody.Content["application/json"]
			ops = append(ops, operation{method: strings.ToUpper(name), path: path, json: takesJSON, public: op.Security != nil && len(*op.Security) == 0})
		}
	}
	slices.SortFunc(ops, func(a, b operation) int { return strings.Compare(a.String(), b.String()) })
	if len(ops) < 15 {
		t.Fatalf("openapi.json lists only %d operations", len(ops))
	}
	return ops
}
