package artifactlist

import (
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk"
)

func TestList(t *testing.T) {
	pdk.NewHost(t)
	if out, err := pdk.Answer(run, nil); err != nil || string(out) != `{"artifacts":[]}` {
		t.Fatalf("nothing stored: %s, %v", out, err)
	}
	for _, name := range []string{"old", "new"} {
		if _, err := pdk.PutArtifact(name, "text/plain", pdk.NewBlob(nil)); err != nil {
			t.Fatal(err)
		}
	}
	one := 1
	page, err := run(Input{Limit: &one})
	if err != nil || len(page.Artifacts) != 1 || !strings.HasSuffix(page.Artifacts[0].Key, "-new") {
		t.Errorf("%+v, %v", page, err)
	}
	if page, err = run(Input{Pack: "other"}); err != nil || len(page.Artifacts) != 0 {
		t.Errorf("another pack's: %+v, %v", page, err)
	}
	for _, limit := range []int{-1, 0, 1001} {
		if _, err := run(Input{Limit: &limit}); err == nil || !strings.Contains(err.Error(), "1 to 1000") {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}
