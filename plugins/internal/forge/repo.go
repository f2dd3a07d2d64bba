package forge

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

// maxName is the longest owner or name of a repository, in bytes.
const maxName = 100

// Repo is a repository of the forge.
type Repo struct{ owner, name string }

// ParseRepo reads owner/name.
func ParseRepo(text string) (Repo, error) {
	if text == "" {
		return Repo{}, pdk.Failed("repo is missing: name the repository as owner/name")
	}
	owner, name, _ := strings.Cut(text, "/")
	if !validName(owner) || !validName(name) {
		return Repo{}, pdk.Failed("repo %q is not of the form owner/name, of letters, digits, hyphens, underscores and dots", clean(text))
	}
	return Repo{owner, name}, nil
}

func validName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("-_.", r)
	})
}

func (r Repo) String() string { return r.owner + "/" + r.name }

// path is that of something below the repository.
func (r Repo) path(below string) string { return "/repos/" + r.owner + "/" + r.name + below }

// Required refuses a field that is empty or blank; hint says what belongs there.
func Required(field, value, hint string) error {
	if strings.TrimSpace(value) == "" {
		return pdk.Failed("%s is missing: %s", field, hint)
	}
	return nil
}

// RequiredNumber refuses a number that is missing or none of an issue.
func RequiredNumber(n int64) error {
	if n < 1 {
		return pdk.Failed("issue_number is missing: give the number of an issue or pull request, from 1")
	}
	return nil
}

// pageOf is a query for a page of a list, with as many things as both flavours give at once.
func (c Client) pageOf(number int, size string) url.Values {
	name := "per_page"
	if c.gitea {
		name = "limit"
	}
	return url.Values{"page": {strconv.Itoa(number)}, name: {size}}
}
