package engine

import (
	"reflect"
	"testing"

	"github.com/gantry-packs/gantry/registry/schema"
)

// FuzzRewrite: what comes out means what went in, without the dropped members, and handles lead back to the same bytes.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"_session_id":1}`, `{"a":[1,{"b":"YQ=="},[]],"_session_id":{"x":[{}]},"c":1e5}`, ` [ 1 , "\ud83d\ude00" ] `, `"text"`,
		`{"\u005fsession_id":0,"webhook_url":null,"one":"YQ==","many":["","YWI="]}`, `{"one":{"_session_id":3}}`, `12345678901234567890.10`,
		`{"deep":{"*":[{"data":"YR=="}]},"either":1}`, `{"either":"Y\nQ=="}`,
	} {
		f.Add([]byte(seed))
	}
	p := newPack(f, files, files)
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, err := schema.Decode(raw)
		if err != nil {
			t.Skip("the door refuses it")
		}
		if object, ok := want.(map[string]any); ok {
			for _, name := range reserved {
				delete(object, name)
			}
		}
		out, err := rewrite(raw, reserved, func([]string) bool { return false }, nil)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if got, err := schema.Decode(out); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q, %v", raw, out, err)
		}
		thereAndBack(t, &Call{Pack: p, Blobs: NewBlobs()}, out)
	})
}

// thereAndBack checks that an input with handles, answered as output and given as input again, comes to the same handles.
func thereAndBack(t *testing.T, c *Call, raw []byte) {
	in, err := prepare(c, raw)
	if err != nil {
		return // the schema refuses it, or its base64 is none
	}
	back, err := deliver(c, in)
	if err != nil {
		t.Fatalf("%q became %q, which can't go back: %v", raw, in, err)
	}
	again, err := prepare(&Call{Pack: c.Pack, Blobs: NewBlobs()}, back)
	if err != nil || string(again) != string(in) {
		t.Fatalf("%q became %q, and back %q, and again %q, %v", raw, in, back, again, err)
	}
}
