package forge

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	maxSaid   = 300 // characters of the forge's own words that are passed on
	maxErrors = 5   // of the list in a 422
)

// facts is what a program may want to know of a refusal; it becomes the error's details.
type facts struct {
	Status     int    `json:"upstream_status"`
	ResetAt    string `json:"rate_limit_reset,omitempty"` // RFC 3339
	RetryAfter string `json:"retry_after,omitempty"`      // as the forge said it: seconds, or a date
}

// problem says what an answer that is no 2xx means and what to do about it. what names the thing asked about.
func (c Client) problem(resp pdk.HTTPResponse, raw []byte, what string) error {
	said := words(raw)
	f := facts{Status: resp.Status, RetryAfter: clean(header(resp, "Retry-After"))}
	limited := resp.Status == 429 || resp.Status == 403 &&
		(header(resp, "X-RateLimit-Remaining") == "0" || f.RetryAfter != "" || strings.Contains(strings.ToLower(said), "rate limit"))
	if seconds, err := strconv.ParseInt(header(resp, "X-RateLimit-Reset"), 10, 64); err == nil && limited {
		f.ResetAt = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	text := c.advice(resp.Status, what)
	if limited {
		text = c.patience(f)
	}
	if said != "" {
		text += " (the forge said: " + said + ")"
	}
	return (&pdk.Error{Code: pdk.HandlerFailed, Message: text}).WithDetails(f)
}

// patience is the advice to whoever asked too often.
func (c Client) patience(f facts) string {
	text := "the forge has rate limited these requests: "
	switch {
	case f.RetryAfter != "":
		text += "retry after " + f.RetryAfter
		if _, err := strconv.Atoi(f.RetryAfter); err == nil {
			text += " seconds"
		}
	case f.ResetAt != "":
		text += "the limit resets at " + f.ResetAt
	default:
		text += "wait some minutes"
	}
	if c.credential == "" {
		text += "; requests without a credential have 60 an hour: store a token as " + defaultCredential
	}
	return text
}

// advice is what a status means for what was asked.
func (c Client) advice(status int, what string) string {
	switch {
	case status == 401 && c.credential == "":
		return "the forge answered 401: this needs a credential; store a token in the vault as " + defaultCredential
	case status == 401:
		return "the forge answered 401: it does not take the token of credential " + c.credential + "; rotate it"
	case status == 403:
		return "the forge answered 403: " + c.who() + " lacks the right to do this to " + what
	case status == 404 && c.credential == "":
		return "the forge answered 404: " + what + " does not exist, or is private: store a token in the vault as " + defaultCredential
	case status == 404:
		return "the forge answered 404: " + what + " does not exist, or " + c.who() + " may not see it"
	case status == 409:
		return "the forge answered 409: what is to be made conflicts with what " + what + " has already"
	case status == 410:
		return "the forge answered 410: " + what + " is gone or disabled"
	case status == 422:
		return "the forge answered 422: it does not accept this for " + what
	case status >= 500:
		return "the forge answered " + strconv.Itoa(status) + ": it is in trouble; try again later"
	case status >= 300 && status < 400:
		return "the forge answered " + strconv.Itoa(status) + ": " + what + " may have moved; ask with its new name"
	}
	return "the forge answered " + strconv.Itoa(status) + " about " + what
}

func (c Client) who() string {
	if c.credential == "" {
		return "a caller without a credential"
	}
	return "the token of credential " + c.credential
}

// words are the forge's own: the message of its JSON with the list of errors of a 422.
func words(raw []byte) string {
	var body struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	// An error is in the end a body that is no such JSON, of which whatever was understood is good enough.
	_ = json.Unmarshal(raw, &body)
	parts := []string{}
	if body.Message != "" {
		parts = append(parts, body.Message)
	}
	for _, e := range body.Errors[:min(len(body.Errors), maxErrors)] {
		if text := wrongField(e); text != "" {
			parts = append(parts, text)
		}
	}
	return clean(strings.Join(parts, "; "))
}

// wrongField reads one of a 422's errors: a text, or an object with a message or a code.
func wrongField(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var e struct{ Field, Code, Message string }
	_ = json.Unmarshal(raw, &e) // as in words
	switch {
	case e.Message != "":
		return e.Message
	case e.Field == "tag_name" && e.Code == "already_exists":
		return "the tag has a release already"
	}
	return strings.TrimSpace(e.Field + " " + e.Code)
}

// clean makes a text from outside fit for one line of an error.
func clean(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	if chars := []rune(text); len(chars) > maxSaid {
		text = string(chars[:maxSaid]) + "…"
	}
	return text
}
