package pdk

import (
	"encoding/json"
	"testing"
)

func TestArtifacts(t *testing.T) {
	h := NewHost(t)
	a, err := PutArtifact("a.txt", "", NewBlob([]byte("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if body, ok := h.Artifact(a.Key); !ok || string(body) != "hello" || a.Size != 5 {
		t.Errorf("stored %q: %+v", body, a)
	}
	entry, blob, err := GetArtifact(a.Key)
	if err != nil || entry != a {
		t.Fatalf("%+v, %v", entry, err)
	}
	if body, err := blob.Bytes(); err != nil || string(body) != "hello" {
		t.Errorf("read %q, %v", body, err)
	}
	if _, _, err := GetArtifact("native/none"); !NoArtifact(err) {
		t.Errorf("unknown key: %v", err)
	}
	if page, err := ListArtifacts(ArtifactFilter{Limit: 1}); err != nil || len(page.Artifacts) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestMemory(t *testing.T) {
	NewHost(t)
	for _, key := range []string{"b", "a"} {
		if _, err := PutMemory(MemoryPut{Category: "notes", Key: key, Value: json.RawMessage(`null`)}); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := GetMemory("notes", "a"); err != nil || m == nil || string(m.Value) != "null" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := GetMemory("notes", "z"); err != nil || m != nil {
		t.Errorf("absent: %+v, %v", m, err)
	}
	if l, err := ListMemory("notes"); err != nil || len(l) != 2 || l[0].Key != "a" {
		t.Errorf("%+v, %v", l, err)
	}
	if n, err := DeleteMemory("notes", ""); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if sha, err := PutPlan(Plan{Intent: "x"}); err != nil || len(sha) != 64 {
		t.Errorf("%q, %v", sha, err)
	}
}

func TestProgress(t *testing.T) {
	h := NewHost(t)
	Progress(50, "half")
	if got := h.Progress(); len(got) != 1 || got[0].Message != "half" {
		t.Errorf("%+v", got)
	}
}
