package artifactput

import (
	"errors"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

func TestPut(t *testing.T) {
	tests := map[string]struct{ input, body, says string }{
		"text":       {`{"name":"a.txt","content":"<b>"}`, "<b>", ""},
		"empty text": {`{"name":"a.txt","content":""}`, "", ""},
		"bytes":      {`{"name":"a.bin","content_b64":"AAEC"}`, "\x00\x01\x02", ""},
		"no name":    {`{"name":" ","content":"a"}`, "", "name is empty"},
		"long name":  {`{"name":"` + strings.Repeat("a", 201) + `","content":"a"}`, "", "200 characters"},
		"no body":    {`{"name":"a.txt"}`, "", "give the bytes"},
		"two bodies": {`{"name":"a.txt","content":"a","content_b64":"YQ=="}`, "", "exclude each other"},
		"large text": {`{"name":"a.txt","content":"` + strings.Repeat("a", maxContent+1) + `"}`, "", "over 8 MiB"},
		"large blob": {`{"name":"a.txt","content_b64":{"$blob":1,"size":33554433}}`, "", "over 32 MiB"},
		"bad base64": {`{"name":"a.txt","content_b64":"?"}`, "", "field content_b64"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := pdk.NewHost(t)
			out, err := pdk.Answer(run, []byte(tt.input))
			var e *pdk.Error
			if tt.says != "" {
				if !errors.As(err, &e) || e.Code != pdk.InvalidInput || !strings.Contains(e.Message, tt.says) {
					t.Errorf("answered %s, %v; want …%s…", out, err, tt.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			a := h.Artifacts()
			if len(a) != 1 {
				t.Fatalf("stored %+v", a)
			}
			if body, _ := h.Artifact(a[0].Key); string(body) != tt.body {
				t.Errorf("stored %q, want %q", body, tt.body)
			}
		})
	}
}
