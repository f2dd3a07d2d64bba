package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxChain is how many subschemas may follow one another for the same value ($ref to a $ref to an allOf …).
const maxChain = 64

// node is one compiled subschema with the others that it leads to.
type node struct {
	sch  *jsonschema.Schema
	same []*jsonschema.Schema // applied to the value itself
	keys []*jsonschema.Schema // at most one of them is applied to each member
	each []*jsonschema.Schema // all of them are applied to each member, or to its key
	list []*jsonschema.Schema // at most one of them is applied to each item
	all  []*jsonschema.Schema // all of them are applied to each item
}

// graph returns every subschema that sch leads to, ordered so that what a subschema applies to its own value stands before
// it. A subschema that leads back to itself without going down into the value would never end, and is refused.
func graph(sch *jsonschema.Schema) ([]*node, error) {
	g := &grapher{state: map[*jsonschema.Schema]int{}}
	todo := []*jsonschema.Schema{sch}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from := len(g.nodes)
		if err := g.visit(next, 1); err != nil {
			return nil, err
		}
		for _, n := range g.nodes[from:] {
			todo = append(append(append(append(todo, n.keys...), n.each...), n.list...), n.all...)
		}
	}
	return g.nodes, nil
}

const (
	visiting = 1
	visited  = 2
)

type grapher struct {
	state map[*jsonschema.Schema]int
	nodes []*node
}

// visit adds sch and what it applies to the same value.
func (g *grapher) visit(sch *jsonschema.Schema, chain int) error {
	switch {
	case g.state[sch] == visited:
		return nil
	case g.state[sch] == visiting:
		return fmt.Errorf("$ref: %s refers to itself without going down into the value, so checking it would never end", place(sch))
	case !strings.HasPrefix(sch.Location, root+"#"):
		return outside(sch.Location)
	case sch.DynamicRef != nil || sch.RecursiveRef != nil:
		return fmt.Errorf("%s: $dynamicRef and $recursiveRef are not accepted: use $ref", place(sch))
	case chain > maxChain:
		return fmt.Errorf("%s: more than %d subschemas follow one another ($ref, allOf …) for one value", place(sch), maxChain)
	}
	g.state[sch] = visiting
	n := newNode(sch)
	for _, s := range n.same {
		if err := g.visit(s, chain+1); err != nil {
			return err
		}
	}
	g.state[sch] = visited
	g.nodes = append(g.nodes, n)
	return nil
}

// place is where a subschema stands, as a JSON pointer.
func place(sch *jsonschema.Schema) string {
	return cut(strings.TrimPrefix(sch.Location, root))
}

func newNode(s *jsonschema.Schema) *node {
	n := &node{sch: s}
	put(&n.same, s.Ref, s.Not, s.If, s.Then, s.Else)
	put(&n.same, s.AllOf...)
	put(&n.same, s.AnyOf...)
	put(&n.same, s.OneOf...)
	for _, c := range s.DependentSchemas {
		put(&n.same, c)
	}
	for _, d := range s.Dependencies {
		putAny(&n.same, d)
	}
	for _, c := range s.Properties {
		put(&n.keys, c)
	}
	putAny(&n.keys, s.AdditionalProperties)
	for _, c := range s.PatternProperties {
		put(&n.each, c)
	}
	put(&n.each, s.PropertyNames, s.UnevaluatedProperties)
	put(&n.list, s.PrefixItems...)
	put(&n.list, s.Items2020)
	putAny(&n.list, s.Items)
	putAny(&n.list, s.AdditionalItems)
	put(&n.all, s.Contains, s.UnevaluatedItems)
	return n
}

// put appends those that are there.
func put(to *[]*jsonschema.Schema, some ...*jsonschema.Schema) {
	for _, s := range some {
		if s != nil {
			*to = append(*to, s)
		}
	}
}

// putAny does it for the fields that older drafts made hold a schema, a list of schemas, or something else.
func putAny(to *[]*jsonschema.Schema, v any) {
	switch v := v.(type) {
	case *jsonschema.Schema:
		put(to, v)
	case []*jsonschema.Schema:
		put(to, v...)
	}
}

// takeOver takes from the library what it would do badly. Content keywords say what a string holds, they don't check it:
// the subschemas that say base64 are returned. uniqueItems,
// enum and const are checked by our own extensions, in linear time.
func takeOver(nodes []*node) (base64 map[*jsonschema.Schema]bool) {
	base64 = map[*jsonschema.Schema]bool{}
	for _, n := range nodes {
		if e := n.sch.ContentEncoding; e != nil && e.Name == "base64" {
			base64[n.sch] = true
		}
		n.sch.ContentEncoding, n.sch.ContentMediaType, n.sch.ContentSchema = nil, nil, nil
		if n.sch.UniqueItems {
			n.sch.UniqueItems = false
			n.sch.Extensions = append(n.sch.Extensions, uniqueItems{})
		}
		if n.sch.Enum != nil {
			n.sch.Extensions = append(n.sch.Extensions, newEnum(n.sch.Enum.Values))
			n.sch.Enum = nil
		}
		if n.sch.Const != nil {
			n.sch.Extensions = append(n.sch.Extensions, newConst(*n.sch.Const))
			n.sch.Const = nil
		}
	}
	return base64
}
