package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// The longest URL and names, in bytes; DNS has no longer names.
const (
	maxURL   = 8 << 10
	maxName  = 253
	maxLabel = 63
)

// target is a URL that every parser reads alike.
type target struct {
	url  *url.URL
	host string // in lower case, without brackets and final dot
	port uint16
}

// parse reads a URL, or says what is wrong with how it is written. It looks at the text before net/url does: what other
// programs (curl, git, browsers) would take for another host must not get past here.
func parse(raw string) (target, Verdict) {
	if raw == "" || len(raw) > maxURL || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return target{}, Syntax
	}
	scheme, rest, ok := strings.Cut(raw, ":")
	if !ok {
		return target{}, Syntax
	}
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return target{}, Scheme
	}
	if rest, ok = strings.CutPrefix(rest, "//"); !ok {
		return target{}, Syntax
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	switch {
	case strings.Contains(authority, "@"):
		return target{}, Userinfo
	case !isASCII(authority):
		return target{}, NonASCII
	case authority == "" || strings.Contains(authority, "%"):
		return target{}, Syntax
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host != authority || u.User != nil || u.Opaque != "" {
		return target{}, Syntax
	}
	t := target{url: u}
	if t.port, ok = portOf(u); !ok {
		return target{host: u.Hostname()}, Port
	}
	var v Verdict
	t.host, v = hostOf(u.Hostname(), strings.HasPrefix(authority, "["))
	return t, v
}

// isASCII looks through escapes too: net/url writes a host that isn't ASCII with them.
func isASCII(authority string) bool {
	if plain, err := url.PathUnescape(authority); err == nil {
		authority = plain
	}
	return !strings.ContainsFunc(authority, func(r rune) bool { return r > 0x7f })
}

// portOf is the port in its one canonical spelling, or the scheme's.
func portOf(u *url.URL) (uint16, bool) {
	text := u.Port()
	if text == "" {
		if u.Scheme == "https" {
			return 443, !strings.HasSuffix(u.Host, ":")
		}
		return 80, !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

// hostOf checks how a host is written.
func hostOf(text string, bracketed bool) (string, Verdict) {
	host := normal(text)
	a, err := netip.ParseAddr(host)
	switch {
	case bracketed:
		if err != nil || !a.Is6() || a.Zone() != "" || host != strings.ToLower(text) {
			return host, Syntax
		}
		return a.String(), Allowed
	case err == nil && !a.Is4():
		return host, Syntax
	case err == nil && host != text: // 127.0.0.1.
		return host, NumericHost
	case err == nil:
		return host, Allowed
	case !isName(host):
		return host, Syntax
	case isNumber(host[strings.LastIndexByte(host, '.')+1:]):
		return host, NumericHost
	}
	return host, Allowed
}

// normal is a host as this package compares it.
func normal(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// isName accepts what DNS could hold, underscores included. A label must not begin with a hyphen: it could pass for an option
// of a program.
func isName(host string) bool {
	if host == "" || len(host) > maxName {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return true
}

func notInLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// isNumber knows a last label that makes WHATWG's parser, inet_aton and their like read the host as an IPv4 address.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// metadataNames are the names of clouds' own services that aren't told by their end alone.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.tencentyun.com": true,
	"instance-data": true, "instance-data.ec2.internal": true, "metadata.platformequinix.com": true, "metadata.packet.net": true,
	"metadata.azure.internal": true, "metadata.aliyun.internal": true,
}

// internalEnds are the ends of names that no public DNS server answers for.
var internalEnds = []string{
	".localhost", ".localdomain", ".local", ".internal", ".intranet", ".lan", ".home", ".corp", ".private", ".home.arpa", ".svc",
}

// judgeName says what a name is by itself, whatever the operator allows.
func judgeName(host string) Verdict {
	if metadataNames[host] {
		return Metadata
	}
	if !strings.Contains(host, ".") {
		return InternalName // localhost, a machine of the same net, a neighbouring container
	}
	for _, end := range internalEnds {
		if strings.HasSuffix(host, end) {
			return InternalName
		}
	}
	return Allowed
}
