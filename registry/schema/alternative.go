package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxClosest is how many findings about the closest alternative are listed.
const maxClosest = 3

// alternatives words a failed anyOf or oneOf: which fields are needed, if the alternatives differ in that alone; which types,
// if it is that; else what is wrong with the alternative that the caller most likely meant.
func (w *words) alternatives(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	if needs, ok := onlyMissing(e.Causes, len(at)); ok {
		w.add(at, "needs %s", strings.Join(needs, ", or "))
		return
	}
	if want, got, ok := onlyTypes(e.Causes, len(at)); ok {
		w.add(at, "expected %s, got %s", strings.Join(want, " or "), got)
		return
	}
	meant := slices.DeleteFunc(slices.Clone(e.Causes), func(c *jsonschema.ValidationError) bool { return anotherKind(c, len(at)) })
	if len(meant) == 1 || len(e.Causes) == 1 {
		w.walk(append(meant, e.Causes...)[0])
		return
	}
	if len(meant) == 0 {
		meant = e.Causes
	}
	closest := w.closest(meant)
	w.add(at, "fits none of the %d allowed forms (closest: %s)", len(e.Causes), strings.Join(closest, ", "))
}

// closest returns the findings of the alternative with the fewest, three at most.
func (w *words) closest(causes []*jsonschema.ValidationError) []string {
	var best []string
	fewest := 0
	for i, c := range causes {
		one := &words{value: w.value}
		one.walk(c)
		if lines, n := one.list(maxClosest); i == 0 || n < fewest {
			best, fewest = lines, n
		}
	}
	return best
}

// inner skips the errors that only wrap another one.
func inner(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		switch e.ErrorKind.(type) {
		case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
			e = e.Causes[0]
		default:
			return e
		}
	}
	return e
}

// onlyMissing says whether every alternative fails for missing fields of this very object alone, and lists them.
func onlyMissing(causes []*jsonschema.ValidationError, depth int) (needs []string, ok bool) {
	for _, c := range causes {
		c = inner(c)
		k, is := c.ErrorKind.(*kind.Required)
		if !is || len(c.InstanceLocation) != depth {
			return nil, false
		}
		var names []string
		for _, name := range k.Missing {
			names = append(names, keyText(name))
		}
		needs = append(needs, strings.Join(names, " and "))
	}
	return needs, len(needs) > 0
}

// onlyTypes says whether every alternative wants another type of this very value, and lists the types.
func onlyTypes(causes []*jsonschema.ValidationError, depth int) (want []string, got string, ok bool) {
	for _, c := range causes {
		c = inner(c)
		k, is := c.ErrorKind.(*kind.Type)
		if !is || len(c.InstanceLocation) != depth {
			return nil, "", false
		}
		got = k.Got
		for _, t := range k.Want {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	return want, got, len(want) > 0
}

// anotherKind says whether an alternative is clearly not the one that was meant: this value has another type, or a member
// that tells the alternatives apart has another constant.
func anotherKind(e *jsonschema.ValidationError, depth int) bool {
	switch e.ErrorKind.(type) {
	case *kind.Type:
		return len(e.InstanceLocation) == depth
	case *kind.Const:
		return len(e.InstanceLocation) <= depth+1
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return anotherKind(c, depth) })
	}
	return false
}
