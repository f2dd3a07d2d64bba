package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxEcho is how many characters of a value or key are ever repeated, maxChoices how many of the allowed values are listed.
const (
	maxEcho    = 64
	maxChoices = 20
)

// words collects findings about value.
type words struct {
	value    any
	findings []finding
}

// finding is one thing that is wrong at a place in the value.
type finding struct {
	at   []string
	what string
}

// order sorts by place, items of arrays by their number.
func (f finding) order(g finding) int {
	return cmp.Or(slices.CompareFunc(f.at, g.at, func(a, b string) int {
		i, err := strconv.Atoi(a)
		j, err2 := strconv.Atoi(b)
		if err != nil || err2 != nil {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(i, j)
	}), cmp.Compare(f.what, g.what))
}

func (w *words) add(at []string, format string, args ...any) {
	w.findings = append(w.findings, finding{at, fmt.Sprintf(format, args...)})
}

// list sorts the findings and words the first n; total counts all of them.
func (w *words) list(n int) (lines []string, total int) {
	slices.SortFunc(w.findings, finding.order)
	found := slices.CompactFunc(w.findings, func(f, g finding) bool { return f.order(g) == 0 })
	for _, f := range found[:min(n, len(found))] {
		lines = append(lines, pathOf(w.value, f.at)+": "+f.what)
	}
	return lines, len(found)
}

// walk goes down to the findings that say something.
func (w *words) walk(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		w.alternatives(e)
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			w.add(at, "fits more than one of the alternatives: exactly one is allowed")
			return
		}
		w.alternatives(e)
	case *kind.Required:
		for _, name := range k.Missing {
			w.add(below(at, name), "missing (required)")
		}
	case *kind.DependentRequired:
		w.needed(at, k.Missing, k.Prop)
	case *kind.Dependency:
		w.needed(at, k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			w.add(below(at, name), "unknown field")
		}
	case *kind.PropertyNames:
		w.add(below(at, k.Property), "this name is not allowed for a field")
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			w.walk(cause)
		}
	default:
		w.add(at, "%s", say(e.ErrorKind))
	}
}

func (w *words) needed(at, missing []string, because string) {
	for _, name := range missing {
		w.add(below(at, name), "missing (required when %s is given)", keyText(because))
	}
}

// say words the kinds that speak about one value.
func say(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("expected %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("%s is not one of %s", show(k.Got), choices(k.Want))
	case *kind.Const:
		return "must be " + show(k.Want)
	case *kind.Pattern:
		return "does not match the pattern " + cut(k.Want)
	case *kind.Format:
		return sayFormat(k)
	case *kind.FalseSchema:
		return "not allowed here"
	case *kind.Not:
		return "has a form that is not allowed"
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "no item has the form that at least one must have"
	case *kind.MinContains:
		return fmt.Sprintf("%d items have the wanted form, at least %d must", len(k.Got), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("%d items have a form that at most %d may have", len(k.Got), k.Want)
	case *kind.AdditionalItems:
		return fmt.Sprintf("%d items too many", k.Count)
	}
	return sayLimit(k)
}

// sayFormat gives the reason for regular expressions alone: our own, while a library's may repeat the value.
func sayFormat(k *kind.Format) string {
	if k.Want == "regex" {
		return "is not a regular expression of Go's syntax (RE2): " + cutTo(k.Err.Error(), maxReasonChars)
	}
	return "is not a valid " + k.Want
}

// sayLimit words the kinds that compare with a number.
func sayLimit(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return fmt.Sprintf("%s is under the minimum of %s", rat(k.Got), rat(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("%s is over the maximum of %s", rat(k.Got), rat(k.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("%s must be more than %s", rat(k.Got), rat(k.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("%s must be less than %s", rat(k.Got), rat(k.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf("%s is not a multiple of %s", rat(k.Got), rat(k.Want))
	case *kind.MinLength:
		return fmt.Sprintf("has %d characters, at least %d are needed", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, at most %d are allowed", k.Got, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %d items, at least %d are needed", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d items, at most %d are allowed", k.Got, k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("has %d fields, at least %d are needed", k.Got, k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("has %d fields, at most %d are allowed", k.Got, k.Want)
	}
	return "does not fit the schema"
}

// below is the location of a member.
func below(at []string, name string) []string { return append(at[:len(at):len(at)], name) }

// pathOf writes a location as steps[2].selector; v tells keys from indexes.
func pathOf(v any, at []string) string {
	if len(at) == 0 {
		return "top level"
	}
	var b strings.Builder
	for _, step := range at {
		switch c := v.(type) {
		case []any:
			b.WriteString("[" + step + "]")
			i, err := strconv.Atoi(step)
			if v = nil; err == nil && i >= 0 && i < len(c) {
				v = c[i]
			}
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(keyText(step))
			m, _ := v.(map[string]any)
			v = m[step]
		}
	}
	return b.String()
}

// keyText is a key as it stands in a path: plain if it is a plain word, quoted and cut if it isn't.
func keyText(key string) string {
	plain := key != "" && len(key) <= maxEcho && strings.IndexFunc(key, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) < 0
	if plain {
		return key
	}
	return quote(key)
}

func choices(want []any) string {
	var list []string
	for i, v := range want {
		if i == maxChoices {
			return strings.Join(list, ", ") + fmt.Sprintf(" and %d more", len(want)-maxChoices)
		}
		list = append(list, show(v))
	}
	return strings.Join(list, ", ")
}

// show writes a value: scalars cut to maxEcho, others by their kind.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quote(v)
	case json.Number:
		return cut(string(v))
	case []any:
		return "this array"
	case map[string]any:
		return "this object"
	}
	return "this value"
}

func rat(r *big.Rat) string {
	if r.IsInt() {
		return cut(r.Num().String())
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// quote puts a text into quotes, control characters escaped and cut.
func quote(s string) string { return strconv.Quote(cut(s)) }

// cut shortens a text to maxEcho characters.
func cut(s string) string { return cutTo(s, maxEcho) }

func cutTo(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit-1 {
			return strings.ToValidUTF8(s[:i], string(utf8.RuneError)) + "…"
		}
		n++
	}
	return s
}
