package egress

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
)

// oracle is another author's list of what is not the public internet.
func oracle() *ssrf.Guardian { return ssrf.New(ssrf.WithAnyPort()) }

// safe asks the oracle.
func safe(o *ssrf.Guardian, a netip.Addr) bool {
	network := "tcp4"
	if a.Is6() {
		network = "tcp6"
	}
	return o.Safe(network, netip.AddrPortFrom(a, 80).String(), nil) == nil
}

// stricter are addresses that only we refuse: the oracle knows neither clouds nor ISATAP.
func stricter(v Verdict) bool { return v == Metadata || v == ISATAP }

func compare(t *testing.T, o *ssrf.Guardian, a netip.Addr) {
	t.Helper()
	v := judgeAddr(a)
	if theirs := safe(o, a); (v == Allowed) != theirs && !(theirs && stricter(v)) {
		t.Errorf("%v: we say %s, the oracle says allowed=%v", a, v, theirs)
	}
}

func TestOracle(t *testing.T) {
	o, rng := oracle(), rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		compare(t, o, v4(rng.Uint32()))
		var b [16]byte
		binary.BigEndian.PutUint64(b[:], rng.Uint64())
		binary.BigEndian.PutUint64(b[8:], rng.Uint64())
		compare(t, o, netip.AddrFrom16(b))
	}
	// Random addresses rarely fall into a small net: go to the edges of each, and beyond.
	for _, p := range slices.Concat(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes, []netip.Prefix{ssrf.IPv6GlobalUnicast, ssrf.IPv6NAT64Prefix}) {
		edges(t, o, p)
	}
	for _, s := range slices.Concat(specialV4, specialV6) {
		edges(t, o, s.net)
	}
}

func v4(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// edges compares the first and the last address of a net and their neighbours outside of it.
func edges(t *testing.T, o *ssrf.Guardian, p netip.Prefix) {
	t.Helper()
	first := p.Masked().Addr()
	b := first.AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	for _, a := range []netip.Addr{first, last, first.Prev(), last.Next()} {
		if a.IsValid() {
			compare(t, o, a)
		}
	}
}

// FuzzCheckURL holds against whatever passes that it is what it looks like: read by other rules it has the same host, and an
// address in it is a public one.
func FuzzCheckURL(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.url)
	}
	g, err := New(Options{Lookup: lookupAnswers})
	if err != nil {
		f.Fatal(err)
	}
	o := oracle()
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.CheckURL(raw)
		if err != nil {
			if v := VerdictOf(err); v == "" || v == Allowed {
				t.Fatalf("%q: refused without a verdict: %v", raw, err)
			}
			if AsWire(err) == nil || strings.ContainsAny(err.Error(), "\r\n\x00") || len(err.Error()) > 1000 {
				t.Fatalf("%q: %q is no text for a caller", raw, err.Error())
			}
			return
		}
		again, err := url.Parse(raw)
		if err != nil || again.Host != u.Host || again.User != nil || again.Scheme != "http" && again.Scheme != "https" {
			t.Fatalf("%q: net/url reads it as %v (%v)", raw, again, err)
		}
		if host := byHand(raw); host != strings.ToLower(u.Host) {
			t.Fatalf("%q: the host is %q for us and %q by hand", raw, u.Host, host)
		}
		if _, err := g.CheckURL(u.String()); err != nil {
			t.Fatalf("%q passes, %q, which is the same, does not: %v", raw, u, err)
		}
		switch u.Port() {
		case "", "80", "443", "8080", "8443":
		default:
			t.Fatalf("%q: port %s", raw, u.Port())
		}
		host := strings.ToLower(u.Hostname())
		if a, ok := byInetAton(host); ok && (!safe(o, a) || judgeAddr(a) != Allowed || a.String() != host) {
			t.Fatalf("%q: inet_aton makes %v of it", raw, a)
		}
		if a, err := netip.ParseAddr(host); err == nil && (!safe(o, a) || a.Is4In6()) {
			t.Fatalf("%q leads to %v", raw, a)
		}
		if name := "." + strings.TrimSuffix(host, "."); strings.HasSuffix(name, ".localhost") {
			t.Fatalf("%q is this machine", raw)
		}
	})
}

// byHand cuts the host out as RFC 3986's regular expression does, which knows nothing of what may be in it.
func byHand(raw string) string {
	_, rest, _ := strings.Cut(raw, "//")
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
}

// byInetAton reads a host as the C library's inet_aton does: one to four numbers, each decimal, octal or hex, the last of
// which fills what is left.
func byInetAton(host string) (netip.Addr, bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil || strings.Contains(p, "_") || strings.HasPrefix(p, "0b") || strings.HasPrefix(p, "0o") {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			if n >= 1<<(8*(4-i)) {
				return netip.Addr{}, false
			}
			return v4(uint32(sum | n)), true
		}
		if n > 255 {
			return netip.Addr{}, false
		}
		sum |= n << (8 * (3 - i))
	}
	return netip.Addr{}, false
}

func FuzzParseEntry(f *testing.F) {
	for _, seed := range []string{"nas.lan", "*.corp", "10.0.0.0/8", "10.0.0.1", "fd00::/8", "ollama:11434", "[fd00::1]:80", "*", "*.*", "0.0.0.0/0", "a b", "::ffff:1.2.3.4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := New(Options{Allow: []string{text}, Lookup: lookupAnswers})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Fatalf("%q is not one line", err)
			}
			return
		}
		// Whatever is listed: what it doesn't name stays shut.
		if e := g.entries[0]; !e.net.IsValid() && g.CheckAddr("other.example.com", netip.MustParseAddrPort("127.0.0.1:80")) == nil && !e.names("other.example.com", 80) {
			t.Fatalf("%q opens loopback for all", text)
		}
		if e := g.entries[0]; !e.single() && g.CheckAddr("other.example.com", netip.MustParseAddrPort("169.254.169.254:80")) == nil {
			t.Fatalf("%q opens metadata", text)
		}
	})
}
