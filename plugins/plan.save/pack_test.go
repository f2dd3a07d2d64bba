package plansave

import (
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

func TestSave(t *testing.T) {
	tests := map[string]struct{ input, want, says string }{
		"saved":     {`{"intent":"a","steps":["b",{"pack":"c.d"}]}`, `{"intent_sha":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}`, ""},
		"no intent": {`{"intent":" ","steps":["b"]}`, "", "intent is empty"},
		"no steps":  {`{"intent":"a"}`, "", "steps is empty"},
		"too many":  {`{"intent":"a","steps":[1` + strings.Repeat(",1", maxSteps) + `]}`, "", "at most 200"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pdk.NewHost(t)
			out, err := pdk.Answer(run, []byte(tt.input))
			if string(out) != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("answered %s, %v", out, err)
			}
		})
	}
}
