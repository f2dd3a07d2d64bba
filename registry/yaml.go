package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// maxYAMLDepth is how deep a manifest may be nested: a schema may take 64 levels of it.
const maxYAMLDepth = 80

// toJSON turns YAML into a JSON object with the keys in the file's order. It takes the part of YAML that JSON has too: no
// anchors and aliases (a few lines of them stand for gigabytes), no tags, string keys, each of them once.
func toJSON(text []byte) (json.RawMessage, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("the manifest is empty")
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, errors.New("the manifest must be one YAML document: there is more after the first")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the manifest must be a mapping such as \"name: text.upper\"")
	}
	return appendNode(nil, doc.Content[0], 1)
}

func appendNode(to []byte, n *yaml.Node, depth int) ([]byte, error) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, at(n, "anchors and aliases (&name, *name) are not accepted: write the value out")
	case depth > maxYAMLDepth:
		return nil, at(n, "nested more than %d levels deep", maxYAMLDepth)
	case n.Kind == yaml.MappingNode && n.ShortTag() == "!!map":
		return appendMap(to, n, depth)
	case n.Kind == yaml.SequenceNode && n.ShortTag() == "!!seq":
		to = append(to, '[')
		for i, item := range n.Content {
			if i > 0 {
				to = append(to, ',')
			}
			var err error
			if to, err = appendNode(to, item, depth+1); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	case n.Kind == yaml.ScalarNode:
		return appendScalar(to, n)
	}
	return nil, at(n, "the tag %s is not accepted", shown(n.Tag))
}

func appendMap(to []byte, n *yaml.Node, depth int) ([]byte, error) {
	to = append(to, '{')
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() != "!!str" {
			return nil, at(key, "a key must be a string: put %s into quotes", shown(key.Value))
		}
		if seen[key.Value] {
			return nil, at(key, "the key %s stands twice", shown(key.Value))
		}
		seen[key.Value] = true
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = jsontext.AppendQuote(to, key.Value); err != nil {
			return nil, at(key, "%v", err)
		}
		to = append(to, ':')
		if depth == 1 && key.Value == "version" && value.Kind == yaml.ScalarNode && value.Anchor == "" {
			value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value.Value, Line: value.Line} // 2026.10 is no number
		}
		if to, err = appendNode(to, value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func appendScalar(to []byte, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return append(to, "null"...), nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, at(n, "%v", err)
		}
		return strconv.AppendBool(to, b), nil
	case "!!int", "!!float":
		return appendNumber(to, n)
	case "!!str", "!!timestamp": // JSON has no dates: they stay what was written
		to, err := jsontext.AppendQuote(to, n.Value)
		if err != nil {
			return nil, at(n, "%v", err)
		}
		return to, nil
	}
	return nil, at(n, "the tag %s is not accepted", shown(n.Tag))
}

// appendNumber keeps a number's digits if they are JSON already, so that whole ones stay whole and large ones exact.
func appendNumber(to []byte, n *yaml.Node) ([]byte, error) {
	if v := jsontext.Value(n.Value); v.Kind() == '0' && v.IsValid() {
		return append(to, n.Value...), nil
	}
	var i int64
	if n.Decode(&i) == nil && n.ShortTag() == "!!int" {
		return strconv.AppendInt(to, i, 10), nil
	}
	var f float64
	if err := n.Decode(&f); err != nil {
		return nil, at(n, "%v", err)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, at(n, "%s is not a number that JSON has", shown(n.Value))
	}
	return strconv.AppendFloat(to, f, 'g', -1, 64), nil
}

func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// shown quotes a text of the manifest, cut: errors go to logs and to the installer.
func shown(s string) string {
	if r := []rune(s); len(r) > 64 {
		s = string(r[:63]) + "…"
	}
	return strconv.Quote(s)
}
