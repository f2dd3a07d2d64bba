package forge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

const (
	labelPages = 10    // of a repository's labels that are looked through, of up to 100 each
	labelPage  = "100" // things a page; Gitea gives 50 at most
)

// CreateIssue makes an issue and returns it as the forge describes it. Labels that the repository does not have are dropped.
func (c Client) CreateIssue(r Repo, title, body string, labels []string) (Object, error) {
	in := map[string]any{"title": title, "body": body}
	known, err := c.knownLabels(r, labels)
	if err != nil {
		return nil, err
	}
	if len(known) > 0 {
		in["labels"] = known
	}
	a, err := c.ask(request{path: r.path("/issues"), body: in, what: "repo " + r.String()})
	if err != nil {
		return nil, err
	}
	return a.object("number", "url", "html_url")
}

// knownLabels are those of the labels that the repository has, as the forge wants them in a new issue: names, and ids on
// Gitea. They have to be looked up before, for GitHub would make a label that it does not know. What a Gitea organisation
// has for all its repositories counts too.
func (c Client) knownLabels(r Repo, labels []string) ([]any, error) {
	missing := map[string]bool{}
	for _, name := range labels {
		if name = strings.TrimSpace(name); name != "" {
			missing[strings.ToLower(name)] = true
		}
	}
	known, err := c.findLabels(r.path("/labels"), "repo "+r.String(), missing)
	if err != nil || !c.gitea || len(missing) == 0 {
		return known, err
	}
	// An owner that is no organisation is answered 404; without its labels the issue is made all the same.
	more, err := c.findLabels("/orgs/"+r.owner+"/labels", "organisation "+r.owner, missing)
	if err != nil {
		return known, nil
	}
	return append(known, more...), nil
}

// findLabels looks for the missing labels in a list of the forge and takes those it finds out of missing.
func (c Client) findLabels(path, what string, missing map[string]bool) ([]any, error) {
	var found []any
	for page := 1; page <= labelPages && len(missing) > 0; page++ {
		a, err := c.ask(request{path: path, query: c.pageOf(page, labelPage), what: what})
		if err != nil {
			return nil, err
		}
		items, err := list(a.value)
		if err != nil {
			return nil, err
		}
		for _, l := range items {
			name := l.at("name")
			if key := strings.ToLower(name); missing[key] {
				delete(missing, key)
				if c.gitea {
					found = append(found, l["id"])
				} else {
					found = append(found, name)
				}
			}
		}
		if !a.more() {
			break
		}
	}
	return found, nil
}

// IssueFilter narrows a list of issues. Empty fields don't.
type IssueFilter struct {
	State    string // open (default), closed or all
	Labels   string // comma-separated; an issue must have all of them
	Assignee string
}

// Issues is the first page of a repository's issues, as the forge gives them: on GitHub and Gitea pull requests are issues too.
func (c Client) Issues(r Repo, f IssueFilter) ([]Object, error) {
	query := url.Values{}
	labels := splitLabels(f.Labels)
	set(query, "state", f.State)
	set(query, "labels", strings.Join(labels, ","))
	if c.gitea {
		set(query, "assigned_by", f.Assignee)
	} else {
		set(query, "assignee", f.Assignee)
	}
	a, err := c.ask(request{path: r.path("/issues"), query: query, what: "repo " + r.String()})
	if err != nil {
		return nil, err
	}
	issues, err := list(a.value)
	if err != nil || !c.gitea || len(labels) < 2 {
		return issues, err
	}
	all := []Object{} // Gitea's are those with any of the labels
	for _, one := range issues {
		if one.hasLabels(labels) {
			all = append(all, one)
		}
	}
	return all, nil
}

func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

func splitLabels(text string) []string {
	var labels []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			labels = append(labels, name)
		}
	}
	return labels
}

func (o Object) hasLabels(wanted []string) bool {
	has := map[string]bool{}
	labels, _ := o["labels"].([]any)
	for _, l := range labels {
		one, _ := l.(map[string]any)
		has[strings.ToLower(Object(one).at("name"))] = true
	}
	for _, name := range wanted {
		if !has[strings.ToLower(name)] {
			return false
		}
	}
	return true
}

// Issue is an issue or a pull request as the forge describes it.
func (c Client) Issue(r Repo, number int64) (Object, error) {
	a, err := c.ask(request{path: r.path("/issues/" + strconv.FormatInt(number, 10)), what: fmt.Sprintf("issue %d of %s", number, r)})
	if err != nil {
		return nil, err
	}
	return a.object("number", "title", "state", "html_url")
}

// Made names a thing that was made.
type Made struct {
	ID      json.Number `json:"id"`
	URL     string      `json:"url"` // of the API
	HTMLURL string      `json:"html_url"`
}

func (o Object) made() Made {
	id, _ := o["id"].(json.Number)
	return Made{ID: id, URL: o.at("url"), HTMLURL: o.at("html_url")}
}

// Comment adds a comment to an issue or a pull request.
func (c Client) Comment(r Repo, number int64, body string) (Made, error) {
	a, err := c.ask(request{
		path: r.path("/issues/" + strconv.FormatInt(number, 10) + "/comments"), body: map[string]string{"body": body},
		what: fmt.Sprintf("issue %d of %s", number, r),
	})
	if err != nil {
		return Made{}, err
	}
	o, err := a.object("id", "html_url")
	if err != nil {
		return Made{}, err
	}
	m := o.made()
	if m.URL == "" { // Gitea leaves it out
		m.URL = c.base + r.path("/issues/comments/"+m.ID.String())
	}
	return m, nil
}
