package egress

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// answers is what the fake resolver of the vectors knows.
var answers = map[string][]string{
	"example.com":             {"93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"},
	"api.github.com":          {"140.82.112.6"},
	"xn--mnchen-3ya.de":       {"81.169.145.150"},
	"only6.example.com":       {"2a00:1450:4001:82a::200e"},
	"under_score.example.com": {"93.184.215.14"},
	"mapped4.example.com":     {"::ffff:93.184.215.14"}, // how Go's resolver spells an IPv4 answer
	"loop.example.com":        {"127.0.0.1"},
	"loop6.example.com":       {"::1"},
	"zero.example.com":        {"0.0.0.0"},
	"zero6.example.com":       {"::"},
	"ten.example.com":         {"10.1.2.3"},
	"cgnat.example.com":       {"100.64.1.1"},
	"imds.example.com":        {"169.254.169.254"},
	"azure.example.com":       {"168.63.129.16"},
	"mappedloop.example.com":  {"::ffff:127.0.0.1"},
	"nat64.example.com":       {"64:ff9b::a9fe:a9fe"},
	"ula.example.com":         {"fd12:3456::1"},
	"mixed.example.com":       {"93.184.215.14", "127.0.0.1"},
	"mixed6.example.com":      {"93.184.215.14", "fe80::1"},
	"mixedlast.example.com":   {"10.0.0.1", "93.184.215.14"},
	"empty.example.com":       {},
	"127.0.0.1.nip.io":        {"127.0.0.1"},
	"localtest.me":            {"127.0.0.1", "::1"},
}

var errNoSuchHost = errors.New("no such host")

