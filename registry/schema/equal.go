package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"io"
	"maps"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// sum stands for a value: equal values, and only they, have equal sums.
type sum [sha256.Size]byte

// summer makes sums.
type summer struct{ hash.Hash }

func newSummer() summer { return summer{sha256.New()} }

func (h summer) sum(v any) sum {
	h.Reset()
	digest(h, v)
	return sum(h.Sum(nil))
}

// uniqueItems checks that no two items of an array are equal. The library's own check compares all items whose hashes are
// equal, and its hash doesn't tell ["a", "b"] from ["a\u0004b"]: an array of such items, easily made, takes quadratic time.
type uniqueItems struct{}

// Validate implements jsonschema.SchemaExt.
func (uniqueItems) Validate(ctx *jsonschema.ValidatorContext, v any) {
	items, ok := v.([]any)
	if !ok {
		return
	}
	h, seen := newSummer(), make(map[sum]int, len(items))
	for i, item := range items {
		s := h.sum(item)
		if j, ok := seen[s]; ok {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{j, i}})
			return
		}
		seen[s] = i
	}
}

// oneOf checks that a value is one of some, for enum and const. The library's own check compares with each of them, numbers
// by exact arithmetic.
type oneOf struct {
	wrong   func(got any) jsonschema.ErrorKind
	strings map[string]bool
	others  map[sum]bool
}

func newEnum(values []any) *oneOf {
	return newOneOf(values, func(got any) jsonschema.ErrorKind { return &kind.Enum{Got: got, Want: values} })
}

func newConst(value any) *oneOf {
	return newOneOf([]any{value}, func(got any) jsonschema.ErrorKind { return &kind.Const{Got: got, Want: value} })
}

func newOneOf(values []any, wrong func(any) jsonschema.ErrorKind) *oneOf {
	o := &oneOf{wrong: wrong, strings: map[string]bool{}, others: map[sum]bool{}}
	h := newSummer()
	for _, v := range values {
		if s, ok := v.(string); ok {
			o.strings[s] = true
		} else {
			o.others[h.sum(v)] = true
		}
	}
	return o
}

// Validate implements jsonschema.SchemaExt.
func (o *oneOf) Validate(ctx *jsonschema.ValidatorContext, v any) {
	s, isString := v.(string)
	if isString && o.strings[s] || !isString && len(o.others) > 0 && o.others[newSummer().sum(v)] {
		return
	}
	ctx.AddError(o.wrong(v))
}

// digest writes v so that equal values, and only they, are written alike: 1 and 1.0 are equal, 1 and "1" are not.
func digest(h hash.Hash, v any) {
	switch v := v.(type) {
	case nil:
		part(h, 'n', "")
	case bool:
		if v {
			part(h, 't', "")
		} else {
			part(h, 'f', "")
		}
	case string:
		part(h, 's', v)
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			part(h, 'd', r.RatString())
		}
	case []any:
		head(h, 'a', len(v))
		for _, item := range v {
			digest(h, item)
		}
	case map[string]any:
		head(h, 'o', len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			part(h, 's', key)
			digest(h, v[key])
		}
	}
}

func part(h hash.Hash, tag byte, text string) {
	head(h, tag, len(text))
	_, _ = io.WriteString(h, text) // a hash never fails
}

func head(h hash.Hash, tag byte, length int) {
	var b [9]byte
	b[0] = tag
	binary.BigEndian.PutUint64(b[1:], uint64(length))
	_, _ = h.Write(b[:])
}
