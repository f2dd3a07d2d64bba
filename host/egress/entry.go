package egress

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// entry is one of [Options].Allow: a name, the end of names or a net, at one port or at all of them.
type entry struct {
	name string       // "" for the others
	end  string       // with its dot in front
	net  netip.Prefix // a single address is a net too
	port uint16       // 0: any
}

// parseEntry reads name, *.end, an address, name:port, address:port or a CIDR.
func parseEntry(text string) (entry, error) {
	if strings.Contains(text, "/") {
		return parseNet(text)
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return singleAddress(text, netip.AddrPortFrom(a, 0))
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		if a.Port() == 0 {
			return entry{}, malformed(text)
		}
		return singleAddress(text, a)
	}
	var e entry
	host, port, ok := strings.Cut(text, ":")
	if ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return entry{}, malformed(text)
		}
		e.port = uint16(n)
	}
	name, wild := strings.CutPrefix(host, "*.")
	name, v := hostOf(name, false)
	if _, err := netip.ParseAddr(name); v != Allowed || err == nil {
		return entry{}, malformed(text)
	}
	if wild {
		e.end = "." + name
	} else {
		e.name = name
	}
	return e, nil
}

func parseNet(text string) (entry, error) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || p.Addr().Is4In6():
		return entry{}, malformed(text)
	case p != p.Masked():
		return entry{}, fmt.Errorf("%q is not a net: write %s, or the address alone", text, p.Masked())
	case p.Bits() == 0:
		return entry{}, fmt.Errorf("%q is every address there is: list the nets that are meant", text)
	}
	return entry{net: p}, nil
}

func singleAddress(text string, a netip.AddrPort) (entry, error) {
	if a.Addr().Zone() != "" || a.Addr().Is4In6() {
		return entry{}, malformed(text)
	}
	return entry{net: netip.PrefixFrom(a.Addr(), a.Addr().BitLen()), port: a.Port()}, nil
}

func malformed(text string) error {
	return fmt.Errorf("%.128q is no host name, *.name, IP address or CIDR", text)
}

func (e entry) at(port uint16) bool { return e.port == 0 || e.port == port }

// names says whether the entry speaks of a host.
func (e entry) names(host string, port uint16) bool {
	return e.at(port) && (e.name != "" && e.name == host || e.end != "" && strings.HasSuffix(host, e.end))
}

// holds says whether the entry speaks of an address.
func (e entry) holds(a netip.AddrPort) bool {
	return e.at(a.Port()) && e.net.IsValid() && e.net.Contains(a.Addr())
}

// single says whether the entry is the address of one machine.
func (e entry) single() bool { return e.net.IsValid() && e.net.IsSingleIP() }
