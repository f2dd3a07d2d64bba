package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// files has base64 fields at the top, in arrays, in objects of any name, and behind a reference.
const files = `{"type":"object","properties":{
	"one":{"$ref":"#/$defs/bytes"},
	"many":{"type":"array","items":{"$ref":"#/$defs/bytes"}},
	"deep":{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"data":{"$ref":"#/$defs/bytes"}}}}},
	"either":{"anyOf":[{"$ref":"#/$defs/bytes"},{"type":"number"}]}
},"$defs":{"bytes":{"type":"string","contentEncoding":"base64"}}}`

func TestBase64ThereAndBack(t *testing.T) {
	for _, tt := range []struct{ name, input, seen string }{
		{"top", `{"one":"aGVsbG8="}`, `{"one":{"$blob":1,"size":5}}`},
		{"empty", `{"one":""}`, `{"one":{"$blob":1,"size":0}}`},
		{"array", `{"many":["YQ==","YmI="]}`, `{"many":[{"$blob":1,"size":1},{"$blob":2,"size":2}]}`},
		{"deep", `{"deep":{"a/b~":[{"data":"YQ==","name":"x"},{}],"*":[]}}`, `{"deep":{"a/b~":[{"data":{"$blob":1,"size":1},"name":"x"},{}],"*":[]}}`},
		{"not a string", `{"either":12345678901234567890.0100}`, `{"either":12345678901234567890.0100}`},
		{"digits beside", `{"n":0.10000000000000000000001,"one":"YQ==","m":[1E+3,-0]}`, `{"n":0.10000000000000000000001,"one":{"$blob":1,"size":1},"m":[1E+3,-0]}`},
		{"escapes beside", `{"s":"\u00e9\n<&>","one":"YQ=="}`, `{"s":"\u00e9\n<&>","one":{"$blob":1,"size":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(_ context.Context, c *Call, input []byte) ([]byte, error) {
				if string(input) != tt.seen {
					t.Errorf("the pack saw %s\nwant         %s", input, tt.seen)
				}
				return input, nil
			}
			h := newHouse(t, roomy, run, newPack(t, files, files))
			env, err := h.call(t.Context(), request(tt.input))
			if err != nil || string(env.Output) != tt.input {
				t.Errorf("the call gave %s, %v", env.Output, err)
			}
		})
	}
	t.Run("bytes", func(t *testing.T) {
		want := bytes.Repeat([]byte{0, 255, 62, 63}, 100)
		run := func(_ context.Context, c *Call, _ []byte) ([]byte, error) {
			got, ok := c.Blobs.Get(1)
			if !ok || !bytes.Equal(got, want) {
				t.Errorf("blob 1 holds %x, %v", got, ok)
			}
			return []byte(`{}`), nil
		}
		h := newHouse(t, roomy, run, newPack(t, files, ""))
		// A JSON writer may escape what it likes.
		escaped := strings.ReplaceAll(base64.StdEncoding.EncodeToString(want), "/", `\/`)
		if _, err := h.call(t.Context(), request(`{"one":"`+escaped+`"}`)); err != nil {
			t.Error(err)
		}
	})
}

func TestBase64Refused(t *testing.T) {
	h := newHouse(t, roomy, echo, newPack(t, files, ""))
	for _, tt := range []struct{ name, input, says string }{
		{"not base64", `{"one":"a b"}`, "one: not base64"},
		{"no padding", `{"one":"YQ"}`, "one: not base64"},
		{"alphabet of URLs", `{"many":["YQ==","_-8="]}`, "many.*: not base64"},
		{"in a deep place", `{"deep":{"k":[{"data":"!"}]}}`, "deep.k.*.data: not base64"},
		{"number", `{"one":1}`, "one: "},
		{"too many", `{"many":["` + strings.Repeat(`","`, MaxBlobs) + `"]}`, "many.*: the call would have more than 10000 blobs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.call(t.Context(), request(tt.input))
			refused(t, err, wire.InvalidInput, tt.says)
		})
	}
}

// What a pack names in its output is its own affair only as far as it holds together.
func TestBlobsInOutput(t *testing.T) {
	for _, tt := range []struct{ name, output, want, says string }{
		{"none of this call", `{"one":{"$blob":7,"size":1}}`, "", "one: no blob 7 in this call"},
		{"negative", `{"many":[{"$blob":-1,"size":1}]}`, "", "many.*: no blob -1"},
		{"not a handle", `{"one":{"name":"x"}}`, "", "output_schema does not allow: one: "},
		{"handle of text", `{"one":{"$blob":"1"}}`, "", "output_schema does not allow: one: "},
		{"handle where none belongs", `{"other":{"$blob":1,"size":3}}`, `{"other":{"$blob":1,"size":3}}`, ""},
		{"text that the pack encoded itself", `{"one":"YQ=="}`, `{"one":"YQ=="}`, ""},
		{"one blob twice", `{"one":{"$blob":1},"many":[{"$blob":1,"size":99}]}`, `{"one":"YWJj","many":["YWJj"]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(_ context.Context, c *Call, _ []byte) ([]byte, error) {
				_, err := c.Blobs.Add([]byte("abc"))
				return []byte(tt.output), err
			}
			env, err := newHouse(t, roomy, run, newPack(t, "", files)).call(t.Context(), request(`{}`))
			if tt.says != "" {
				refused(t, err, wire.InvalidOutput, tt.says)
			} else if err != nil || string(env.Output) != tt.want {
				t.Errorf("output %s, %v", env.Output, err)
			}
		})
	}
}

