package codehost

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

type repo struct {
	Repo
	id       int64
	labels   []label
	issues   []*issue // pull requests too: they share the numbers
	releases []string // tags
}

type label struct {
	id   int64
	name string
}

type issue struct {
	id        int64
	number    int
	title     string
	body      string
	state     string
	author    string
	labels    []label
	assignees []string
	comments  []comment
	pull      *pull // nil for an issue
}

type comment struct {
	id     int64
	body   string
	author string
}

func (x *exchange) listIssues() {
	query := x.r.URL.Query()
	assignee := query.Get("assignee")
	if x.gitea {
		assignee = query.Get("assigned_by")
	}
	var wanted []string
	if text := query.Get("labels"); text != "" {
		wanted = strings.Split(text, ",")
	}
	var found []*issue
	for _, one := range slices.Backward(x.repo.issues) {
		if inState(one, query.Get("state")) && x.hasLabels(one, wanted) && (assignee == "" || slices.Contains(one.assignees, assignee)) {
			found = append(found, one)
		}
	}
	x.send(http.StatusOK, page(x, found, x.renderIssue))
}

// hasLabels is all of them on GitHub and, as Gitea's documentation says, any of them there.
func (x *exchange) hasLabels(one *issue, wanted []string) bool {
	if len(wanted) == 0 {
		return true
	}
	has := func(name string) bool {
		return slices.ContainsFunc(one.labels, func(l label) bool { return strings.EqualFold(l.name, name) })
	}
	if x.gitea {
		return slices.ContainsFunc(wanted, has)
	}
	return !slices.ContainsFunc(wanted, func(name string) bool { return !has(name) })
}

func inState(one *issue, state string) bool {
	if state == "" {
		state = "open"
	}
	return state == "all" || one.state == state
}

func (x *exchange) createIssue() {
	var in struct {
		Title     string   `json:"title"`
		Body      string   `json:"body"`
		Labels    []any    `json:"labels"` // names on GitHub, ids on Gitea
		Assignees []string `json:"assignees"`
	}
	if !x.read(&in) {
		return
	}
	if strings.TrimSpace(in.Title) == "" {
		x.invalid("Issue", "title", "missing_field", "")
		return
	}
	made := x.newIssue(in.Title, in.Body)
	made.assignees = in.Assignees
	for _, l := range in.Labels {
		known, ok := x.findLabel(l)
		if !ok && x.gitea {
			continue
		}
		if !ok {
			// GitHub makes a label that it doesn't know, for an account that may write.
			known = label{x.s.nextID(), fmt.Sprint(l)}
			x.repo.labels = append(x.repo.labels, known)
		}
		made.labels = append(made.labels, known)
	}
	x.repo.issues = append(x.repo.issues, made)
	x.send(http.StatusCreated, x.renderIssue(made))
}

func (x *exchange) newIssue(title, body string) *issue {
	return &issue{id: x.s.nextID(), number: len(x.repo.issues) + 1, title: title, body: body, state: "open", author: x.account.Login}
}

func (x *exchange) findLabel(l any) (label, bool) {
	all := x.repo.labels
	if x.gitea {
		all = slices.Concat(all, x.s.orgs[x.owner()])
	}
	i := slices.IndexFunc(all, func(known label) bool {
		id, isID := l.(float64)
		name, isName := l.(string)
		return x.gitea && isID && known.id == int64(id) || !x.gitea && isName && strings.EqualFold(known.name, name)
	})
	if i < 0 {
		return label{}, false
	}
	return all[i], true
}

// findIssue is the issue or pull request of the path's number.
func (x *exchange) findIssue() (*issue, bool) {
	number, err := strconv.Atoi(x.r.PathValue("number"))
	if err != nil || number < 1 || number > len(x.repo.issues) {
		x.notFound()
		return nil, false
	}
	return x.repo.issues[number-1], true
}

func (x *exchange) getIssue() {
	if one, ok := x.findIssue(); ok {
		x.send(http.StatusOK, x.renderIssue(one))
	}
}

func (x *exchange) createComment() {
	one, ok := x.findIssue()
	var in struct {
		Body string `json:"body"`
	}
	if !ok || !x.read(&in) {
		return
	}
	if in.Body == "" {
		x.invalid("IssueComment", "body", "missing_field", "body is too short (minimum is 1 character)")
		return
	}
	made := comment{x.s.nextID(), in.Body, x.account.Login}
	one.comments = append(one.comments, made)
	x.send(http.StatusCreated, x.renderComment(one, made))
}

func (x *exchange) listComments() {
	if one, ok := x.findIssue(); ok {
		x.send(http.StatusOK, page(x, one.comments, func(c comment) object { return x.renderComment(one, c) }))
	}
}

func (x *exchange) listLabels() {
	x.send(http.StatusOK, page(x, x.repo.labels, x.renderLabel))
}

func (x *exchange) listOrgLabels() {
	labels, ok := x.s.orgs[x.r.PathValue("org")]
	if !ok {
		x.notFound()
		return
	}
	x.send(http.StatusOK, page(x, labels, x.renderLabel))
}

func (x *exchange) renderLabel(l label) object {
	return object{"id": l.id, "name": l.name, "color": "ededed"}
}

// site is the address of a repository's page.
func (x *exchange) site(r *repo) string { return "http://" + x.r.Host + "/" + r.Name }

func (x *exchange) user(login string) object {
	return object{"login": login, "id": len(login), "html_url": "http://" + x.r.Host + "/" + login}
}

func (x *exchange) renderIssue(one *issue) object { return x.renderIssueOf(x.repo, one) }

func (x *exchange) renderIssueOf(r *repo, one *issue) object {
	kind := "issues"
	if one.pull != nil {
		kind = "pull"
	}
	labels, assignees := []object{}, []object{}
	for _, l := range one.labels {
		labels = append(labels, x.renderLabel(l))
	}
	for _, a := range one.assignees {
		assignees = append(assignees, x.user(a))
	}
	v := object{
		"id": one.id, "number": one.number, "title": one.title, "state": one.state, "labels": labels, "assignees": assignees,
		"url": x.base + "/repos/" + r.Name + "/issues/" + strconv.Itoa(one.number), "user": x.user(one.author),
		"html_url": x.site(r) + "/" + kind + "/" + strconv.Itoa(one.number), "comments": len(one.comments),
		"created_at": clock(one.id), "updated_at": clock(one.id), "closed_at": nil, "body": one.body,
	}
	if one.body == "" && !x.gitea {
		v["body"] = nil
	}
	if one.pull != nil {
		v["pull_request"] = object{"url": x.base + "/repos/" + r.Name + "/pulls/" + strconv.Itoa(one.number), "merged_at": nil}
	}
	return v
}

// renderComment is a comment as each of the two writes it: Gitea's has no url.
func (x *exchange) renderComment(of *issue, c comment) object {
	v := object{
		"id": c.id, "body": c.body, "user": x.user(c.author), "created_at": clock(c.id), "updated_at": clock(c.id),
		"html_url":  fmt.Sprintf("%s/issues/%d#issuecomment-%d", x.site(x.repo), of.number, c.id),
		"issue_url": fmt.Sprintf("%s/repos/%s/issues/%d", x.base, x.repo.Name, of.number),
	}
	if !x.gitea {
		v["url"] = fmt.Sprintf("%s/repos/%s/issues/comments/%d", x.base, x.repo.Name, c.id)
	}
	return v
}
