package hosttest

import (
	"path/filepath"
	"slices"
	"strings"
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
	stock, blog, forge := StartStock(t), StartBlog(t), StartForge(t)
	target := Start(t, Options{Env: map[string]string{
		"GANTRY_STOCK_BASE_URL": stock.URL, "GANTRY_STOCK_API_KEY": stock.Key(FaultNone),
		"GANTRY_FORGE_API_URL": forge.URL,
		"GANTRY_EGRESS_ALLOW":  strings.TrimPrefix(blog.URL, "http://"),
	}}).Target()
	target.Env = slices.Concat(stock.Env(), blog.Env(), forge.Env())
	target.Scripts(t, files...)
}
