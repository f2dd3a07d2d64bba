package memorystore

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

func TestStore(t *testing.T) {
	tests := map[string]struct{ input, value, says string }{
		"text":        {`{"category":"c","key":"k","value":"v"}`, `"v"`, ""},
		"null":        {`{"category":"c","key":"k","value":null}`, `null`, ""},
		"with a ttl":  {`{"category":"c","key":"k","value":{"a":[1]},"ttl":"24h"}`, `{"a":[1]}`, ""},
		"null ttl":    {`{"category":"c","key":"k","value":1,"ttl":null}`, `1`, ""},
		"no category": {`{"key":"k","value":1}`, "", "category is empty"},
		"no key":      {`{"category":"c","value":1}`, "", "key is empty"},
		"no value":    {`{"category":"c","key":"k"}`, "", "value is missing"},
		"bad ttl":     {`{"category":"c","key":"k","value":1,"ttl":"soon"}`, "", "not a time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pdk.NewHost(t)
			out, err := pdk.Answer(run, []byte(tt.input))
			var e *pdk.Error
			if tt.says != "" {
				if !errors.As(err, &e) || e.Code != pdk.InvalidInput || !strings.Contains(e.Message, tt.says) {
					t.Errorf("answered %s, %v; want …%s…", out, err, tt.says)
				}
				return
			}
			if err != nil || !strings.HasPrefix(string(out), `{"stored":true,"category":"c","key":"k"`) {
				t.Fatalf("answered %s, %v", out, err)
			}
			m, err := pdk.GetMemory("c", "k")
			if err != nil || m == nil || string(m.Value) != tt.value || (m.ExpiresAt != "") != strings.Contains(tt.input, "24h") {
				t.Errorf("stored %+v, %v", m, err)
			}
		})
	}
}

func TestTTL(t *testing.T) {
	good := map[string]int64{
		``: 0, `null`: 0, `1`: 1, `3600`: 3600, `0.2`: 1, `1.5`: 2, `"90s"`: 90, `"15m"`: 900, `"24h"`: 86400, `"1h30m"`: 5400,
		`"30d"`: 2592000, `"0.5d"`: 43200, `"1ms"`: 1, `"3650d"`: maxTTL, `315360000`: maxTTL,
	}
	for raw, want := range good {
		if got, err := ttlSeconds(json.RawMessage(raw)); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", raw, got, err, want)
		}
	}
	for _, raw := range []string{`0`, `-1`, `1e300`, `315360001`, `"0s"`, `"-5m"`, `"d"`, `"NaNd"`, `"Infd"`, `"3651d"`, `""`, `"24"`, `true`, `[]`, `{}`} {
		if got, err := ttlSeconds(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: %d", raw, got)
		}
	}
}
