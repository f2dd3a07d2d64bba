package egress

import (
	"errors"
	"fmt"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// Verdict is what the guard thinks of a URL or an address, in one word.
type Verdict string

// Allowed is the one good verdict.
const Allowed Verdict = "allowed"

// The verdicts on how a URL is written.
const (
	Syntax      Verdict = "syntax"       // not a URL that every parser reads alike
	Scheme      Verdict = "scheme"       // neither http nor https
	Userinfo    Verdict = "userinfo"     // user@ or user:password@
	NonASCII    Verdict = "non_ascii"    // a host that isn't in punycode
	NumericHost Verdict = "numeric_host" // a number that some programs take for an IPv4 address
	Port        Verdict = "port"         // none of the usual ones
	HostHeader  Verdict = "host_header"  // a Host header that names another host than the URL
)

// The verdicts on where a URL leads.
const (
	Loopback     Verdict = "loopback"
	Unspecified  Verdict = "unspecified"
	Private      Verdict = "private"
	CGNAT        Verdict = "cgnat"
	LinkLocal    Verdict = "link_local"
	Metadata     Verdict = "metadata" // a cloud's own service, which hands out keys
	Reserved     Verdict = "reserved"
	Multicast    Verdict = "multicast"
	Mapped       Verdict = "mapped" // IPv4 within IPv6: mapped, compatible or translated
	NAT64        Verdict = "nat64"
	SixToFour    Verdict = "6to4"
	Teredo       Verdict = "teredo"
	ISATAP       Verdict = "isatap"
	InternalName Verdict = "internal_name"
	Unresolvable Verdict = "unresolvable"
	Mixed        Verdict = "mixed"    // DNS answers of which some are allowed
	Redirect     Verdict = "redirect" // too many, or from https to http
)

// Refusal is the guard's no.
type Refusal struct {
	Verdict Verdict
	Host    string // as far as it could be read; may be empty
	cause   error
}

const maxHostShown = 128 // bytes

// remedies tells the caller what a verdict means and what to do; the verdicts on an address have one in common.
var remedies = map[Verdict]string{
	Syntax:       "the URL must read http(s)://host[:port]/path without spaces, control characters, backslashes or a % in its host",
	Scheme:       "only http:// and https:// are fetched",
	Userinfo:     "leave user and password out of the URL: name a credential instead",
	NonASCII:     "write the host in ASCII (punycode, xn--…)",
	NumericHost:  "write an IPv4 address as four decimal numbers",
	Port:         "the ports 80, 443, 8080 and 8443 are open; the operator can list the host in GANTRY_EGRESS_ALLOW for others",
	HostHeader:   "the Host header must be that of the URL",
	Unresolvable: "the name has no address: check how it is spelt",
	Mixed:        "of its addresses some are not on the public internet; the operator can list the host in GANTRY_EGRESS_ALLOW",
	Redirect:     "it redirects too often, or from https to http: ask for the final URL",
}

const addressRemedy = "URLs must lead to the public internet; the operator can list the host or its net in GANTRY_EGRESS_ALLOW"

// Error is written for who gave the URL. It never repeats more of that than the host.
func (r *Refusal) Error() string {
	what, ok := remedies[r.Verdict]
	if !ok {
		what = addressRemedy
	}
	host := r.Host
	if len(host) > maxHostShown {
		host = host[:maxHostShown] + "…"
	}
	if host == "" {
		return fmt.Sprintf("the URL is refused (%s): %s", r.Verdict, what)
	}
	return fmt.Sprintf("%q is refused (%s): %s", host, r.Verdict, what)
}

// Unwrap gives the failed look-up of an unresolvable host.
func (r *Refusal) Unwrap() error { return r.cause }

// VerdictOf is the verdict in an error of this package: Allowed for nil, "" for an error that is no refusal.
func VerdictOf(err error) Verdict {
	if err == nil {
		return Allowed
	}
	var r *Refusal
	if errors.As(err, &r) {
		return r.Verdict
	}
	return ""
}

// AsWire makes the refusal in err the invalid_input that a caller is told; nil if there is none.
func AsWire(err error) *wire.Error {
	var r *Refusal
	if !errors.As(err, &r) {
		return nil
	}
	return wire.Invalid("%s", r.Error()).Because(err)
}
