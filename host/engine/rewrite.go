package engine

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// rewrite copies a JSON value that schema.Decode has accepted, so its depth is bounded, leaving out the top-level members
// named in drop and replacing the values for which at says so. What isn't replaced keeps its bytes: numbers lose no digit.
// A path is object keys, "*" for array items.
func rewrite(raw []byte, drop []string, at func(path []string) bool, replace func(path []string, v jsontext.Value) ([]byte, error)) ([]byte, error) {
	w := &rewriter{dec: jsontext.NewDecoder(bytes.NewBuffer(raw)), drop: drop, at: at, replace: replace, out: make([]byte, 0, min(len(raw), 1<<20))}
	if err := w.value(nil); err != nil {
		return nil, err
	}
	return w.out, nil
}

type rewriter struct {
	dec     *jsontext.Decoder
	drop    []string
	at      func(path []string) bool
	replace func(path []string, v jsontext.Value) ([]byte, error)
	out     []byte
}

func (w *rewriter) value(path []string) error {
	if len(path) > 0 && w.at(path) {
		v, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		to, err := w.replace(path, v)
		w.out = append(w.out, to...)
		return err
	}
	switch w.dec.PeekKind() {
	case '{':
		return w.object(path)
	case '[':
		return w.array(path)
	}
	v, err := w.dec.ReadValue()
	w.out = append(w.out, v...)
	return err
}

func (w *rewriter) object(path []string) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for first := true; w.dec.PeekKind() != '}'; {
		t, err := w.dec.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		if len(path) == 0 && slices.Contains(w.drop, name) {
			if err := w.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		if w.out, err = jsontext.AppendQuote(w.out, name); err != nil {
			return err
		}
		w.out = append(w.out, ':')
		if err := w.value(append(path, name)); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	w.out = append(w.out, '}')
	return err
}

func (w *rewriter) array(path []string) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '[')
	for first := true; w.dec.PeekKind() != ']'; first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		if err := w.value(append(path, "*")); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	w.out = append(w.out, ']')
	return err
}
