package codehost

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// hit is one thing found.
type hit struct{ v object }

// terms are a query's words and its repo: and is: qualifiers; other qualifiers are overlooked.
type terms struct {
	words []string
	repo  string
	is    []string
}

func parse(q string) terms {
	var t terms
	for _, word := range strings.Fields(strings.ToLower(q)) {
		name, value, qualified := strings.Cut(word, ":")
		switch {
		case !qualified:
			t.words = append(t.words, strings.Trim(word, `"`))
		case name == "repo":
			t.repo = value
		case name == "is":
			t.is = append(t.is, value)
		}
	}
	return t
}

func (t terms) fit(text string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(t.words, func(w string) bool { return !strings.Contains(text, w) })
}

// visible are the repositories that the caller sees and the query means, by name.
func (x *exchange) visible(t terms) []*repo {
	var found []*repo
	for _, name := range slices.Sorted(maps.Keys(x.s.repos)) {
		r := x.s.repos[name]
		if (t.repo == "" || t.repo == name) && !(r.Private && x.account == &x.s.anonymous) && r.Trouble == "" {
			found = append(found, r)
		}
	}
	return found
}

func (x *exchange) search() {
	q := x.r.URL.Query().Get("q")
	if strings.TrimSpace(q) == "" {
		x.invalid("Search", "q", "missing", "")
		return
	}
	t := parse(q)
	if trouble, ok := strings.CutPrefix(t.repo, "trouble/"); ok {
		x.repo = x.s.repos[t.repo]
		if x.repo != nil && x.misbehave(Trouble(trouble)) {
			return
		}
	}
	var found []hit
	switch x.r.PathValue("kind") {
	case "code":
		if x.account == &x.s.anonymous {
			x.fail(http.StatusUnauthorized, "Requires authentication", "")
			return
		}
		found = x.findCode(t)
	case "issues":
		found = x.findIssues(t)
	case "repositories":
		found = x.findRepos(t)
	case "commits":
		found = x.findCommits(t)
	default:
		x.notFound()
		return
	}
	items := page(x, found, func(h hit) object { return h.v })
	x.send(http.StatusOK, object{"total_count": len(found), "incomplete_results": false, "items": items})
}

func (x *exchange) findCode(t terms) []hit {
	var found []hit
	for _, r := range x.visible(t) {
		for _, path := range slices.Sorted(maps.Keys(r.Files)) {
			if t.fit(r.Files[path]) {
				found = append(found, hit{object{"name": path[strings.LastIndex(path, "/")+1:], "path": path, "html_url": x.site(r) + "/blob/main/" + path, "repository": x.renderRepo(r), "score": 1.0}})
			}
		}
	}
	return found
}

func (x *exchange) findIssues(t terms) []hit {
	var found []hit
	for _, r := range x.visible(t) {
		for _, one := range slices.Backward(r.issues) {
			wrongKind := slices.Contains(t.is, "issue") && one.pull != nil || slices.Contains(t.is, "pr") && one.pull == nil
			wrongState := slices.Contains(t.is, "open") && one.state != "open" || slices.Contains(t.is, "closed") && one.state != "closed"
			if !wrongKind && !wrongState && t.fit(one.title+"\n"+one.body) {
				found = append(found, hit{x.renderIssueOf(r, one)})
			}
		}
	}
	return found
}

func (x *exchange) findRepos(t terms) []hit {
	var found []hit
	for _, r := range x.visible(t) {
		if t.fit(r.Name) {
			found = append(found, hit{x.renderRepo(r)})
		}
	}
	return found
}

func (x *exchange) findCommits(t terms) []hit {
	var found []hit
	for _, r := range x.visible(t) {
		for _, message := range r.Commits {
			if t.fit(message) {
				found = append(found, hit{object{"sha": strings.Repeat("a", 40), "commit": object{"message": message}, "repository": x.renderRepo(r)}})
			}
		}
	}
	return found
}

func (x *exchange) renderRepo(r *repo) object {
	owner, name, _ := strings.Cut(r.Name, "/")
	return object{"id": r.id, "name": name, "full_name": r.Name, "owner": x.user(owner), "private": r.Private, "html_url": x.site(r)}
}

// searchReposGitea wraps its list, where searchIssuesGitea has a bare one; the number of all stands in X-Total-Count.
func (x *exchange) searchReposGitea() {
	found := x.findRepos(terms{words: strings.Fields(strings.ToLower(x.r.URL.Query().Get("q")))})
	x.send(http.StatusOK, object{"ok": true, "data": page(x, found, func(h hit) object { return h.v })})
}

func (x *exchange) searchIssuesGitea() {
	found := x.findIssues(terms{words: strings.Fields(strings.ToLower(x.r.URL.Query().Get("q")))})
	x.send(http.StatusOK, page(x, found, func(h hit) object { return h.v }))
}
