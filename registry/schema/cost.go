package schema

import (
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits of work, in looks: one subschema looking at one value. A look takes about a microsecond.
const (
	maxLooks       = 1000      // at one value: a schema that can look more often is refused
	maxWork        = 2_000_000 // at all values of one document
	maxPatternWork = 1 << 28   // bytes of strings times instructions of the expressions that each is checked against
	sumLooks       = 4         // what uniqueItems, enum and const count for
)

// cost is the most that a schema can do to one value, wherever in the document the value stands.
type cost struct {
	looks    int
	patterns int // instructions
}

// costOf works out the cost, and refuses a schema over maxLooks: one in which each reference is followed twice ten times
// over looks at the same value a thousand times.
func costOf(sch *jsonschema.Schema, nodes []*node) (cost, error) {
	looks := most(sch, nodes, func(s *jsonschema.Schema) (own, members int) {
		return 1 + sumLooks*len(s.Extensions), 0
	})
	if looks > maxLooks {
		return cost{}, fmt.Errorf("the schema can look at one value more than %d times: use fewer alternatives and references", maxLooks)
	}
	return cost{looks: looks, patterns: most(sch, nodes, func(s *jsonschema.Schema) (own, members int) {
		if s.Pattern != nil {
			own = sizeOf(s.Pattern)
		}
		for re := range s.PatternProperties {
			members += sizeOf(re)
		}
		return own, members
	})}, nil
}

// most returns the largest sum of weights that one value can meet at any depth of a document. A subschema's weight has two
// parts: for the value it is applied to, and for each member of that value. It goes down level by level: what a subschema
// costs a value d levels below it follows from what its parts cost values d-1 levels below them.
func most(sch *jsonschema.Schema, nodes []*node, weight func(*jsonschema.Schema) (own, members int)) int {
	above, worst := map[*jsonschema.Schema]int{}, 0
	for depth := range MaxDepth + 1 {
		level := make(map[*jsonschema.Schema]int, len(nodes))
		changed := false
		for _, n := range nodes {
			own, members := weight(n.sch)
			sum := own
			if depth > 0 {
				sum = max(largest(above, n.keys)+total(above, n.each), largest(above, n.list)+total(above, n.all))
			}
			if depth == 1 {
				sum += members
			}
			sum = min(sum+total(level, n.same), 2*maxPatternWork)
			level[n.sch] = sum
			changed = changed || sum != above[n.sch]
		}
		worst = max(worst, level[sch])
		if !changed {
			break
		}
		above = level
	}
	return worst
}

func largest(of map[*jsonschema.Schema]int, some []*jsonschema.Schema) int {
	n := 0
	for _, s := range some {
		n = max(n, of[s])
	}
	return n
}

func total(of map[*jsonschema.Schema]int, some []*jsonschema.Schema) int {
	n := 0
	for _, s := range some {
		n += of[s]
	}
	return n
}

// size is how much there is to check in a document.
type size struct {
	values int
	bytes  int // of keys, and of strings that are short enough to be checked against a pattern
}

// measure adds up v. It holds v to the limits of Decode, as the library can't do arithmetic on every number.
func (z *size) measure(v any, depth int) error {
	z.values++
	if depth > MaxDepth {
		return fmt.Errorf("nested more than %d levels deep", MaxDepth)
	}
	switch v := v.(type) {
	case string:
		if len(v) <= MaxPatternString {
			z.bytes += len(v)
		}
	case json.Number:
		if len(v) > MaxNumber || !exponentFits(string(v)) {
			return fmt.Errorf("the number %s is too large", cut(string(v)))
		}
	case []any:
		for _, item := range v {
			if err := z.measure(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, member := range v {
			z.bytes += len(key)
			if err := z.measure(member, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses a document for which the schema would need too much work.
func (c cost) check(v any) error {
	var z size
	if err := z.measure(v, 0); err != nil {
		return err
	}
	if z.values*c.looks > maxWork {
		return fmt.Errorf("%d values are too many to check: this schema allows at most %d in one document", z.values, maxWork/c.looks)
	}
	if c.patterns > 0 && z.bytes > maxPatternWork/c.patterns {
		return fmt.Errorf("%d bytes of short strings are too many to check against patterns: at most %d in one document", z.bytes, maxPatternWork/c.patterns)
	}
	return nil
}
