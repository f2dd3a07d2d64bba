package codehost

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Trouble is a way in which every request about a repository goes wrong.
type Trouble string

// The troubles.
const (
	Slow       Trouble = "slow"       // no answer before the client gives up
	CutOff     Trouble = "cutoff"     // the body ends before its announced length
	HTML       Trouble = "html"       // a page, with status 200
	HTMLError  Trouble = "htmlerror"  // a page, with status 502, as a proxy in front answers
	Broken     Trouble = "broken"     // 500
	NotJSON    Trouble = "notjson"    // JSON by its type, but it isn't
	OtherJSON  Trouble = "otherjson"  // JSON of another shape
	Huge       Trouble = "huge"       // a body of more than 64 MiB
	Large      Trouble = "large"      // a good list of issues, of 7.5 MiB
	Deep       Trouble = "deep"       // JSON that is nested 100,000 deep
	Metadata   Trouble = "metadata"   // a redirect to the address where clouds keep their secrets
	Moved      Trouble = "moved"      // a redirect within the API, as for a renamed repository, that leads nowhere
	Echo       Trouble = "echo"       // an error that quotes the request's Authorization header
	EchoOK     Trouble = "echook"     // a good answer that quotes it
	Limited    Trouble = "limited"    // 403: the hour is used up
	Secondary  Trouble = "secondary"  // 429 with Retry-After
	Disabled   Trouble = "disabled"   // 410: the repository has no issues
	SeveralBad Trouble = "severalbad" // 422 with several errors, one a text
)

// Troubles are all of them.
func Troubles() []Trouble {
	return []Trouble{Slow, CutOff, HTML, HTMLError, Broken, NotJSON, OtherJSON, Huge, Large, Deep, Metadata, Moved, Echo, EchoOK, Limited, Secondary, Disabled, SeveralBad}
}

const (
	page404  = "<!DOCTYPE html>\n<html><body><h1>It works!</h1></body></html>\n"
	hugeSize = 64 << 20

	largeIssues = 30
	largeBody   = 256 << 10 // bytes as JSON
)

// misbehave answers in the way that t names. It says false for an unknown trouble.
func (x *exchange) misbehave(t Trouble) bool {
	switch t {
	case HTML:
		x.raw(http.StatusOK, "text/html; charset=utf-8", page404)
	case HTMLError:
		x.raw(http.StatusBadGateway, "text/html; charset=utf-8", page404)
	case Broken:
		x.fail(http.StatusInternalServerError, "Server Error", "")
	case NotJSON:
		x.raw(http.StatusOK, "application/json", `{"number": 1,`)
	case OtherJSON:
		x.raw(http.StatusOK, "application/json", `"fine"`)
	case Large:
		var items []object
		for number := range largeIssues {
			one := &issue{id: x.s.nextID(), number: number + 1, title: "large", state: "open", author: "mallory"}
			one.body = strings.Repeat("ä\n- x ", largeBody/8)
			items = append(items, x.renderIssue(one))
		}
		x.send(http.StatusOK, items)
	case Deep:
		x.raw(http.StatusOK, "application/json", strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
	case Echo:
		x.fail(http.StatusInternalServerError, "cannot handle Authorization: "+x.r.Header.Get("Authorization"), "")
	case EchoOK:
		x.echo()
	case Limited:
		x.rate(anonymousQuota, 0)
		x.fail(http.StatusForbidden, "API rate limit exceeded for 192.0.2.1.", "")
	case Secondary:
		x.w.Header().Set("Retry-After", "60")
		x.fail(http.StatusTooManyRequests, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", "")
	case Disabled:
		x.fail(http.StatusGone, "Issues has been disabled in this repository.", "")
	case SeveralBad:
		x.send(http.StatusUnprocessableEntity, object{"message": "Validation Failed", "errors": []any{
			"body is too long (maximum is 65536 characters)", object{"resource": "Issue", "field": "title", "code": "missing_field"},
		}})
	default:
		return x.misconnect(t)
	}
	return true
}

// misconnect answers in the ways that are wrong below the body.
func (x *exchange) misconnect(t Trouble) bool {
	switch t {
	case Slow:
		x.s.mu.Unlock() // the others are served in the meantime
		select {
		case <-x.r.Context().Done():
		case <-time.After(2 * time.Minute):
		}
		x.s.mu.Lock()
	case CutOff:
		x.w.Header().Set("Content-Length", "5000")
		x.raw(http.StatusOK, "application/json", `{"number": 1, "title": "cut`)
	case Huge:
		x.w.Header().Set("Content-Type", "application/json")
		chunk := []byte(`"` + strings.Repeat("x", 1<<20))
		for range hugeSize / len(chunk) {
			if _, err := x.w.Write(chunk); err != nil {
				return true // the client has seen enough
			}
		}
	case Metadata:
		x.w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/iam/")
		x.fail(http.StatusFound, "Found", "")
	case Moved:
		id := x.s.nextID()
		x.w.Header().Set("Location", x.base+"/repositories/"+strconv.FormatInt(id, 10))
		x.fail(http.StatusMovedPermanently, "Moved Permanently", "")
	default:
		return false
	}
	return true
}

// echo is a whole issue, for any request, that tells what it was asked with.
func (x *exchange) echo() {
	secret := x.r.Header.Get("Authorization")
	one := &issue{id: x.s.nextID(), number: 1, title: secret, body: secret, state: "open", author: "mallory"}
	v := x.renderIssue(one)
	v["upload_url"] = x.base + "/uploads"
	if x.r.Method == http.MethodGet {
		x.send(http.StatusOK, []any{v})
		return
	}
	x.send(http.StatusCreated, v)
}

func (x *exchange) raw(status int, contentType, body string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	_, _ = x.w.Write([]byte(body)) // a client that went away is the client's affair
}
