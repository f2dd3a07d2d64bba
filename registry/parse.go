package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/gantry-packs/gantry/registry/schema"
)

// ParseManifest reads a gantry-pack.yaml and checks every field that it knows. The error names the field, what is wrong with
// it and what is accepted.
func ParseManifest(yaml []byte) (*Manifest, error) {
	if len(yaml) > MaxManifestBytes {
		return nil, fmt.Errorf("the manifest has %d bytes: at most %d", len(yaml), MaxManifestBytes)
	}
	doc, err := toJSON(yaml)
	if err != nil {
		return nil, err
	}
	if _, err := schema.Decode(doc); err != nil { // numbers that nobody could work with
		return nil, fmt.Errorf("the manifest, as JSON: %w", err)
	}
	m := &Manifest{}
	if err := json.Unmarshal(doc, m); err != nil {
		return nil, explain(err)
	}
	m.Document = doc
	m.tidy()
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// tidy fills in what a field means when it is left out. YAML's null leaves out as well.
func (m *Manifest) tidy() {
	if string(m.InputSchema) == "null" {
		m.InputSchema = nil
	}
	if string(m.OutputSchema) == "null" {
		m.OutputSchema = nil
	}
	for i := range m.Examples {
		e := &m.Examples[i]
		if len(e.Input) == 0 || string(e.Input) == "null" {
			e.Input = []byte("{}")
		}
		if string(e.ExpectedOutputSubset) == "null" {
			e.ExpectedOutputSubset = nil
		}
	}
	if m.Handler.Type == Wasm && m.Handler.Export == "" {
		m.Handler.Export = m.Name
	}
	if m.Session.Mode == "" {
		m.Session.Mode = SessionNone
	}
}

// explain words the decoder's error: which field, what it should be and what it is.
func explain(err error) error {
	var e *json.SemanticError
	if !errors.As(err, &e) {
		return err
	}
	field := strings.ReplaceAll(strings.TrimPrefix(string(e.JSONPointer), "/"), "/", ".")
	if e.GoType == nil {
		return fmt.Errorf("%s: the value is not accepted", field)
	}
	want := map[string]string{
		"string": "a string", "bool": "true or false", "int": "a whole number", "float64": "a number",
		"slice": "a list", "struct": "a mapping", "ptr": "a mapping",
	}[e.GoType.Kind().String()]
	return fmt.Errorf("%s: expected %s, got %s", field, want, kindName(e))
}

func kindName(e *json.SemanticError) string {
	switch e.JSONKind {
	case '"':
		return "a string"
	case '0':
		if len(e.JSONValue) > 0 {
			return shown(string(e.JSONValue))
		}
		return "a number"
	case 't', 'f':
		return "true or false"
	case '{':
		return "a mapping"
	case '[':
		return "a list"
	}
	return "null"
}
