package egress

import (
	"encoding/binary"
	"net/netip"
)

// special is a net that is not the public internet. The lists are those of IANA's registries of special-purpose addresses.
type special struct {
	net     netip.Prefix
	verdict Verdict
}

var specialV4 = []special{
	{netip.MustParsePrefix("0.0.0.0/8"), Unspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), Private},
	{netip.MustParsePrefix("100.64.0.0/10"), CGNAT},
	{netip.MustParsePrefix("127.0.0.0/8"), Loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), LinkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), Private},
	{netip.MustParsePrefix("192.0.0.0/24"), Reserved},    // IETF protocol assignments
	{netip.MustParsePrefix("192.0.2.0/24"), Reserved},    // documentation
	{netip.MustParsePrefix("192.31.196.0/24"), Reserved}, // AS112
	{netip.MustParsePrefix("192.52.193.0/24"), Reserved}, // AMT
	{netip.MustParsePrefix("192.88.99.0/24"), Reserved},  // 6to4 relays
	{netip.MustParsePrefix("192.168.0.0/16"), Private},
	{netip.MustParsePrefix("192.175.48.0/24"), Reserved}, // AS112
	{netip.MustParsePrefix("198.18.0.0/15"), Reserved},   // benchmarks
	{netip.MustParsePrefix("198.51.100.0/24"), Reserved}, // documentation
	{netip.MustParsePrefix("203.0.113.0/24"), Reserved},  // documentation
	{netip.MustParsePrefix("224.0.0.0/4"), Multicast},
	{netip.MustParsePrefix("240.0.0.0/4"), Reserved},
}

// publicV6 is all of IPv6 that is ever allowed; specialV6 names what is refused, within it and outside of it. What is
// outside and has no name is reserved.
var publicV6 = netip.MustParsePrefix("2000::/3")

var specialV6 = []special{
	{netip.MustParsePrefix("::/128"), Unspecified},
	{netip.MustParsePrefix("::1/128"), Loopback},
	{netip.MustParsePrefix("::/96"), Mapped},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0/96"), Mapped},   // IPv4-mapped
	{netip.MustParsePrefix("::ffff:0:0:0/96"), Mapped}, // IPv4-translated
	{netip.MustParsePrefix("64:ff9b::/96"), NAT64},
	{netip.MustParsePrefix("64:ff9b:1::/48"), NAT64},
	{netip.MustParsePrefix("2001::/32"), Teredo},
	{netip.MustParsePrefix("2001::/23"), Reserved},     // IETF protocol assignments
	{netip.MustParsePrefix("2001:db8::/32"), Reserved}, // documentation
	{netip.MustParsePrefix("2002::/16"), SixToFour},
	{netip.MustParsePrefix("2620:4f:8000::/48"), Reserved}, // AS112
	{netip.MustParsePrefix("3fff::/20"), Reserved},         // documentation
	{netip.MustParsePrefix("fc00::/7"), Private},
	{netip.MustParsePrefix("fe80::/10"), LinkLocal},
	{netip.MustParsePrefix("fec0::/10"), Private}, // site-local
	{netip.MustParsePrefix("ff00::/8"), Multicast},
}

// metadata are the addresses at which clouds tell a machine its secrets. Some of them lie in nets that are otherwise public.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("169.254.169.254"):    true, // AWS, Azure, Google, Oracle, DigitalOcean …
	netip.MustParseAddr("169.254.169.253"):    true, // AWS: DNS
	netip.MustParseAddr("169.254.170.2"):      true, // AWS: containers
	netip.MustParseAddr("169.254.170.23"):     true, // AWS: pods
	netip.MustParseAddr("169.254.42.42"):      true, // Scaleway
	netip.MustParseAddr("169.254.0.23"):       true, // Tencent
	netip.MustParseAddr("100.100.100.200"):    true, // Alibaba
	netip.MustParseAddr("168.63.129.16"):      true, // Azure: wire server
	netip.MustParseAddr("192.0.0.192"):        true, // Oracle, old
	netip.MustParseAddr("fd00:ec2::254"):      true, // AWS
	netip.MustParseAddr("fd00:ec2::253"):      true,
	netip.MustParseAddr("fd00:ec2::23"):       true,
	netip.MustParseAddr("fd20:ce::254"):       true, // Google
	netip.MustParseAddr("fd00:42::42"):        true, // Scaleway
	netip.MustParseAddr("fd00:c1::a9fe:a9fe"): true, // Oracle
}

// judgeAddr says what an address is, whatever the operator allows.
func judgeAddr(a netip.Addr) Verdict {
	switch {
	case !a.IsValid():
		return Syntax
	case a.Zone() != "":
		return LinkLocal
	case metadata[a]:
		return Metadata
	case a.Is4():
		return within(specialV4, a)
	}
	if v := within(specialV6, a); v != Allowed {
		return v
	}
	if !publicV6.Contains(a) {
		return Reserved
	}
	if isISATAP(a) {
		return ISATAP
	}
	return Allowed
}

// within finds the first of some nets that holds a.
func within(list []special, a netip.Addr) Verdict {
	for _, s := range list {
		if s.net.Contains(a) {
			return s.verdict
		}
	}
	return Allowed
}

// isISATAP knows an address that tunnels to the IPv4 address in its last four bytes (RFC 5214): its interface id begins with
// 0000:5efe or, for a global IPv4 address, 0200:5efe.
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	id := binary.BigEndian.Uint32(b[8:12])
	return id == 0x00005efe || id == 0x02005efe
}

// wellKnownNAT64 holds the IPv4 address in its last four bytes (RFC 6052).
var wellKnownNAT64 = netip.MustParsePrefix("64:ff9b::/96")

// translated is the IPv4 address that a NAT64 gateway makes of a.
func translated(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[12:])), wellKnownNAT64.Contains(a)
}
