package main

import (
	"slices"
	"testing"

	"github.com/gantry-packs/gantry/registry/schema"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	v, err := schema.Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		want, got string
		found     []string
	}{
		{`{}`, `{"a":1}`, nil},
		{`{"a":{"b":1}}`, `{"a":{"b":1.0,"c":2}}`, nil},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":1,"c":2}]}`, nil},
		{`{"a":null}`, `{"a":null}`, nil},
		{`{"a":1}`, `{}`, []string{"out.a: expected 1, got nothing"}},
		{`{"a":null}`, `{}`, []string{"out.a: expected null, got nothing"}},
		{`{"a":[1]}`, `{"a":[1,2]}`, []string{"out.a: expected [1], got [1,2]"}},
		{`{"a":"1"}`, `{"a":1}`, []string{`out.a: expected "1", got 1`}},
		{`{"a":{}}`, `{"a":[]}`, []string{"out.a: expected {}, got []"}},
		{`{"b":1,"a":true}`, `{"b":2,"a":false}`, []string{"out.a: expected true, got false", "out.b: expected 1, got 2"}},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, []string{"out.a: expected 9007199254740993, got 9007199254740992"}},
	} {
		if got := differences("out", decode(t, c.want), decode(t, c.got)); !slices.Equal(got, c.found) {
			t.Errorf("%s in %s: %q, want %q", c.want, c.got, got, c.found)
		}
	}
}

// Whatever a pack answers is contained in itself.
func FuzzDifferences(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e300,"x",null,{"b":true}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := schema.Decode(raw)
		if err != nil {
			return
		}
		if found := differences("out", v, v); found != nil {
			t.Errorf("%s differs from itself: %q", raw, found)
		}
	})
}
