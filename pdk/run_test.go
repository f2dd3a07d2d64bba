package pdk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk/wire"
)

type in struct {
	Name string   `json:"name"`
	N    int      `json:"n"`
	List []string `json:"list"`
	Data Blob     `json:"data"`
	Deep struct {
		On *bool `json:"on"`
	} `json:"deep"`
	Do string `json:"do"`
}

type out struct {
	Text string  `json:"text"`
	F    float64 `json:"f,omitempty"`
	Data Blob    `json:"data,omitzero"`
	Bad  any     `json:"bad,omitempty"`
}

func work(i in) (out, error) {
	switch i.Do {
	case "panic":
		panic("the roof is on fire")
	case "nil":
		var none *string
		return out{Text: *none}, nil
	case "invalid":
		return out{}, Invalid("field %s", "x")
	case "plain":
		return out{}, errors.New("plain text")
	case "foreign":
		return out{}, wire.Errorf(wire.ArtifactNotFound, "not there").WithDetails(1)
	case "unwritable":
		return out{Bad: func() {}}, nil
	}
	return out{Text: "<" + i.Name + ">"}, nil
}

func TestAnswer(t *testing.T) {
	tests := map[string]struct{ input, want, code, message string }{
		"empty":          {"", `{"text":"<>"}`, "", ""},
		"unknown field":  {`{"name":"a&b","more":[1]}`, `{"text":"<a&b>"}`, "", ""},
		"wrong string":   {`{"name":1}`, "", "invalid_input", "field name must be a string, not number"},
		"wrong int":      {`{"n":1.5}`, "", "invalid_input", "field n must be a whole number, not number 1.5"},
		"wrong array":    {`{"list":{}}`, "", "invalid_input", "field list must be an array, not object"},
		"wrong deep":     {`{"deep":{"on":"yes"}}`, "", "invalid_input", "field deep.on must be true or false, not string"},
		"wrong object":   {`{"deep":[]}`, "", "invalid_input", "field deep must be an object, not array"},
		"wrong blob":     {`{"data":7}`, "", "invalid_input", "field data must be base64 text, not number"},
		"blob array":     {`{"data":[7]}`, "", "invalid_input", "field data must be base64 text, not array"},
		"blob object":    {`{"data":{"a":1}}`, "", "invalid_input", "field data must be base64 text, not an object"},
		"blob text":      {`{"data":"%%"}`, "", "invalid_input", "field data must be base64 text, not a string of other characters"},
		"not an object":  {`[]`, "", "invalid_input", "the input must be an object, not array"},
		"not JSON":       {`{"name"`, "", "invalid_input", "the input cannot be read: unexpected end of JSON input"},
		"panic":          {`{"do":"panic"}`, "", "internal", "the pack panicked: the roof is on fire"},
		"nil pointer":    {`{"do":"nil"}`, "", "internal", "the pack panicked: runtime error: invalid memory address or nil pointer dereference"},
		"coded error":    {`{"do":"invalid"}`, "", "invalid_input", "field x"},
		"plain error":    {`{"do":"plain"}`, "", "handler_failed", "plain text"},
		"host's code":    {`{"do":"foreign"}`, "", "handler_failed", "not there"},
		"unwritable out": {`{"do":"unwritable"}`, "", "invalid_output", "the output cannot be written as JSON: json: unsupported type: func()"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			NewHost(t)
			got, err := Answer(work, []byte(tt.input))
			if string(got) != tt.want {
				t.Errorf("output %s, want %s", got, tt.want)
			}
			var e *wire.Error
			if errors.As(err, &e) != (tt.code != "") {
				t.Fatalf("error %v", err)
			}
			if e != nil && (string(e.Code) != tt.code || e.Message != tt.message) {
				t.Errorf("error %v, want %s: %s", e, tt.code, tt.message)
			}
		})
	}
}

func TestPanicStackGoesToTheLogOnly(t *testing.T) {
	h := NewHost(t)
	_, err := Answer(work, []byte(`{"do":"panic"}`))
	if strings.Contains(err.Error(), "goroutine") {
		t.Errorf("the caller sees a stack: %v", err)
	}
	if log := strings.Join(h.Log(), "\n"); !strings.Contains(log, "the roof is on fire") || !strings.Contains(log, "goroutine") {
		t.Errorf("log %q", log)
	}
}

func TestBlob(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 3*chunk/16) + "end"
	for _, text := range []string{"", "a", large} {
		NewHost(t)
		raw, err := json.Marshal(NewBlob([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		var b Blob
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if b.IsZero() || b.Size() != int64(len(text)) {
			t.Errorf("%s: zero %v, size %d", raw, b.IsZero(), b.Size())
		}
		if got, err := b.Bytes(); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", raw, len(got), err)
		}
		var sb strings.Builder
		buf := make([]byte, 1000)
		for r := b.Reader(); ; {
			n, err := r.Read(buf)
			sb.Write(buf[:n])
			if err != nil {
				break
			}
		}
		if sb.String() != text {
			t.Errorf("%s: read %d bytes of %d", raw, sb.Len(), len(text))
		}
	}
}

// A caller can write {"$blob": …} into a field that the schema doesn't declare as base64.
func TestForgedBlob(t *testing.T) {
	for _, raw := range []string{`{"$blob":99,"size":5}`, `{"$blob":99,"size":90000000}`, `{"$blob":99,"size":4611686018427387904}`, `{"$blob":1,"size":6}`} {
		NewHost(t)
		if _, err := NewBlob([]byte("hello")).handle(); err != nil { // becomes blob 1
			t.Fatal(err)
		}
		var b Blob
		if err := json.Unmarshal([]byte(raw), &b); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Bytes(); err == nil {
			t.Errorf("%s gave %q", raw, got)
		}
	}
}

func TestZeroBlob(t *testing.T) {
	got, err := json.Marshal(out{})
	if err != nil || string(got) != `{"text":""}` {
		t.Errorf("%s, %v", got, err)
	}
	if raw, err := json.Marshal(Blob{}); err != nil || string(raw) != "null" {
		t.Errorf("%s, %v", raw, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"a","data":{"$blob":1,"size":1}}`))
	f.Add([]byte(`{"data":"aGk=","deep":{"on":null}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := Answer(work, raw)
		var e *wire.Error
		switch {
		case err == nil && !json.Valid(out):
			t.Errorf("output %q", out)
		case err != nil && (!errors.As(err, &e) || !e.Code.FromPack()):
			t.Errorf("error %v", err)
		}
	})
}