// A pack that names one blob a million times would make gigabytes of a few bytes.
func TestBlobNamedTooOften(t *testing.T) {
	run := func(_ context.Context, c *Call, _ []byte) ([]byte, error) {
		_, err := c.Blobs.Add(make([]byte, 8<<20))
		return []byte(`{"many":[` + strings.Repeat(`{"$blob":1},`, 50_000) + `{"$blob":1}]}`), err
	}
	_, err := newHouse(t, roomy, run, newPack(t, "", files)).call(t.Context(), request(`{}`))
	refused(t, err, wire.InvalidOutput, "many.*: the blobs in the output exceed 96 MiB")
}

func TestBlobs(t *testing.T) {
	b := NewBlobs()
	first, err := b.Add([]byte("ab"))
	if err != nil || first != (wire.BlobRef{ID: 1, Size: 2}) {
		t.Fatalf("%+v, %v", first, err)
	}
	held, _ := b.Get(1)
	if grown, err := b.Append(1, []byte("cd")); err != nil || grown.Size != 4 {
		t.Errorf("%+v, %v", grown, err)
	}
	if now, _ := b.Get(1); string(now) != "abcd" || string(held) != "ab" {
		t.Errorf("now %q, held %q", now, held)
	}
	for name, err := range map[string]error{
		"no such blob":        second(b.Append(2, nil)),
		"over the limit, new": second(b.Add(make([]byte, MaxBlobBytes-3))),
		"over the limit, old": second(b.Append(1, make([]byte, MaxBlobBytes-3))),
	} {
		if we := wire.As(err); we == nil || we.Code != wire.HandlerFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Add(make([]byte, MaxBlobBytes-4)); err != nil {
		t.Errorf("up to the limit: %v", err)
	}
	b.Drop()
	if _, ok := b.Get(1); ok {
		t.Error("there after Drop")
	}
}

func second[T any](_ T, err error) error { return err }

// Blobs end with their call, whoever still holds the set.
func TestBlobsEndWithTheCall(t *testing.T) {
	var kept *Blobs
	run := func(_ context.Context, c *Call, _ []byte) ([]byte, error) { kept = c.Blobs; return []byte(`{}`), nil }
	h := newHouse(t, roomy, run, newPack(t, files, ""))
	if _, err := h.call(t.Context(), request(`{"one":"YQ=="}`)); err != nil {
		t.Fatal(err)
	}
	if _, ok := kept.Get(1); ok {
		t.Error("the blob is still there")
	}
}
