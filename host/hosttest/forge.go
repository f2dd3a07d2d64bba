package hosttest

import (
	"testing"

	"github.com/gantry-packs/gantry/host/hosttest/codehost"
)

// Forge stands in for the code forge. Scripts run at the same time against one, so each has a repository of its own.
type Forge struct {
	URL  string // GitHub's API; what the server shall be told as GANTRY_FORGE_API_URL
	Site *codehost.Server
}

// StartForge runs a stand-in until the end of the test.
func StartForge(t testing.TB) *Forge {
	labels := []string{"bug", "ui", "help wanted"}
	branches := []string{"main", "fix-crash", "docs"}
	site, url := codehost.Start(t,
		codehost.Repo{Name: "octo/issues", Labels: labels},
		codehost.Repo{Name: "octo/lists", Labels: labels},
		codehost.Repo{Name: "octo/comments", Branches: branches},
		codehost.Repo{Name: "octo/reads", Labels: labels},
		codehost.Repo{Name: "octo/pulls", Branches: branches},
		codehost.Repo{Name: "octo/branches", Branches: branches},
		codehost.Repo{Name: "octo/releases"},
		codehost.Repo{Name: "octo/library", Files: map[string]string{"lib/parse.go": "func parseHeader() {}"}, Commits: []string{"Parse headers"}},
		codehost.Repo{Name: "octo/secret", Private: true, Labels: labels},
	)
	for name, n := range map[string]int{"octo/lists": 33, "octo/comments": 2, "octo/reads": 16, "octo/library": 3} {
		if err := site.Fill(name, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, head := range branches[1:] {
		if err := site.OpenPull("octo/pulls", head, "main"); err != nil {
			t.Fatal(err)
		}
	}
	return &Forge{URL: url, Site: site}
}

// Env are the variables of a script: FORGE_URL and the tokens of three accounts, that of one who may write, one who may only
// read and one who has asked too often.
func (f *Forge) Env() []string {
	return []string{
		"FORGE_URL=" + f.URL, "FORGE_TOKEN=" + codehost.WriterToken, "FORGE_READER_TOKEN=" + codehost.ReaderToken, "FORGE_USEDUP_TOKEN=" + codehost.UsedUpToken,
	}
}
