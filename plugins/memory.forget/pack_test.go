package memoryforget

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

func TestForget(t *testing.T) {
	pdk.NewHost(t)
	for _, key := range []string{"a", "b", "c"} {
		if _, err := pdk.PutMemory(pdk.MemoryPut{Category: "notes", Key: key, Value: json.RawMessage("1")}); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct{ input, want, says string }{
		{`{}`, "", "category is empty"},
		{`{"category":"notes","key":""}`, "", "key is empty"}, // must not lose the category
		{`{"category":"notes","key":"z"}`, `{"forgotten":0}`, ""},
		{`{"category":"notes","key":"a"}`, `{"forgotten":1}`, ""},
		{`{"category":"notes"}`, `{"forgotten":2}`, ""},
		{`{"category":"notes"}`, `{"forgotten":0}`, ""},
	}
	for _, s := range steps {
		out, err := pdk.Answer(run, []byte(s.input))
		if string(out) != s.want || (err != nil) != (s.says != "") || err != nil && !strings.Contains(err.Error(), s.says) {
			t.Errorf("%s: %s, %v", s.input, out, err)
		}
	}
}
