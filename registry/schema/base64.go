package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxFields is how many different places in a document the base64 fields of a schema may make us tell apart.
const maxFields = 1024

// field is a place in a document, with the places below it from which a base64 field can be reached.
type field struct {
	base64 bool
	keys   map[string]*field // members named by properties; a nil one leads to no base64 field
	other  *field            // members that aren't named
	item   *field
}

// Base64 says whether any field is declared contentEncoding: base64.
func (s *Schema) Base64() bool { return s.base64 != nil }

// Base64At says whether the value at path is declared contentEncoding: base64. A path is object keys from the top, "*" for
// the items of an array. The declaration may stand behind local $ref, properties, additionalProperties, items, prefixItems,
// allOf, anyOf, oneOf, then and else; not behind patternProperties.
func (s *Schema) Base64At(path []string) bool {
	f := s.base64
	for _, key := range path {
		if f == nil {
			return false
		}
		f = f.step(key)
	}
	return f != nil && f.base64
}

func (f *field) step(key string) *field {
	if key == "*" && f.item != nil {
		return f.item
	}
	if next, ok := f.keys[key]; ok {
		return next
	}
	return f.other
}

// fieldsOf finds the places. Several subschemas can apply at one place, so a place is the set of them.
func fieldsOf(sch *jsonschema.Schema, nodes []*node, encoded map[*jsonschema.Schema]bool) (*field, error) {
	if len(encoded) == 0 {
		return nil, nil
	}
	b := &fielder{encoded: encoded, number: map[*jsonschema.Schema]int{}, leads: leading(nodes, encoded), places: map[string]*field{}}
	for i, n := range nodes {
		b.number[n.sch] = i
	}
	f := b.place([]*jsonschema.Schema{sch})
	if len(b.places) > maxFields {
		return nil, errors.New("the schema has base64 fields behind too many alternatives: declare them once, by $ref")
	}
	return f, nil
}

// leading returns the subschemas from which one that says base64 can be reached.
func leading(nodes []*node, encoded map[*jsonschema.Schema]bool) map[*jsonschema.Schema]bool {
	leads := map[*jsonschema.Schema]bool{}
	for changed := true; changed; {
		changed = false
		for _, n := range nodes {
			if leads[n.sch] {
				continue
			}
			is := func(s *jsonschema.Schema) bool { return leads[s] }
			if encoded[n.sch] || slices.ContainsFunc(n.same, is) || slices.ContainsFunc(n.keys, is) || slices.ContainsFunc(n.list, is) {
				leads[n.sch], changed = true, true
			}
		}
	}
	return leads
}

type fielder struct {
	encoded, leads map[*jsonschema.Schema]bool
	number         map[*jsonschema.Schema]int
	places         map[string]*field // by the numbers of their subschemas
}

// place returns the place where all of some apply; nil if no base64 field can be reached from it.
func (b *fielder) place(some []*jsonschema.Schema) *field {
	var set []*jsonschema.Schema
	for _, s := range some {
		set = b.add(set, s)
	}
	if len(set) == 0 || len(b.places) > maxFields {
		return nil
	}
	slices.SortFunc(set, func(x, y *jsonschema.Schema) int { return b.number[x] - b.number[y] })
	var id strings.Builder
	for _, s := range set {
		fmt.Fprintf(&id, "%d ", b.number[s])
	}
	if f, ok := b.places[id.String()]; ok {
		return f
	}
	f := &field{keys: map[string]*field{}}
	b.places[id.String()] = f
	b.fill(f, set)
	return f
}

// add adds s, and what it applies to the same value and asserts, if base64 can be reached.
func (b *fielder) add(set []*jsonschema.Schema, s *jsonschema.Schema) []*jsonschema.Schema {
	if s == nil || !b.leads[s] || slices.Contains(set, s) {
		return set
	}
	set = append(set, s)
	set = b.add(b.add(b.add(set, s.Ref), s.Then), s.Else)
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, c := range list {
			set = b.add(set, c)
		}
	}
	return set
}

// fill finds the places one step below.
func (b *fielder) fill(f *field, set []*jsonschema.Schema) {
	var other, item []*jsonschema.Schema
	names := map[string]bool{}
	for _, s := range set {
		f.base64 = f.base64 || b.encoded[s]
		for name := range s.Properties {
			names[name] = true
		}
		putAny(&other, s.AdditionalProperties)
		put(&item, s.PrefixItems...)
		put(&item, s.Items2020)
		putAny(&item, s.Items)
	}
	f.other, f.item = b.place(other), b.place(item)
	for name := range names {
		var below []*jsonschema.Schema
		for _, s := range set {
			if c, ok := s.Properties[name]; ok {
				below = append(below, c)
			} else {
				putAny(&below, s.AdditionalProperties)
			}
		}
		f.keys[name] = b.place(below)
	}
}
