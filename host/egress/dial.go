package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const (
	connectTimeout = 10 * time.Second // the look-up and every attempt together
	maxAttempts    = 4                // addresses of one host that are tried
)

// Dial connects to host:port, to an address that the guard allows. The error of a forbidden one wraps a *Refusal.
func (g *Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" {
		return nil, fmt.Errorf("the way out is TCP, not %s", network)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	host, port, err := split(address)
	if err != nil {
		return nil, err
	}
	addrs, err := g.resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	return g.connect(ctx, host, addrs)
}

// connect tries some addresses of a host in turn; ctx has a deadline. It trusts nobody's judgement: see control.
func (g *Guard) connect(ctx context.Context, host string, addrs []netip.AddrPort) (net.Conn, error) {
	addrs = addrs[:min(len(addrs), maxAttempts)]
	end, _ := ctx.Deadline()
	var errs []error
	for i, a := range addrs {
		// Each address gets its share of what time is left, so that a dead one doesn't use it up.
		dialer := net.Dialer{ControlContext: g.control(host), Deadline: time.Now().Add(time.Until(end) / time.Duration(len(addrs)-i))}
		conn, err := dialer.DialContext(ctx, "tcp", a.String())
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// split cuts host:port as net/http and proxies write it.
func split(address string) (host string, port uint16, err error) {
	t, v := parse("http://" + address)
	if v == Allowed && t.url.Host != address {
		v = Syntax
	}
	if v != Allowed {
		return "", 0, &Refusal{Verdict: v, Host: t.host}
	}
	return t.host, t.port, nil
}

// resolve gives the addresses of a host, all of them allowed. One that isn't spoils the rest: who answers with a public and
// a private address hopes for the dialler's second attempt.
func (g *Guard) resolve(ctx context.Context, host string, port uint16) ([]netip.AddrPort, error) {
	if err := g.checkHost(host, port); err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a, port)}, nil
	}
	found, err := g.lookup(ctx, host)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(found) == 0 {
		return nil, &Refusal{Verdict: Unresolvable, Host: host, cause: err}
	}
	var good []netip.AddrPort
	var refused error
	for _, a := range found {
		// Resolvers give IPv4 addresses in their mapped form, and IPv4 is what would be dialled.
		to := netip.AddrPortFrom(a.Unmap(), port)
		if err := g.CheckAddr(host, to); err != nil {
			refused = err
			continue
		}
		good = append(good, to)
	}
	switch {
	case refused != nil && len(good) > 0:
		return nil, &Refusal{Verdict: Mixed, Host: host}
	case refused != nil:
		return nil, refused
	}
	return good, nil
}

// control judges the address of each socket that is about to connect: the last word, whoever did the look-up.
func (g *Guard) control(host string) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return &Refusal{Verdict: Syntax, Host: host}
		}
		return g.CheckAddr(host, to)
	}
}
