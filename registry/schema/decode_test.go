package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestDecode(t *testing.T) {
	tests := map[string]any{
		` {"a": [1, 2.50, -0, 1e3], "b": null} `: map[string]any{
			"a": []any{json.Number("1"), json.Number("2.50"), json.Number("-0"), json.Number("1e3")}, "b": nil},
		`"\ud83d\ude00\u0000\n"`: "😀\x00\n",
		`true`:                   true,
		`false`:                  false,
		`null`:                   nil,
		`[]`:                     []any{},
		`{}`:                     map[string]any{},
		`12345678901234567890`:   json.Number("12345678901234567890"),
	}
	for raw, want := range tests {
		got, err := Decode([]byte(raw))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Decode(%s) = %#v, %v; want %#v", raw, got, err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, raw, reason string }{
		{"empty", "", "is empty"},
		{"blank", " \n", "is empty"},
		{"duplicate key", `{"a": 1, "a": 2}`, `the key "a" stands twice`},
		{"duplicate key, escaped", `{"a": 1, "\u0061": 2}`, `the key "a" stands twice`},
		{"duplicate key, deep", `[{"x": {"b": 1, "c": 2, "b": 3}}]`, `the key "b" stands twice`},
		{"duplicate long key", `{"` + strings.Repeat("k", 5000) + `": 1, "` + strings.Repeat("k", 5000) + `": 2}`, "…"},
		{"trailing value", `{} {}`, "more after"},
		{"trailing garbage", `{}x`, "more after"},
		{"trailing NUL", "{}\x00", "more after"},
		{"raw NUL", "{\"a\": \"\x00\"}", "byte 7"},
		{"invalid UTF-8", "{\"a\": \"\xff\"}", "UTF-8"},
		{"overlong UTF-8", "\"\xc0\x80\"", "UTF-8"},
		{"byte order mark", "\xef\xbb\xbf{}", "byte 0"},
		{"lone high surrogate", `"\ud800"`, "surrogate"},
		{"lone low surrogate", `"\udc00x"`, "surrogate"},
		{"comment", `{/**/}`, "byte 1"},
		{"single quotes", `{'a': 1}`, "byte 1"},
		{"trailing comma", `[1,]`, "byte 2"},
		{"leading zero", `01`, "byte 1"},
		{"NaN", `NaN`, "byte 0"},
		{"cut off", `{"a": [1`, "ends in the middle"},
		{"long number", strings.Repeat("9", MaxNumber+1), "at most 1000"},
		{"huge exponent", `[1e999999999]`, "exponent beyond 400"},
		{"tiny exponent", `1E-401`, "exponent beyond 400"},
		{"exponent that overflows", `1e99999999999999999999`, "exponent beyond 400"},
		{"too deep", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "256 levels"},
		{"20,000 levels", strings.Repeat(`{"a":`, 20000), "256 levels"},
		{"48 MiB of brackets", strings.Repeat("[", 48<<20), "256 levels"},
		{"too many values", "[" + strings.Repeat("{},", MaxValues) + "{}]", "more than 262144 values"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Decode([]byte(tt.raw))
			if e := (*wire.Error)(nil); !errors.As(err, &e) || e.Code != wire.InvalidJSON {
				t.Fatalf("= %v, %v; want an invalid_json error", v, err)
			}
			if !strings.Contains(err.Error(), tt.reason) || len(err.Error()) > 400 {
				t.Errorf("error %q does not say %q shortly", err, tt.reason)
			}
		})
	}
}

func TestDecodeAtTheLimits(t *testing.T) {
	for name, raw := range map[string]string{
		"depth":    strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
		"number":   strings.Repeat("9", MaxNumber),
		"exponent": "1e400",
		"values":   "[" + strings.Repeat("1,", MaxValues-2) + "1]",
	} {
		if _, err := Decode([]byte(raw)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecode holds Decode to encoding/json: what it accepts they read alike, and what it refuses although encoding/json
// accepts it, it refuses for one of the reasons it exists for.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a": [1, "x", null, true]}`, `{"a":1,"\u0061":2}`, `"\ud800"`, "\"\xff\"", `1e999`, `[[[]]]`, ``, `{} x`} {
		f.Add([]byte(seed))
	}
	reasons := []string{"stands twice", "UTF-8", "surrogate", "levels", "values", "exponent", "characters"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Decode(raw)
		if err == nil {
			d := json.NewDecoder(strings.NewReader(string(raw)))
			d.UseNumber()
			var want any
			if err := d.Decode(&want); err != nil || !json.Valid(raw) {
				t.Fatalf("accepted %q, which encoding/json refuses: %v", raw, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q is %#v, encoding/json says %#v", raw, got, want)
			}
			return
		}
		if !json.Valid(raw) {
			return
		}
		for _, reason := range reasons {
			if strings.Contains(err.Error(), reason) {
				return
			}
		}
		t.Fatalf("refused %q, which encoding/json accepts: %v", raw, err)
	})
}

func BenchmarkDecode(b *testing.B) {
	small := []byte(`{"query": "red fox in snow", "count": 4, "orientation": "landscape", "tags": ["fox", "snow", "winter"], "filters": {"min_width": 1024, "color": null, "safe": true}, "note": "` + strings.Repeat("x", 120) + `"}`)
	large := fmt.Appendf(nil, `{"content_b64": %q}`, strings.Repeat("QUJD", 1<<20))
	for name, raw := range map[string][]byte{"object-0.3KB": small, "base64-4MiB": large} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
