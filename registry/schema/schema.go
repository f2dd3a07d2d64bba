// Package schema reads JSON strictly ([Decode]) and checks it against a pack's input_schema and output_schema ([Compile],
// [Schema.Validate]): JSON Schema, draft 2020-12 unless $schema says an older one.
//
// Schemas come from strangers, and so does the data. A schema may refer only to itself, and what it can cost is known before
// it is used: [Compile] works out how often one value can be looked at, so that neither a loop of references nor one that
// doubles at each step ever gets to run, and [Schema.Validate] refuses data that would make too much of the rest.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits of a schema.
const (
	MaxSchemaBytes = 256 << 10 // as written
	MaxSchemaDepth = 64        // nested objects and arrays
	MaxSubschemas  = 2000      // objects and booleans in the schema, whether they are subschemas or not
	MaxKey         = 256       // characters of a key in a schema
	MaxPattern     = 512       // characters of a regular expression
)

// root is the address that a schema has while it is compiled; nothing can be loaded from it.
const root = "schema:///root"

// anyObject is the schema of a pack that declares none.
const anyObject = `{"type":"object"}`

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	raw    json.RawMessage
	sch    *jsonschema.Schema
	cost   cost
	base64 *field // nil: no field is base64
}

// Compile compiles raw, a JSON object; nil, empty or null is a schema that any object fits. The error says where in the
// schema it is wrong and what is accepted.
func Compile(raw []byte) (*Schema, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte(anyObject)
	}
	doc, err := read(raw)
	if err != nil {
		return nil, err
	}
	sch, err := compile(doc)
	if err != nil {
		return nil, err
	}
	nodes, err := graph(sch)
	if err != nil {
		return nil, err
	}
	s := &Schema{raw: bytes.Clone(raw), sch: sch}
	encoded := takeOver(nodes)
	if s.cost, err = costOf(sch, nodes); err != nil {
		return nil, err
	}
	if s.base64, err = fieldsOf(sch, nodes, encoded); err != nil {
		return nil, err
	}
	return s, nil
}

// Raw is the schema as it was written.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// read decodes a schema and holds it to the limits.
func read(raw []byte) (any, error) {
	if len(raw) > MaxSchemaBytes {
		return nil, fmt.Errorf("the schema has %d bytes: at most %d", len(raw), MaxSchemaBytes)
	}
	doc, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, errors.New("the schema must be a JSON object")
	}
	n := 0
	if err := limit(doc, 1, &n); err != nil {
		return nil, err
	}
	return doc, nil
}

// limit refuses a document that is too deep or too large; n counts what may be a subschema. Keys are limited because the
// library knows a subschema by its whole path.
func limit(v any, depth int, n *int) error {
	if depth > MaxSchemaDepth {
		return fmt.Errorf("the schema is nested more than %d levels deep", MaxSchemaDepth)
	}
	switch v := v.(type) {
	case bool:
		*n++
	case map[string]any:
		*n++
		for key, child := range v {
			if len(key) > MaxKey {
				return fmt.Errorf("the key %s has %d bytes: at most %d", quote(key), len(key), MaxKey)
			}
			if err := limit(child, depth+1, n); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range v {
			if err := limit(child, depth+1, n); err != nil {
				return err
			}
		}
	}
	if *n > MaxSubschemas {
		return fmt.Errorf("the schema has more than %d objects and booleans", MaxSubschemas)
	}
	return nil
}

// compile hands the document to the library, with every way out of it closed.
func compile(doc any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(closed{})
	c.UseRegexpEngine((&patterns{}).compile)
	c.AssertContent() // only so that the compiled schema says where contentEncoding stands; see takeOver
	if err := c.AddResource(root, doc); err != nil {
		return nil, err
	}
	sch, err := c.Compile(root)
	if err != nil {
		return nil, explainCompile(doc, err)
	}
	return sch, nil
}

// closed is the loader that loads nothing.
type closed struct{}

func (closed) Load(url string) (any, error) { return nil, outside(url) }

func outside(url string) error {
	return fmt.Errorf("$ref to %s: only references inside the schema (#/…) are allowed", cut(strings.TrimPrefix(url, "schema:///")))
}

// explainCompile words the library's error.
func explainCompile(doc any, err error) error {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return outside(load.URL)
	}
	var meta *jsonschema.SchemaValidationError
	var invalid *jsonschema.ValidationError
	if errors.As(err, &meta) && errors.As(meta.Err, &invalid) {
		return fmt.Errorf("the schema is not valid JSON Schema: %s", describe(doc, invalid))
	}
	return fmt.Errorf("the schema is not valid JSON Schema: %s", cutTo(strings.ReplaceAll(err.Error(), root, ""), maxReasonChars))
}
