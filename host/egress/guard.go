// Package egress is the guard of the way out. It judges the URLs that users, agents and packs influence and the addresses
// that are dialled for them, each with a named verdict, and it makes the one kind of HTTP client that may fetch such URLs.
//
// A URL is judged twice: by its text, before anything is looked up, and by the address that a connection really goes to. The
// second is what counts: a name may have another address at the next look-up.
package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// Options are what an operator opens in the guard.
type Options struct {
	// Allow is GANTRY_EGRESS_ALLOW: host names, *.ends of them, IP addresses, any of these with :port, and CIDRs. A host that
	// an entry names may have any address, and any port if the entry has none; a net opens its addresses to every name that
	// isn't an internal one itself. A metadata address is opened only by an entry that is this very address. Where 64:ff9b::/96
	// is listed, NAT64 is judged by the IPv4 address in it.
	Allow []string
	// Trusted are base URLs that the operator configures: their host at their port is exempt, nothing else.
	Trusted []string
	// Lookup finds the addresses of a host; nil takes the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// ports are those that need no entry.
var ports = []uint16{80, 443, 8080, 8443}

// Guard judges. It never changes and may be used by many at a time.
type Guard struct {
	entries []entry
	trusted map[string]bool // host:port
	ports   map[uint16]bool
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
}

// New makes a guard. The error, one line, names the entry of Allow or Trusted that is malformed.
func New(o Options) (*Guard, error) {
	g := &Guard{trusted: map[string]bool{}, ports: map[uint16]bool{}, lookup: o.Lookup}
	if g.lookup == nil {
		g.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	for _, p := range ports {
		g.ports[p] = true
	}
	for _, text := range o.Allow {
		e, err := parseEntry(text)
		if err != nil {
			return nil, fmt.Errorf("GANTRY_EGRESS_ALLOW: %w", err)
		}
		g.entries = append(g.entries, e)
	}
	for _, base := range o.Trusted {
		t, v := parse(base)
		if v != Allowed {
			return nil, fmt.Errorf("the base URL of host %q is malformed (%s): %s", t.host, v, remedies[v])
		}
		g.trusted[place(t.host, t.port)] = true
	}
	return g, nil
}

func place(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// CheckURL judges a URL by its text alone; its host may still turn out to have a forbidden address. The error is a *Refusal.
func (g *Guard) CheckURL(raw string) (*url.URL, error) {
	t, v := parse(raw)
	if v != Allowed {
		return nil, &Refusal{Verdict: v, Host: t.host}
	}
	if err := g.checkHost(t.host, t.port); err != nil {
		return nil, err
	}
	return t.url, nil
}

// checkHost judges a host that hostOf has passed.
func (g *Guard) checkHost(host string, port uint16) error {
	if g.trusted[place(host, port)] {
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return g.CheckAddr(host, netip.AddrPortFrom(a, port))
	}
	switch v := judgeName(host); {
	case g.names(host, port, v == Metadata):
		return nil
	case v != Allowed:
		return &Refusal{Verdict: v, Host: host}
	case !g.ports[port]:
		return &Refusal{Verdict: Port, Host: host}
	}
	return nil
}

// CheckAddr judges an address that is about to be dialled for host. The error is a *Refusal.
func (g *Guard) CheckAddr(host string, a netip.AddrPort) error {
	host = normal(host)
	if g.trusted[place(host, a.Port())] {
		return nil
	}
	v := judgeAddr(a.Addr())
	listed := g.holds(a, v == Metadata)
	if inner, ok := translated(a.Addr()); ok && listed {
		return g.CheckAddr(host, netip.AddrPortFrom(inner, a.Port()))
	}
	switch {
	case listed || v != Metadata && g.names(host, a.Port(), false):
		return nil
	case v != Allowed:
		return &Refusal{Verdict: v, Host: host}
	case !g.ports[a.Port()]:
		return &Refusal{Verdict: Port, Host: host}
	}
	return nil
}

// names says whether an entry opens a host: one that spells it in full, if exact.
func (g *Guard) names(host string, port uint16, exact bool) bool {
	for _, e := range g.entries {
		if e.names(host, port) && (!exact || e.name != "") {
			return true
		}
	}
	return false
}

// holds says whether an entry opens an address: one that is nothing but this address, if exact.
func (g *Guard) holds(a netip.AddrPort, exact bool) bool {
	for _, e := range g.entries {
		if e.holds(a) && (!exact || e.single()) {
			return true
		}
	}
	return false
}
