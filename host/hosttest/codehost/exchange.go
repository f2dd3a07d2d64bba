package codehost

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// exchange is one request with its answer. The server is locked while it is answered.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	gitea   bool
	base    string // of the API's addresses
	account *Account
	repo    *repo
}

type object = map[string]any

// identify finds the account of the Authorization header; a wrong token is refused, no token is nobody.
func (x *exchange) identify() bool {
	header := x.r.Header.Get("Authorization")
	if header == "" {
		x.account = &x.s.anonymous
		return true
	}
	scheme, token, _ := strings.Cut(header, " ")
	known := x.s.accounts[token]
	if known == nil || !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
		x.fail(http.StatusUnauthorized, "Bad credentials", "invalid username, password or token")
		return false
	}
	x.account = known
	return true
}

// spend counts the request against the account's hour and says how much of it is left.
func (x *exchange) spend() bool {
	if x.gitea {
		return true // Gitea limits nothing by itself
	}
	limit := x.account.Quota
	switch {
	case limit == 0 && x.account == &x.s.anonymous:
		limit = anonymousQuota
	case limit == 0:
		limit = accountQuota
	}
	if x.account.used < limit {
		x.account.used++
		x.rate(limit, limit-x.account.used)
		return true
	}
	x.rate(limit, 0)
	x.fail(http.StatusForbidden, "API rate limit exceeded for 192.0.2.1. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)", "")
	return false
}

func (x *exchange) rate(limit, left int) {
	h := x.w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Used", strconv.Itoa(limit-left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
}

func (x *exchange) mayWrite() bool {
	switch {
	case x.account == &x.s.anonymous:
		x.fail(http.StatusUnauthorized, "Requires authentication", "token is required")
	case x.account.ReadOnly:
		x.fail(http.StatusForbidden, "Resource not accessible by personal access token", "token does not have at least one of required scope(s): [write:repository]")
	default:
		return true
	}
	return false
}

func (x *exchange) notFound() {
	x.fail(http.StatusNotFound, "Not Found", "The target couldn't be found.")
}

// fail answers an error, in GitHub's words or in Gitea's ("" for the same).
func (x *exchange) fail(status int, github, gitea string) {
	if x.gitea {
		if gitea == "" {
			gitea = github
		}
		x.send(status, object{"message": gitea, "url": x.base + "/swagger"})
		return
	}
	x.send(status, object{"message": github, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
}

// invalid answers 422 with what is wrong with one field. Gitea has but a line of text for it.
func (x *exchange) invalid(resource, field, code, message string) {
	if x.gitea {
		x.fail(http.StatusUnprocessableEntity, "", "["+field+"]: "+code+" "+message)
		return
	}
	wrong := object{"resource": resource, "field": field, "code": code}
	if message != "" {
		wrong["message"] = message
	}
	x.send(http.StatusUnprocessableEntity, object{
		"message": "Validation Failed", "errors": []object{wrong}, "documentation_url": "https://docs.github.com/rest", "status": "422",
	})
}

func (x *exchange) send(status int, v any) {
	h := x.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("%04X", x.s.nextID()))
	x.w.WriteHeader(status)
	_ = json.NewEncoder(x.w).Encode(v) // a client that went away is the client's affair
}

// read decodes the request's body.
func (x *exchange) read(v any) bool {
	if err := json.NewDecoder(x.r.Body).Decode(v); err != nil {
		if x.gitea {
			x.fail(http.StatusUnprocessableEntity, "", "json: "+err.Error())
		} else {
			x.fail(http.StatusBadRequest, "Problems parsing JSON", "")
		}
		return false
	}
	return true
}

// page answers one page of a list: 30 things unless the request says otherwise, with a Link header to the others.
func page[T any](x *exchange, all []T, render func(T) object) []object {
	query := x.r.URL.Query()
	name, most := "per_page", 100
	if x.gitea {
		name, most = "limit", 50
	}
	size, _ := strconv.Atoi(query.Get(name))
	if size < 1 {
		size = 30
	}
	size = min(size, most)
	number, _ := strconv.Atoi(query.Get("page"))
	number = max(number, 1)
	last := max((len(all)+size-1)/size, 1)
	if link := links(x, query, number, last); link != "" {
		x.w.Header().Set("Link", link)
	}
	if x.gitea {
		x.w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	}
	items := []object{}
	for _, one := range all[min((number-1)*size, len(all)):min(number*size, len(all))] {
		items = append(items, render(one))
	}
	return items
}

func links(x *exchange, query url.Values, number, last int) string {
	var parts []string
	to := func(page int, rel string) {
		query.Set("page", strconv.Itoa(page))
		parts = append(parts, fmt.Sprintf("<%s%s?%s>; rel=%q", x.base, x.r.URL.Path, query.Encode(), rel))
	}
	if number > 1 {
		to(number-1, "prev")
	}
	if number < last {
		to(number+1, "next")
		to(last, "last")
	}
	if number > 1 {
		to(1, "first")
	}
	return strings.Join(parts, ", ")
}
