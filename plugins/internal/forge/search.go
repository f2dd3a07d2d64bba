package forge

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/gantry-packs/gantry/pdk"
)

// Found is the first page of what a search found, and how much there is in all.
type Found struct {
	TotalCount json.Number `json:"total_count"`
	Items      []Object    `json:"items"`
	Incomplete bool        `json:"incomplete_results,omitempty"` // the forge ran out of time
}

// Search looks for code, issues, repositories or commits. The query's syntax is the forge's.
func (c Client) Search(kind, text string) (Found, error) {
	switch kind {
	case "code", "issues", "repositories", "commits":
	default:
		return Found{}, pdk.Failed("type %q: search for code, issues, repositories or commits", clean(kind))
	}
	if c.gitea {
		return c.searchGitea(kind, text)
	}
	a, err := c.ask(request{path: "/search/" + kind, query: url.Values{"q": {text}}, what: "the search for " + kind})
	if err != nil {
		return Found{}, err
	}
	o, err := a.object()
	if err != nil {
		return Found{}, err
	}
	total, ok := o["total_count"].(json.Number)
	if _, err := total.Int64(); !ok || err != nil {
		return Found{}, unexpected("a total_count")
	}
	items, err := list(o["items"])
	incomplete, _ := o["incomplete_results"].(bool)
	return Found{total, items, incomplete}, err
}

// searchGitea finds repositories and issues, for that is what Gitea's API can. The number of all stands in a header.
func (c Client) searchGitea(kind, text string) (Found, error) {
	query := url.Values{"q": {text}}
	var path string
	switch kind {
	case "repositories":
		path = "/repos/search"
	case "issues":
		path = "/repos/issues/search"
		query.Set("state", "all") // as on GitHub
	default:
		return Found{}, pdk.Failed("this forge's API cannot search for %s: use issues or repositories, or search a clone", kind)
	}
	a, err := c.ask(request{path: path, query: query, what: "the search for " + kind})
	if err != nil {
		return Found{}, err
	}
	v := a.value
	if wrapped, ok := v.(map[string]any); ok {
		v = wrapped["data"]
	}
	items, err := list(v)
	if err != nil {
		return Found{}, err
	}
	total := header(a.resp, "X-Total-Count")
	if _, err := strconv.ParseInt(total, 10, 64); err != nil {
		total = strconv.Itoa(len(items))
	}
	return Found{TotalCount: json.Number(total), Items: items}, nil
}
