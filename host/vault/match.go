package vault

import (
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// hostForm is a DNS name in lower case, at most 253 bytes in labels of at most 63.
var hostForm = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)

const maxHost = 253

// pattern says which hosts a credential is for.
type pattern struct {
	host string // a host; ".suffix" for any host below it; * for any
	port string // empty: any
}

func (p pattern) String() string {
	host := p.host
	if strings.HasPrefix(host, ".") {
		host = wildcard + host
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p.port != "" {
		host += ":" + p.port
	}
	return host
}

// parsePattern reads host, *.suffix or *, each with an optional :port.
func parsePattern(text string) (pattern, error) {
	bad := wire.Invalid("host_pattern must be the host that the credential is for: a host (api.example.com), a wildcard for the hosts below one " +
		"(*.example.com), an IP address (IPv6 in brackets), each with an optional :port, or * for any host; other than ASCII in xn-- form")
	if len(text) > maxPattern {
		return pattern{}, bad
	}
	rest, below := strings.CutPrefix(text, "*.")
	if host, port, _ := strings.Cut(text, ":"); host == wildcard {
		n, ok := canonicalPort(port)
		if !ok && text != wildcard {
			return pattern{}, bad
		}
		return pattern{host: wildcard, port: n}, nil
	}
	host, port, ok := splitHost(rest)
	if !ok {
		return pattern{}, bad
	}
	if below {
		if _, err := netip.ParseAddr(host); err == nil || numericEnd(host) {
			return pattern{}, bad
		}
		host = "." + host
	}
	return pattern{host: host, port: port}, nil
}

// fitsHost says whether a pattern lets a value go to host, which is host or host:port. No host fits * alone.
func fitsHost(patternText, host string) bool {
	p, err := parsePattern(patternText)
	if err != nil {
		return false
	}
	if host == "" {
		return p == pattern{host: wildcard}
	}
	name, port, ok := splitHost(host)
	switch {
	case !ok, p.port != "" && p.port != port:
		return false
	case p.host == wildcard:
		return true
	case strings.HasPrefix(p.host, "."):
		return strings.HasSuffix(name, p.host)
	}
	return name == p.host
}

// splitHost takes host or host:port apart and gives both in one form: names in lower case without the dot at the end,
// addresses as netip writes them.
func splitHost(text string) (host, port string, ok bool) {
	host = text
	if addr, err := netip.ParseAddr(text); err == nil { // IPv6 without brackets would look like host:port
		return addr.String(), "", addr.Zone() == ""
	}
	if h, n, err := net.SplitHostPort(text); err == nil {
		if port, ok = canonicalPort(n); !ok {
			return "", "", false
		}
		host = h
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(bare); err == nil {
		return addr.String(), port, addr.Zone() == ""
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host, port, len(host) <= maxHost && hostForm.MatchString(host)
}

func canonicalPort(text string) (string, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "", false
	}
	return strconv.FormatUint(n, 10), true
}

// numericEnd says whether the last label is a number: some would read such a name as an address.
func numericEnd(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Trim(last, "0123456789") == ""
}
