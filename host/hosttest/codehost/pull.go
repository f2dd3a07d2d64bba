package codehost

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

type pull struct {
	head, base string // branches; head as owner:branch
	draft      bool
}

func (x *exchange) createPull() {
	var in struct {
		Title string `json:"title"`
		Head  string `json:"head"`
		Base  string `json:"base"`
		Body  string `json:"body"`
		Draft bool   `json:"draft"`
	}
	if !x.read(&in) {
		return
	}
	owner, branch := x.head(in.Head)
	switch {
	case in.Title == "":
		x.invalid("PullRequest", "title", "missing_field", "")
		return
	case !slices.Contains(x.repo.Branches, in.Base):
		x.wrongBranch("base")
		return
	case owner != x.owner() || !slices.Contains(x.repo.Branches, branch):
		x.wrongBranch("head")
		return
	case branch == in.Base:
		x.invalid("PullRequest", "", "custom", fmt.Sprintf("No commits between %s and %s", in.Base, branch))
		return
	}
	made := x.newIssue(in.Title, in.Body)
	made.pull = &pull{head: owner + ":" + branch, base: in.Base, draft: in.Draft}
	if x.gitea { // there it is the title that makes a draft
		made.pull.draft = strings.HasPrefix(in.Title, "WIP:")
	}
	for _, other := range x.repo.issues {
		if other.pull != nil && other.state == "open" && other.pull.head == made.pull.head && other.pull.base == in.Base {
			x.secondPull(made.pull.head)
			return
		}
	}
	x.repo.issues = append(x.repo.issues, made)
	x.send(http.StatusCreated, x.renderPull(made))
}

func (x *exchange) wrongBranch(field string) {
	if x.gitea {
		x.notFound()
		return
	}
	x.invalid("PullRequest", field, "invalid", "")
}

func (x *exchange) secondPull(head string) {
	if x.gitea {
		x.fail(http.StatusConflict, "", "pull request already exists for these targets")
		return
	}
	x.invalid("PullRequest", "", "custom", "A pull request already exists for "+head+".")
}

func (x *exchange) owner() string {
	owner, _, _ := strings.Cut(x.repo.Name, "/")
	return owner
}

// head reads branch or owner:branch.
func (x *exchange) head(text string) (owner, branch string) {
	if owner, branch, ok := strings.Cut(text, ":"); ok {
		return owner, branch
	}
	return x.owner(), text
}

func (x *exchange) listPulls() {
	query := x.r.URL.Query()
	var found []*issue
	for _, one := range slices.Backward(x.repo.issues) {
		if one.pull == nil || !inState(one, query.Get("state")) {
			continue
		}
		// GitHub overlooks a head without an owner; Gitea has no such filters.
		head, base := query.Get("head"), query.Get("base")
		if !x.gitea && (strings.Contains(head, ":") && one.pull.head != head || base != "" && one.pull.base != base) {
			continue
		}
		found = append(found, one)
	}
	x.send(http.StatusOK, page(x, found, x.renderPull))
}

func (x *exchange) renderPull(one *issue) object {
	v := x.renderIssue(one)
	owner, branch := x.head(one.pull.head)
	delete(v, "pull_request")
	v["url"] = fmt.Sprintf("%s/repos/%s/pulls/%d", x.base, x.repo.Name, one.number)
	v["draft"] = one.pull.draft
	v["head"] = object{"label": one.pull.head, "ref": branch, "user": x.user(owner), "repo": object{"full_name": x.repo.Name, "owner": x.user(owner)}}
	v["base"] = object{"label": x.owner() + ":" + one.pull.base, "ref": one.pull.base, "repo": object{"full_name": x.repo.Name}}
	if x.gitea {
		v["head"].(object)["label"] = branch // Gitea leaves the owner out
	}
	return v
}

func (x *exchange) createRelease() {
	var in struct {
		Tag   string `json:"tag_name"`
		Name  string `json:"name"`
		Body  string `json:"body"`
		Draft bool   `json:"draft"`
	}
	if !x.read(&in) {
		return
	}
	switch {
	case in.Tag == "":
		x.invalid("Release", "tag_name", "missing_field", "")
		return
	case strings.ContainsAny(in.Tag, " ~^:?*[\\") || strings.Contains(in.Tag, ".."):
		x.invalid("Release", "tag_name", "custom", "tag_name is not a valid tag")
		return
	case slices.Contains(x.repo.releases, in.Tag):
		if x.gitea {
			x.fail(http.StatusConflict, "", "Release is has no Tag")
		} else {
			x.invalid("Release", "tag_name", "already_exists", "")
		}
		return
	}
	x.repo.releases = append(x.repo.releases, in.Tag)
	id := x.s.nextID()
	at := fmt.Sprintf("%s/repos/%s/releases/%d", x.base, x.repo.Name, id)
	v := object{
		"id": id, "url": at, "html_url": x.site(x.repo) + "/releases/tag/" + in.Tag, "upload_url": at + "/assets",
		"tag_name": in.Tag, "name": in.Name, "body": in.Body, "draft": in.Draft, "prerelease": false,
		"target_commitish": x.repo.Branches[0], "author": x.user(x.account.Login), "created_at": clock(id),
	}
	if !x.gitea {
		v["upload_url"] = at + "/assets{?name,label}"
	}
	x.send(http.StatusCreated, v)
}
