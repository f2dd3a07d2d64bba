package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxName is the longest administrator name, in bytes.
const maxName = 128

var wantCount = fmt.Sprintf("a whole number from 1 to %d", maxCount)

const wantDuration = "a duration of 0 or more with its unit, such as 500ms, 30s or 72h"

// rule is what a text field must meet, and how that is said.
type rule struct {
	ok   func(string) bool
	want string
}

// rules by the name in the struct's tag.
var rules = map[string]rule{
	"listen": {isListen, "host:port with a port from 0 to 65535, such as 127.0.0.1:8080"},
	"dir":    {isText, "the path of a folder"},
	"name":   {isName, fmt.Sprintf("1 to %d printable characters without spaces", maxName)},
	"url":    {isURL, "http:// or https:// with a host, an optional port and nothing after it"},
	"base":   {isBase, "http:// or https:// with a host, an optional port and an optional path, without user, query and fragment"},
	"kek":    {isKEK, "file:// and the absolute path of a file"},
	"bucket": {isBucket, "s3://bucket/prefix with, each if needed, ?endpoint=http(s)://host:port&region=us-east-1&path_style=true; keys have variables of their own"},
	"list":   {isPrintable, "names, addresses and CIDRs in ASCII, separated by commas"},
	"level":  oneOf("debug", "info", "warn", "error"),
	"format": oneOf("text", "json"),
	"token":  {isHeaderSafe, "printable ASCII without spaces"},
}

func oneOf(words ...string) rule {
	last := len(words) - 1
	return rule{
		ok:   func(s string) bool { return slices.Contains(words, s) },
		want: strings.Join(words[:last], ", ") + " or " + words[last],
	}
}

func isListen(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && isHost(host) && isPort(port)
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

func isHost(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("/@?#\\", r) })
}

func isText(s string) bool { return s != "" && !strings.ContainsFunc(s, unicode.IsControl) }

func isName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
	})
}

// isURL accepts an origin alone: a path, query or user in it would end up inside of every link that is made. Empty is unset.
func isURL(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	origin := u.Scheme + "://" + u.Host
	return u.Hostname() != "" && isHost(u.Hostname()) && (u.Port() == "" && !strings.HasSuffix(u.Host, ":") || isPort(u.Port())) &&
		strings.EqualFold(s, origin)
}

// isBase accepts what the path of an API can be put behind.
func isBase(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || strings.ContainsAny(s, "?#\\") || strings.ContainsFunc(s, unicode.IsSpace) {
		return false
	}
	return isURL(u.Scheme + "://" + u.Host)
}

// isKEK accepts a place. The key itself, put here by mistake, is refused; see refuse for how little is said then. Empty is unset.
func isKEK(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && strings.HasPrefix(u.Path, "/") && u.Path != "/" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == "" && isText(u.Path)
}

// isPrintable accepts printable ASCII. Empty is unset.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f })
}

// isHeaderSafe accepts what can stand in a header's value. Empty is unset.
func isHeaderSafe(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
