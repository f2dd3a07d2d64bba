package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestAllow(t *testing.T) {
	answers := func(allow ...string) *Guard { return newGuard(t, Options{Allow: allow}) }
	for _, c := range []struct {
		allow, url string
		want       Verdict
	}{
		{"127.0.0.1", "http://127.0.0.1:11434/", Allowed},
		{"127.0.0.1", "http://127.0.0.2/", Loopback},
		{"127.0.0.1", "http://localhost/", InternalName}, // a net opens no internal name
		{"127.0.0.1", "http://loop.example.com/", Allowed},
		{"127.0.0.1:8080", "http://127.0.0.1:8080/", Allowed},
		{"127.0.0.1:8080", "http://127.0.0.1:8081/", Loopback},
		{"10.0.0.0/8", "http://10.200.0.1:3000/", Allowed},
		{"10.0.0.0/8", "http://11.0.0.1:3000/", Port},
		{"10.0.0.0/8", "http://ten.example.com/", Allowed},
		{"10.0.0.0/8", "http://mixedlast.example.com/", Allowed},
		{"10.0.0.0/8", "http://[::ffff:10.0.0.1]/", Mapped},
		{"10.0.0.0/8", "http://0x0a000001/", NumericHost},
		{"10.0.0.0/8", "http://u@10.0.0.1/", Userinfo},
		{"fd00::/8", "http://[fd00::1]:8000/", Allowed},
		{"[fd00::1]:8000", "http://[fd00:0::1]:8000/", Allowed},
		{"[fd00::1]:8000", "http://[fd00::1]:8001/", Private},
		{"ten.example.com", "http://ten.example.com:9000/", Allowed},
		{"TEN.Example.com.", "http://ten.example.com./", Allowed},
		{"ten.example.com:9000", "http://ten.example.com:9000/", Allowed},
		{"ten.example.com:9000", "http://ten.example.com:9001/", Port},
		{"ten.example.com", "http://evil-ten.example.com/", Unresolvable},
		{"ten.example.com", "http://loop.example.com/", Loopback},
		{"*.example.com", "http://loop.example.com:81/", Allowed},
		{"*.example.com", "http://example.com:81/", Port},
		{"*.nip.io", "http://127.0.0.1.nip.io/", Allowed},
		{"*.example.com", "http://imds.example.com/", Metadata},  // no name opens metadata
		{"169.254.0.0/16", "http://169.254.169.254/", Metadata},  // nor a net
		{"169.254.169.254", "http://169.254.169.254/", Allowed},  // only itself
		{"169.254.169.254", "http://imds.example.com/", Allowed}, //
		{"*.internal", "http://metadata.google.internal/", Metadata},
		{"metadata.google.internal", "http://metadata.google.internal/", Unresolvable}, // the name passes; its address is judged next
		{"64:ff9b::/96", "http://[64:ff9b::101:101]/", Allowed},
		{"64:ff9b::/96", "http://[64:ff9b::a00:1]/", Private},
		{"64:ff9b::/96", "http://nat64.example.com/", Metadata},
	} {
		if got := answers(c.allow).verdict(c.url); got != c.want {
			t.Errorf("with %s, %s is %s, want %s", c.allow, c.url, got, c.want)
		}
	}
}

func TestMalformedEntries(t *testing.T) {
	for _, text := range []string{
		"", "*", "*.", "*.*", "**.x.org", "a.*.org", "http://x.org", "x.org/path", "x y", "10.0.0.0/33", "10.0.0.1/8", "0.0.0.0/0", "::/0", "10.1", "0x7f.1",
		"127.0.0.01", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "fe80::1%eth0", "x.org:", "x.org:0", "x.org:99999", "x.org:http", "10.0.0.1:0", "-x.org", "münchen.de",
		"a\nb", "[::1]", "x.org,y.org", "user@x.org",
	} {
		_, err := New(Options{Allow: []string{"ok.example.com", text}})
		if err == nil {
			t.Errorf("%q is accepted", text)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q is not one line", text, err)
		}
	}
	for _, base := range []string{"", "x.org", "ftp://x.org", "https://u:hunter2@x.org", "http://münchen.de", "http://x.org:0"} {
		if _, err := New(Options{Trusted: []string{base}}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("base URL %q: %v", base, err)
		}
	}
}

func TestTrusted(t *testing.T) {
	g := newGuard(t, Options{Trusted: []string{"http://localhost:2368/blog", "https://ten.example.com", "http://127.0.0.1:3000", "http://[::1]:3001/api/v1"}})
	for url, want := range map[string]Verdict{
		"http://localhost:2368/ghost/api": Unresolvable, // the name passes, the vectors' resolver doesn't know it
		"http://localhost:2369/":          InternalName,
		"http://localhost/":               InternalName,
		"http://a.localhost:2368/":        InternalName,
		"https://ten.example.com/x":       Allowed,
		"https://TEN.example.com:443/x":   Allowed,
		"http://ten.example.com/x":        Private,
		"https://loop.example.com/":       Loopback,
		"http://127.0.0.1:3000/":          Allowed,
		"http://127.0.0.1:3001/":          Loopback,
		"http://[::1]:3001/":              Allowed,
		"http://[0::1]:3001/":             Allowed,
		"http://[::1]:3000/":              Loopback,
		"http://u:p@127.0.0.1:3000/":      Userinfo,
	} {
		if got := g.verdict(url); got != want {
			t.Errorf("%s is %s, want %s", url, got, want)
		}
	}
	if err := g.CheckAddr("ten.example.com", netip.MustParseAddrPort("10.1.2.3:80")); VerdictOf(err) != Private {
		t.Errorf("another port of a trusted host: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	g := newGuard(t, Options{})
	_, err := g.CheckURL("https://ada:hunter2@example.com/?key=hunter2")
	if VerdictOf(err) != Userinfo || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	_, err = g.CheckURL("http://10.0.0.1/?key=hunter2")
	wrapped := fmt.Errorf("fetching: %w", err)
	e := AsWire(wrapped)
	if e == nil || e.Code != wire.InvalidInput || !strings.Contains(e.Message, "GANTRY_EGRESS_ALLOW") || !strings.Contains(e.Message, "private") {
		t.Errorf("%+v", e)
	}
	if strings.Contains(e.Message, "hunter2") {
		t.Error("the text repeats the query")
	}
	if AsWire(nil) != nil || AsWire(errNoSuchHost) != nil || VerdictOf(errNoSuchHost) != "" {
		t.Error("what is no refusal is taken for one")
	}
	_, err = g.resolve(t.Context(), "nowhere.example.com", 443)
	if !errors.Is(err, errNoSuchHost) || strings.Contains(err.Error(), errNoSuchHost.Error()) {
		t.Errorf("the look-up's error is for the log: %v", err)
	}
	for _, a := range []netip.AddrPort{{}, netip.AddrPortFrom(netip.Addr{}, 80), netip.MustParseAddrPort("[fe80::1%lo]:80")} {
		if VerdictOf(g.CheckAddr("example.com", a)) == Allowed {
			t.Errorf("%v is allowed", a)
		}
	}
}

func BenchmarkCheckURL(b *testing.B) {
	g := newGuard(b, Options{})
	for b.Loop() {
		if _, err := g.CheckURL("https://api.github.com/repos/x/y?per_page=100"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckAddr(b *testing.B) {
	g := newGuard(b, Options{})
	a := netip.MustParseAddrPort("[2606:4700:4700::1111]:443")
	for b.Loop() {
		if err := g.CheckAddr("example.com", a); err != nil {
			b.Fatal(err)
		}
	}
}
