package vault

import (
	"strings"
	"testing"
)

func TestHostPattern(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not string // separated by spaces; - is no host
	}{
		{"api.example.com", "api.example.com API.Example.COM api.example.com. api.example.com:443 api.example.com:1",
			"example.com x.api.example.com api.example.com.evil.net api-example.com - api.example.com@evil.net evil.net/api.example.com api.example.com:0 api.example.com:x http://api.example.com"},
		{"api.example.com:8443", "api.example.com:8443 api.example.com.:8443", "api.example.com api.example.com:443 api.example.com:84430 -"},
		{"*.example.com", "a.example.com a.b.example.com:80", "example.com evilexample.com .example.com a.example.com.evil.net - *.example.com"},
		{"*.example.com:443", "a.example.com:443", "a.example.com a.example.com:80"},
		{"*", "anything a.b:1 127.0.0.1 [::1]:80 -", "a/b a@b a:b"},
		{"*:8080", "a:8080 [::1]:8080", "a a:80 -"},
		{"127.0.0.1", "127.0.0.1 127.0.0.1:9000", "127.0.0.2 127.0.0.1.nip.io 0127.0.0.1"},
		{"[::1]:80", "[::1]:80 [0:0::1]:80", "::1 [::1] [::1]:81"},
		{"[::1]", "::1 [::1] [::1]:81", "[::2]"},
		{"::1", "[::1]:81", "::2"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", "bücher.example"},
		{"localhost", "localhost:3000", "localhost.evil"},
	} {
		p, err := parsePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if again, err := parsePattern(p.String()); err != nil || again != p {
			t.Errorf("%s is written %s and read again as %+v, %v", c.pattern, p, again, err)
		}
		for want, list := range map[bool]string{true: c.yes, false: c.not} {
			for host := range strings.FieldsSeq(list) {
				if got := fitsHost(c.pattern, strings.TrimPrefix(host, "-")); got != want {
					t.Errorf("%s for %s: %t", c.pattern, host, got)
				}
			}
		}
	}
	for _, bad := range []string{"", "**", "*.", "*.*.com", "a.*.com", "a*", "*a.com", "https://a.com", "a.com/x", "u@a.com", "a.com:", "a.com:0", "a.com:70000",
		"*:", "*:x", "*.1.2.3", "*.10.0.0.1", "a b", "-a.com", "a..com", "bücher.example", "fe80::1%eth0", "a,b", "a\n", ".a", strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a"} {
		if p, err := parsePattern(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, p)
		}
	}
}

// FuzzHostPattern: what is accepted can be written and read again, and a suffix never fits a host that doesn't end like it.
func FuzzHostPattern(f *testing.F) {
	f.Add("*.example.com:443", "a.example.com:443")
	f.Add("[::1]", "::1")
	f.Add("*", "")
	f.Fuzz(func(t *testing.T, text, host string) {
		p, err := parsePattern(text)
		if err != nil {
			if fitsHost(text, host) {
				t.Errorf("%q is refused and fits %q", text, host)
			}
			return
		}
		if again, err := parsePattern(p.String()); err != nil || again != p {
			t.Errorf("%q is %+v, written %q, read again as %+v, %v", text, p, p.String(), again, err)
		}
		if p.host == wildcard || !fitsHost(text, host) {
			return
		}
		name, port, ok := splitHost(host)
		if !ok || p.port != "" && p.port != port || !strings.HasSuffix(name, p.host) || p.host[0] != '.' && name != p.host {
			t.Errorf("%q fits %q", text, host)
		}
	})
}
