package forge

import (
	"net/url"
	"strings"
)

// PullFilter narrows a list of pull requests. Empty fields don't.
type PullFilter struct {
	State string // open (default), closed or all
	Head  string // branch, or owner:branch
	Base  string // branch
}

// giteaPages is how many pages of pull requests are looked through where the forge itself cannot filter.
const (
	giteaPages = 10
	giteaPage  = "50"
)

// Pulls is the first page of a repository's pull requests.
func (c Client) Pulls(r Repo, f PullFilter) ([]Object, error) {
	if f.Head != "" && !strings.Contains(f.Head, ":") {
		f.Head = r.owner + ":" + f.Head // GitHub overlooks a head without its owner
	}
	query := url.Values{}
	set(query, "state", f.State)
	if c.gitea && (f.Head != "" || f.Base != "") {
		return c.filterPulls(r, f)
	}
	set(query, "head", f.Head)
	set(query, "base", f.Base)
	a, err := c.ask(request{path: r.path("/pulls"), query: query, what: "repo " + r.String()})
	if err != nil {
		return nil, err
	}
	return list(a.value)
}

// filterPulls does what GitHub's head and base do, for Gitea, among its newest 500 pull requests.
func (c Client) filterPulls(r Repo, f PullFilter) ([]Object, error) {
	found := []Object{}
	owner, branch, _ := strings.Cut(f.Head, ":")
	for page := 1; page <= giteaPages; page++ {
		query := c.pageOf(page, giteaPage)
		set(query, "state", f.State)
		a, err := c.ask(request{path: r.path("/pulls"), query: query, what: "repo " + r.String()})
		if err != nil {
			return nil, err
		}
		items, err := list(a.value)
		if err != nil {
			return nil, err
		}
		for _, one := range items {
			from := one.at("head", "ref") == branch && strings.EqualFold(one.at("head", "repo", "owner", "login"), owner)
			if (f.Head == "" || from) && (f.Base == "" || one.at("base", "ref") == f.Base) {
				found = append(found, one)
			}
		}
		if !a.more() {
			break
		}
	}
	return found, nil
}

// Pull is a pull request to be made.
type Pull struct {
	Title, Body string
	Head        string // branch, or owner:branch of a fork
	Base        string // branch
	Draft       bool
}

// CreatePull makes a pull request and returns it as the forge describes it.
func (c Client) CreatePull(r Repo, p Pull) (Object, error) {
	in := map[string]any{"title": p.Title, "head": p.Head, "base": p.Base, "body": p.Body}
	switch {
	case p.Draft && c.gitea && !strings.HasPrefix(strings.ToUpper(p.Title), "WIP:"):
		in["title"] = "WIP: " + p.Title // there the title makes a draft
	case p.Draft && !c.gitea:
		in["draft"] = true
	}
	a, err := c.ask(request{path: r.path("/pulls"), body: in, what: "a pull request from " + clean(p.Head) + " to " + clean(p.Base) + " of " + r.String()})
	if err != nil {
		return nil, err
	}
	return a.object("number", "url", "html_url")
}
