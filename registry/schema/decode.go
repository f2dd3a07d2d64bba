package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of a JSON text. They keep what a small body can cost in memory and time in proportion to the body.
const (
	MaxDepth       = 256     // nested objects and arrays
	MaxValues      = 1 << 18 // objects, arrays and scalars together: an empty object is 2 bytes on the wire and a map in memory
	MaxNumber      = 1000    // characters of one number
	MaxExponent    = 400     // of one number, both ways: 1e999999999 is short, but exact arithmetic on it is not
	maxReasonChars = 200
)

// Decode reads exactly one JSON value: nil, bool, string, json.Number, []any or map[string]any. It refuses what two parsers
// could read differently (duplicate keys, invalid UTF-8, lone surrogates, data after the value) and what is over a limit.
// The error is a *wire.Error invalid_json that names the byte offset and the reason.
func Decode(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, wire.Errorf(wire.InvalidJSON, "the body is empty: send one JSON value")
	}
	d := &decoder{dec: jsontext.NewDecoder(bytes.NewBuffer(raw))}
	v, err := d.value()
	if err != nil {
		return nil, d.explain(err)
	}
	end := d.dec.InputOffset()
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, invalid(end, "there is more after the JSON value: send exactly one")
	}
	return v, nil
}

type decoder struct {
	dec    *jsontext.Decoder
	values int
}

// value reads the next value. It recurses at most MaxDepth deep.
func (d *decoder) value() (any, error) {
	t, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	return d.rest(t)
}

// rest reads the value whose first token is t.
func (d *decoder) rest(t jsontext.Token) (any, error) {
	if d.values++; d.values > MaxValues {
		return nil, d.refuse("more than %d values: send the data as an artifact or a file", MaxValues)
	}
	if d.dec.StackDepth() > MaxDepth {
		return nil, d.refuse("nested more than %d levels deep", MaxDepth)
	}
	switch t.Kind() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return t.String(), nil
	case '0':
		return d.number(t.String())
	case 't', 'f':
		return t.Bool(), nil
	default:
		return nil, nil
	}
}

func (d *decoder) object() (any, error) {
	m := map[string]any{}
	for {
		t, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if t.Kind() == '}' {
			return m, nil
		}
		name := t.String()
		if m[name], err = d.value(); err != nil {
			return nil, err
		}
	}
}

func (d *decoder) array() (any, error) {
	a := []any{}
	for {
		t, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if t.Kind() == ']' {
			return a, nil
		}
		v, err := d.rest(t)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
}

func (d *decoder) number(text string) (any, error) {
	if len(text) > MaxNumber {
		return nil, d.refuse("a number of %d characters: at most %d", len(text), MaxNumber)
	}
	if !exponentFits(text) {
		return nil, d.refuse("the number %s has an exponent beyond %d", cut(text), MaxExponent)
	}
	return json.Number(text), nil
}

// exponentFits says whether the exponent of a JSON number is within ±MaxExponent.
func exponentFits(text string) bool {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return true
	}
	n, err := strconv.Atoi(text[i+1:])
	return err == nil && -MaxExponent <= n && n <= MaxExponent
}

// refuse makes the error for a text that is over a limit of ours, at the place read so far.
func (d *decoder) refuse(format string, args ...any) error {
	return invalid(d.dec.InputOffset(), wire.Errorf(wire.InvalidJSON, format, args...).Message)
}

// explain words an error of the tokenizer.
func (d *decoder) explain(err error) error {
	if e := (*wire.Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return d.refuse("the text ends in the middle of a value")
	}
	e := (*jsontext.SyntacticError)(nil)
	if !errors.As(err, &e) {
		return d.refuse("%s", err)
	}
	if errors.Is(e.Err, jsontext.ErrDuplicateName) {
		return invalid(e.ByteOffset, "the key "+quote(e.JSONPointer.LastToken())+" stands twice in one object")
	}
	return invalid(e.ByteOffset, e.Err.Error())
}

func invalid(offset int64, reason string) error {
	return wire.Errorf(wire.InvalidJSON, "not valid JSON at byte %d: %s", offset, cutTo(reason, maxReasonChars))
}
