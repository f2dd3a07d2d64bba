package hosttest

import (
	"path/filepath"
	"testing"
)

// TestScripts runs every script of this folder and of the packs against one server.
func TestScripts(t *testing.T) {
	var files []string
	for _, pattern := range []string{"testdata/*.txtar", "../../plugins/*/testdata/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Errorf("no script fits %s", pattern)
		}
		files = append(files, found...)
	}
	Start(t, Options{}).Target().Scripts(t, files...)
}