func lookupAnswers(_ context.Context, host string) ([]netip.Addr, error) {
	found, ok := answers[host]
	if !ok {
		return nil, errNoSuchHost
	}
	var addrs []netip.Addr
	for _, a := range found {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func newGuard(t testing.TB, o Options) *Guard {
	t.Helper()
	if o.Lookup == nil {
		o.Lookup = lookupAnswers
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// verdict goes the way of a request up to the dialling.
func (g *Guard) verdict(raw string) Verdict {
	if _, err := g.CheckURL(raw); err != nil {
		return VerdictOf(err)
	}
	t, _ := parse(raw)
	_, err := g.resolve(context.Background(), t.host, t.port)
	return VerdictOf(err)
}

type vector struct {
	name, url string
	want      Verdict
}

var vectors = []vector{
	// What must pass.
	{"plain", "http://example.com/", Allowed},
	{"https", "https://example.com/", Allowed},
	{"no path", "https://example.com", Allowed},
	{"upper case", "HTTPS://EXAMPLE.COM/", Allowed},
	{"port 8080", "http://example.com:8080/x", Allowed},
	{"port 8443", "https://example.com:8443/x", Allowed},
	{"port spelt out", "https://example.com:443/", Allowed},
	{"query and fragment", "https://api.github.com/search?q=a%20b&x=%2f#top", Allowed},
	{"@ in the path", "https://example.com/@user/post", Allowed},
	{"@ in the query", "https://example.com?mail=a@b.org", Allowed},
	{"URL in the query", "https://example.com/?u=http://127.0.0.1/", Allowed},
	{"unicode in the path", "https://example.com/wiki/東京", Allowed},
	{"escaped slashes in the path", "https://example.com/a%2fb%00c", Allowed},
	{"punycode", "https://xn--mnchen-3ya.de/", Allowed},
	{"underscore", "https://under_score.example.com/", Allowed},
	{"final dot", "https://example.com./", Allowed},
	{"IPv6 only", "https://only6.example.com/", Allowed},
	{"IPv4 answer in mapped form", "https://mapped4.example.com/", Allowed},
	{"public IPv4", "http://1.1.1.1/", Allowed},
	{"public IPv6", "http://[2606:4700:4700::1111]/", Allowed},
	{"beside CGNAT", "http://100.128.0.1/", Allowed},
	{"beside 172.16/12", "http://172.32.0.1/", Allowed},
	{"beside benchmarks", "http://198.20.0.1/", Allowed},

	// Loopback.
	{"127.0.0.1", "http://127.0.0.1/", Loopback},
	{"end of 127/8", "http://127.255.255.254/", Loopback},
	{"middle of 127/8", "http://127.1.2.3:8080/", Loopback},
	{"::1", "http://[::1]/", Loopback},
	{"::1 in full", "http://[0000:0000:0000:0000:0000:0000:0000:0001]/", Loopback},
	{"localhost", "http://localhost/", InternalName},
	{"localhost upper case", "http://LOCALHOST:8080/", InternalName},
	{"localhost, final dot", "http://localhost./", InternalName},
	{"below localhost", "http://foo.localhost/", InternalName},
	{"localhost.localdomain", "http://localhost.localdomain/", InternalName},
	{"ip6-localhost", "http://ip6-localhost/", InternalName},
	{"address, final dot", "http://127.0.0.1./", NumericHost},
	{"odd port of loopback", "http://127.0.0.1:22/", Loopback},

	// Unspecified.
	{"0.0.0.0", "http://0.0.0.0/", Unspecified},
	{"0.1.2.3", "http://0.1.2.3/", Unspecified},
	{"::", "http://[::]/", Unspecified},

	// Private and CGNAT.
	{"10/8", "http://10.0.0.1/", Private},
	{"10/8 end", "http://10.255.255.255/", Private},
	{"172.16/12", "http://172.16.0.1/", Private},
	{"172.31", "http://172.31.255.255/", Private},
	{"docker bridge", "http://172.17.0.1:8080/", Private},
	{"192.168/16", "https://192.168.1.1/", Private},
	{"ULA fc00", "http://[fc00::1]/", Private},
	{"ULA fd00", "http://[fd12:3456:789a::1]/", Private},
	{"site-local", "http://[fec0::1]/", Private},
	{"CGNAT", "http://100.64.0.1/", CGNAT},
	{"CGNAT end", "http://100.127.255.255/", CGNAT},

	// Link-local and metadata.
	{"169.254/16", "http://169.254.1.1/", LinkLocal},
	{"fe80", "http://[fe80::1]/", LinkLocal},
	{"fe80 with a zone", "http://[fe80::1%25eth0]/", Syntax},
	{"IMDS", "http://169.254.169.254/latest/meta-data/", Metadata},
	{"ECS", "http://169.254.170.2/v2/credentials", Metadata},
	{"EKS", "http://169.254.170.23/v1/credentials", Metadata},
	{"Azure wire server", "http://168.63.129.16/machine?comp=goalstate", Metadata},
	{"Alibaba", "http://100.100.100.200/latest/meta-data/", Metadata},
	{"Oracle, old", "http://192.0.0.192/latest/", Metadata},
	{"IMDS over IPv6", "http://[fd00:ec2::254]/latest/", Metadata},
	{"Google over IPv6", "http://[fd20:ce::254]/", Metadata},
	{"metadata.google.internal", "http://metadata.google.internal/computeMetadata/v1/", Metadata},
	{"the same, final dot", "http://metadata.google.internal./", Metadata},
	{"the same, upper case", "http://Metadata.Google.Internal/", Metadata},
	{"metadata", "http://metadata/", Metadata},
	{"metadata.goog", "http://metadata.goog/", Metadata},
	{"instance-data", "http://instance-data/latest/", Metadata},
	{"metadata.tencentyun.com", "http://metadata.tencentyun.com/", Metadata},

	// Reserved, documentation, multicast.
	{"192.0.0/24", "http://192.0.0.8/", Reserved},
	{"TEST-NET-1", "http://192.0.2.1/", Reserved},
	{"TEST-NET-2", "http://198.51.100.1/", Reserved},
	{"TEST-NET-3", "http://203.0.113.1/", Reserved},
	{"AS112", "http://192.31.196.1/", Reserved},
	{"AS112 delegation", "http://192.175.48.1/", Reserved},
	{"AMT", "http://192.52.193.1/", Reserved},
	{"6to4 relay", "http://192.88.99.1/", Reserved},
	{"benchmarks", "http://198.19.0.1/", Reserved},
	{"class E", "http://240.0.0.1/", Reserved},
	{"broadcast", "http://255.255.255.255/", Reserved},
	{"multicast", "http://224.0.0.1/", Multicast},
	{"SSDP", "http://239.255.255.250/", Multicast},
	{"IPv6 multicast", "http://[ff02::1]/", Multicast},
	{"IPv6 documentation", "http://[2001:db8::1]/", Reserved},
	{"new IPv6 documentation", "http://[3fff::1]/", Reserved},
	{"IPv6 protocol assignments", "http://[2001:100::1]/", Reserved},
	{"IPv6 AS112", "http://[2620:4f:8000::1]/", Reserved},
	{"IPv6 discard", "http://[100::1]/", Reserved},
	{"IPv6 not assigned", "http://[4000::1]/", Reserved},
	{"SRv6", "http://[5f00::1]/", Reserved},

	// IPv4 within IPv6.
	{"mapped", "http://[::ffff:127.0.0.1]/", Mapped},
	{"mapped, hex", "http://[::ffff:7f00:1]/", Mapped},
	{"mapped public", "http://[::ffff:1.1.1.1]/", Mapped},
	{"mapped IMDS", "http://[::ffff:a9fe:a9fe]/", Mapped},
	{"compatible", "http://[::127.0.0.1]/", Mapped},
	{"translated", "http://[::ffff:0:127.0.0.1]/", Mapped},
	{"NAT64", "http://[64:ff9b::127.0.0.1]/", NAT64},
	{"NAT64 of IMDS", "http://[64:ff9b::a9fe:a9fe]/", NAT64},
	{"local NAT64", "http://[64:ff9b:1::a00:1]/", NAT64},
	{"6to4", "http://[2002:7f00:1::]/", SixToFour},
	{"6to4 of 10/8", "http://[2002:a00:1::1]/", SixToFour},
	{"Teredo", "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", Teredo},
	{"ISATAP", "http://[2606:4700::5efe:a00:1]/", ISATAP},
	{"ISATAP, global", "http://[2606:4700::200:5efe:7f00:1]/", ISATAP},
	{"ISATAP, link-local", "http://[fe80::5efe:10.0.0.1]/", LinkLocal},

	// Numbers that other programs take for addresses.
	{"decimal", "http://2130706433/", NumericHost},
	{"hex", "http://0x7f000001/", NumericHost},
	{"hex upper case", "http://0X7F000001/", NumericHost},
	{"octal", "http://017700000001/", NumericHost},
	{"octal dotted", "http://0177.0.0.1/", NumericHost},
	{"hex dotted", "http://0x7f.0x0.0x0.0x1/", NumericHost},
	{"short", "http://127.1/", NumericHost},
	{"three parts", "http://10.0.1/", NumericHost},
	{"zero", "http://0/", NumericHost},
	{"leading zeros", "http://127.0.0.01/", NumericHost},
	{"five parts", "http://1.2.3.4.5/", NumericHost},
	{"too large", "http://256.256.256.256/", NumericHost},
	{"overflow", "http://4294967297/", NumericHost},
	{"name with a number's end", "http://example.0x1/", NumericHost},
	{"bare 0x", "http://1.2.3.0x/", NumericHost},
	{"decimal IMDS", "http://2852039166/", NumericHost},

	// Userinfo and what parsers disagree about.
	{"user", "http://user@example.com/", Userinfo},
	{"user and password", "https://user:hunter2@example.com/", Userinfo},
	{"host as user", "http://example.com@127.0.0.1/", Userinfo},
	{"host and port as user", "http://example.com:80@127.0.0.1/", Userinfo},
	{"two @", "http://a@b@127.0.0.1/", Userinfo},
	{"empty user", "http://@127.0.0.1/", Userinfo},
	{"escaped slash as user", "http://127.0.0.1%2f@example.com/", Userinfo},
	{"fragment as user", "http://example.com#@127.0.0.1/", Allowed}, // of which @127.0.0.1 is the fragment, for everybody
	{"backslash", `http://example.com\@127.0.0.1/`, Syntax},
	{"backslashes for slashes", `http:\\127.0.0.1/`, Syntax},
	{"backslash in the path", `http://example.com/\127.0.0.1`, Syntax},
	{"escaped slash", "http://127.0.0.1%2fexample.com/", Syntax},
	{"escaped NUL", "http://127.0.0.1%00.example.com/", Syntax},
	{"escaped letters", "http://%6c%6f%63%61%6c%68%6f%73%74/", Syntax},
	{"escaped dots", "http://127%2e0%2e0%2e1/", Syntax},
	{"NUL", "http://127.0.0.1\x00.example.com/", Syntax},
	{"CRLF", "http://example.com/\r\nHost: 127.0.0.1", Syntax},
	{"CRLF in the host", "http://example.com\r\n.evil.org/", Syntax},
	{"tab", "http://exa\tmple.com/", Syntax},
	{"space in front", " http://example.com/", Syntax},
	{"space in the host", "http://example.com 127.0.0.1/", Syntax},
	{"newline at the end", "http://example.com/\n", Syntax},
	{"one slash", "http:/127.0.0.1/", Syntax},
	{"no slashes", "http:127.0.0.1/", Syntax},
	{"three slashes", "http:///127.0.0.1/", Syntax},
	{"four slashes", "http:////127.0.0.1/", Syntax},
	{"no scheme", "//127.0.0.1/", Syntax},
	{"only a host", "example.com", Syntax},
	{"nothing", "", Syntax},
	{"empty host", "http://:80/", Syntax},
	{"bad escape", "http://example.com/%zz", Syntax},
	{"brackets around IPv4", "http://[127.0.0.1]/", Syntax},
	{"brackets around a name", "http://[localhost]/", Syntax},
	{"open bracket", "http://[::1/", Syntax},
	{"IPv6 without brackets", "http://::1/", Syntax},
	{"behind the bracket", "http://[::1].example.com/", Syntax},
	{"empty label", "http://example..com/", Syntax},
	{"only a dot", "http://./", Syntax},
	{"two final dots", "http://localhost../", Syntax},
	{"option for a host", "http://-oProxyCommand.example.com/", Syntax},
	{"semicolon", "http://127.0.0.1;example.com/", Syntax},
	{"comma", "http://127.0.0.1,example.com/", Syntax},
	{"long label", "http://" + strings.Repeat("a", 64) + ".com/", Syntax},
	{"long name", "http://" + strings.Repeat("a.", 127) + "com/", Syntax},
	{"long URL", "http://example.com/" + strings.Repeat("a", maxURL), Syntax},

	// Not ASCII.
	{"circled digits", "http://①②⑦.⓪.⓪.①/", NonASCII},
	{"full width digits", "http://１２７.０.０.１/", NonASCII},
	{"circled letters", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", NonASCII},
	{"ideographic dot", "http://127。0。0。1/", NonASCII},
	{"umlaut", "http://münchen.de/", NonASCII},
	{"cyrillic", "http://ехample.com/", NonASCII},
	{"zero width", "http://local\u200bhost/", NonASCII},
	{"soft hyphen", "http://local\u00adhost/", NonASCII},
	{"full width slash", "http://example.com／.127.0.0.1/", NonASCII},
	{"not UTF-8", "http://\xff.example.com/", NonASCII},

	// Schemes.
	{"file", "file:///etc/passwd", Scheme},
	{"ftp", "ftp://example.com/", Scheme},
	{"gopher", "gopher://127.0.0.1:6379/_SLAVEOF", Scheme},
	{"dict", "dict://127.0.0.1:11211/stat", Scheme},
	{"data", "data:text/html,<p>", Scheme},
	{"javascript", "javascript:alert(1)", Scheme},
	{"unix", "unix:///var/run/docker.sock", Scheme},
	{"ws", "ws://example.com/", Scheme},
	{"git's ext", "ext::sh -c id", Syntax},
	{"jar", "jar:http://127.0.0.1!/", Scheme},
	{"view-source", "view-source:http://127.0.0.1/", Scheme},
	{"host and port alone", "127.0.0.1:80/", Scheme},

	// Ports.
	{"SSH", "http://example.com:22/", Port},
	{"SMTP", "http://example.com:25/", Port},
	{"Redis", "http://example.com:6379/", Port},
	{"docker", "http://example.com:2375/", Port},
	{"kubelet", "https://example.com:10250/", Port},
	{"port of an address", "http://1.1.1.1:53/", Port},
	{"port 0", "http://example.com:0/", Port},
	{"port too large", "http://example.com:65536/", Port},
	{"port wraps around to 80", "http://example.com:65616/", Port},
	{"port with zeros", "http://example.com:0080/", Port},
	{"port missing", "http://example.com:/", Port},
	{"port with a sign", "http://example.com:+80/", Syntax},
	{"port in words", "http://example.com:http/", Syntax},

	// Names of the inside.
	{"one label", "http://intranet/", InternalName},
	{"docker compose", "http://redis:8080/", InternalName},
	{"host.docker.internal", "http://host.docker.internal/", InternalName},
	{"gateway.docker.internal", "http://gateway.docker.internal/", InternalName},
	{"Kubernetes", "https://kubernetes.default.svc/", InternalName},
	{"Kubernetes in full", "https://kubernetes.default.svc.cluster.local/", InternalName},
	{"mDNS", "http://printer.local/", InternalName},
	{"router", "http://router.lan/", InternalName},
	{"home.arpa", "http://nas.home.arpa/", InternalName},
	{"corp", "http://wiki.corp/", InternalName},
	{"EC2 internal", "http://ip-10-0-0-1.ec2.internal/", InternalName},

	// What DNS answers.
	{"DNS: loopback", "http://loop.example.com/", Loopback},
	{"DNS: ::1", "http://loop6.example.com/", Loopback},
	{"DNS: 0.0.0.0", "http://zero.example.com/", Unspecified},
	{"DNS: ::", "http://zero6.example.com/", Unspecified},
	{"DNS: 10/8", "http://ten.example.com/", Private},
	{"DNS: CGNAT", "http://cgnat.example.com/", CGNAT},
	{"DNS: IMDS", "http://imds.example.com/", Metadata},
	{"DNS: Azure", "http://azure.example.com/", Metadata},
	{"DNS: mapped loopback", "http://mappedloop.example.com/", Loopback},
	{"DNS: NAT64", "http://nat64.example.com/", NAT64},
	{"DNS: ULA", "http://ula.example.com/", Private},
	{"DNS: public and loopback", "http://mixed.example.com/", Mixed},
	{"DNS: public and link-local", "http://mixed6.example.com/", Mixed},
	{"DNS: private and public", "http://mixedlast.example.com/", Mixed},
	{"DNS: nothing", "http://empty.example.com/", Unresolvable},
	{"DNS: no such host", "http://nowhere.example.com/", Unresolvable},
	{"DNS: nip.io", "http://127.0.0.1.nip.io/", Loopback},
	{"DNS: localtest.me", "http://localtest.me/", Loopback},
}

// TestVectors prints the table with -v.
func TestVectors(t *testing.T) {
	const atLeast = 120
	if len(vectors) < atLeast {
		t.Errorf("%d vectors, want %d", len(vectors), atLeast)
	}
	g := newGuard(t, Options{})
	names := map[string]bool{}
	for _, v := range vectors {
		if names[v.name] {
			t.Errorf("two vectors are called %q", v.name)
		}
		names[v.name] = true
		got := g.verdict(v.url)
		t.Logf("%-32s %s", v.name, got)
		if got != v.want {
			t.Errorf("%s: %.80q is %s, want %s", v.name, v.url, got, v.want)
		}
	}
}

// Each verdict has a vector or, where it takes more than a URL, a test of its own.
func TestEveryVerdictIsMet(t *testing.T) {
	met := map[Verdict]bool{HostHeader: true, Redirect: true}
	for _, v := range vectors {
		met[v.want] = true
	}
	for _, v := range []Verdict{
		Allowed, Syntax, Scheme, Userinfo, NonASCII, NumericHost, Port, HostHeader, Loopback, Unspecified, Private, CGNAT, LinkLocal, Metadata,
		Reserved, Multicast, Mapped, NAT64, SixToFour, Teredo, ISATAP, InternalName, Unresolvable, Mixed, Redirect,
	} {
		if !met[v] {
			t.Errorf("no vector ends in %s", v)
		}
	}
}
