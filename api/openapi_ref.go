package api

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/gantry-packs/gantry/registry/schema"
)

// embedSchema returns a pack's schema as it must read inside of the description, at the place home: references into itself
// ("#", "#/$defs/x", "#anchor") are made to start at home. Nothing else is changed, but the root's $id and $schema go,
// which would give the references another meaning again.
func embedSchema(raw json.RawMessage, home string) (any, error) {
	v, err := schema.Decode(raw)
	if err != nil {
		return nil, err
	}
	root, ok := v.(object)
	if !ok {
		return v, nil // true or false
	}
	e := embedding{home: home, anchors: map[string]string{}}
	e.id, _ = root["$id"].(string)
	delete(root, "$id")
	delete(root, "$schema")
	walkSchema(root, "", e.note)
	walkSchema(root, "", e.rewrite)
	return root, nil
}

// embedding is one schema's move.
type embedding struct {
	home, id string
	anchors  map[string]string // anchor: pointer
}

// note remembers where an anchor is, and drops it: two packs may have the same.
func (e *embedding) note(s object, pointer string) {
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := s[key].(string); ok {
			e.anchors[name] = pointer
			delete(s, key)
		}
	}
}

func (e *embedding) rewrite(s object, _ string) {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		ref, ok := s[key].(string)
		if !ok {
			continue
		}
		base, fragment, _ := strings.Cut(ref, "#")
		if base != "" && base != e.id {
			continue
		}
		if pointer, ok := e.anchors[fragment]; ok {
			fragment = pointer
		}
		delete(s, key)
		s["$ref"] = e.home + fragment
	}
}

// walkSchema calls visit for s and every schema in it, each with its JSON pointer. It tells schemas from values: a property
// may be called "enum" or "$ref", and what stands under const is no schema.
func walkSchema(s object, pointer string, visit func(s object, pointer string)) {
	visit(s, pointer)
	for key, v := range s {
		at := pointer + "/" + escapePointer(key)
		switch key {
		case "const", "enum", "default", "examples":
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if named, ok := v.(object); ok {
				for name, sub := range named {
					walkValue(sub, at+"/"+escapePointer(name), visit)
				}
			}
		default:
			walkValue(v, at, visit)
		}
	}
}

// walkValue walks a keyword's value: a schema, a list of schemas, or neither.
func walkValue(v any, pointer string, visit func(object, string)) {
	switch v := v.(type) {
	case object:
		walkSchema(v, pointer, visit)
	case []any:
		for i, sub := range v {
			walkValue(sub, pointer+"/"+strconv.Itoa(i), visit)
		}
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapePointer writes a key as a token of a JSON pointer in a URI's fragment.
func escapePointer(key string) string { return url.PathEscape(pointerEscapes.Replace(key)) }
