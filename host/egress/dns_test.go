package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is what a hostile DNS server answers for a name: one list of addresses for each question in turn, the last one for
// every question after it. alias makes the answer a CNAME with those addresses behind it.
type zone struct {
	alias string
	turns [][]string
}

// dnsServer is a real DNS server on the loopback.
type dnsServer struct {
	t     *testing.T
	conn  net.PacketConn
	mu    sync.Mutex
	zones map[string]zone
	asked map[string]int // how often a name was asked for, by "name. TypeA"
}

func newDNS(t *testing.T, zones map[string]zone) *dnsServer {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{t: t, conn: conn, zones: zones, asked: map[string]int{}}
	done := make(chan struct{})
	go func() { defer close(done); s.serve() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

// lookup asks the server by Go's own resolver.
func (s *dnsServer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", s.conn.LocalAddr().String())
	}}
	return r.LookupNetIP(ctx, "ip", host+".") // as a full name, so that no search list of the machine comes in
}

func (s *dnsServer) questions(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[host+". TypeA"]
}

func (s *dnsServer) serve() {
	b := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(b)
		if err != nil {
			return // closed
		}
		var m dnsmessage.Message
		if err := m.Unpack(b[:n]); err != nil || len(m.Questions) != 1 {
			s.t.Errorf("a bad question: %v", err)
			continue
		}
		s.answer(&m)
		raw, err := m.Pack()
		if err != nil {
			s.t.Errorf("packing the answer: %v", err)
			continue
		}
		if _, err := s.conn.WriteTo(raw, from); err != nil {
			return
		}
	}
}

func (s *dnsServer) answer(m *dnsmessage.Message) {
	q := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true}
	m.Additionals = nil
	z, ok := s.zones[strings.TrimSuffix(q.Name.String(), ".")]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
		return
	}
	s.mu.Lock()
	key := fmt.Sprintf("%s %s", q.Name, q.Type)
	turn := min(s.asked[key], len(z.turns)-1)
	s.asked[key]++
	s.mu.Unlock()
	name := q.Name
	if z.alias != "" {
		name = dnsmessage.MustNewName(z.alias)
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.CNAMEResource{CNAME: name},
		})
	}
	for _, text := range z.turns[turn] {
		if body := record(netip.MustParseAddr(text), q.Type); body != nil {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}, Body: body})
		}
	}
}

// record is an address as the answer to a question of a type, nil if it doesn't fit.
func record(a netip.Addr, q dnsmessage.Type) dnsmessage.ResourceBody {
	switch {
	case a.Is4() && q == dnsmessage.TypeA:
		return &dnsmessage.AResource{A: a.As4()}
	case a.Is6() && q == dnsmessage.TypeAAAA:
		return &dnsmessage.AAAAResource{AAAA: a.As16()}
	}
	return nil
}

// always answers the same.
func always(addrs ...string) zone { return zone{turns: [][]string{addrs}} }

func TestHostileAnswers(t *testing.T) {
	s := newDNS(t, map[string]zone{
		"good.example.org":   always("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
		"alias.example.org":  {alias: "localhost.", turns: [][]string{{"127.0.0.1"}}},
		"alias6.example.org": {alias: "ip6-localhost.", turns: [][]string{{"::1"}}},
		"fine.example.org":   {alias: "good.example.org.", turns: [][]string{{"93.184.215.14"}}},
		"zero.example.org":   always("0.0.0.0"),
		"mapped.example.org": always("::ffff:127.0.0.1"),
		"mappub.example.org": always("::ffff:169.254.169.254", "93.184.215.14"),
		"imds.example.org":   always("169.254.169.254"),
		"mixed.example.org":  always("93.184.215.14", "10.0.0.7"),
		"mixed6.example.org": always("93.184.215.14", "::1"),
		"nat64.example.org":  always("64:ff9b::7f00:1"),
		"sixto4.example.org": always("2002:a00:1::"),
		"empty.example.org":  always(),
	})
	g := newGuard(t, Options{Lookup: s.lookup})
	for host, want := range map[string]Verdict{
		"good.example.org": Allowed, "alias.example.org": Loopback, "alias6.example.org": Loopback, "fine.example.org": Allowed,
		"zero.example.org": Unspecified, "mapped.example.org": Loopback, "mappub.example.org": Mixed, "imds.example.org": Metadata,
		"mixed.example.org": Mixed, "mixed6.example.org": Mixed, "nat64.example.org": NAT64, "sixto4.example.org": SixToFour,
		"empty.example.org": Unresolvable, "none.example.org": Unresolvable,
	} {
		if got := g.verdict("https://" + host + "/"); got != want {
			t.Errorf("%s is %s, want %s", host, got, want)
		}
	}
}

// listenOn serves on an address of the loopback net, which has more than one only on some systems.
func listenOn(t *testing.T, address string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Skipf("this system has no %s: %v", address, err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// A name that was good at the first look-up and leads to the loopback at the second: the secret server must not be reached,
// neither by a request after it nor by the second attempt of one.
func TestRebinding(t *testing.T) {
	good := listenOn(t, "127.0.0.2:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("good")) }))
	port := netip.MustParseAddrPort(good.Listener.Addr().String()).Port()
	secret := listenOn(t, fmt.Sprintf("127.0.0.1:%d", port), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the secret server was reached")
	}))
	dns := newDNS(t, map[string]zone{"rebind.example.org": {turns: [][]string{{"127.0.0.2"}, {"127.0.0.1"}}}})
	g := newGuard(t, Options{Allow: []string{"127.0.0.2"}, Lookup: dns.lookup})
	g.ports[port] = true
	client := g.Client(ClientOptions{Timeout: 10 * time.Second})
	url := fmt.Sprintf("http://rebind.example.org:%d/", port)
	if body, err := get(client, url); err != nil || body != "good" {
		t.Fatalf("%q, %v", body, err)
	}
	if n := dns.questions("rebind.example.org"); n != 1 {
		t.Errorf("%d look-ups for one connection: what is judged must be what is dialled", n)
	}
	client.CloseIdleConnections()
	for range 3 {
		if body, err := get(client, url); VerdictOf(err) != Loopback {
			t.Errorf("after the name moved: %q, %v", body, err)
		}
	}
	if _, err := get(client, secret.URL); VerdictOf(err) != Loopback {
		t.Errorf("directly: %v", err)
	}
}

// The last word is about the socket's own address, whatever was looked up before.
func TestControl(t *testing.T) {
	g := newGuard(t, Options{Allow: []string{"10.0.0.0/8"}})
	for address, want := range map[string]Verdict{
		"93.184.215.14:443": Allowed, "10.0.0.1:22": Allowed, "127.0.0.1:80": Loopback, "[::1]:443": Loopback, "169.254.169.254:80": Metadata,
		"93.184.215.14:22": Port, "[fe80::1%lo]:80": LinkLocal, "localhost:80": Syntax, "": Syntax, "/run/docker.sock": Syntax,
	} {
		if err := g.control("example.com")(t.Context(), "tcp", address, nil); VerdictOf(err) != want {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}

// A look-up that is wrong, or an answer that changes after it was judged, doesn't help: the socket itself asks.
func TestConnectAsksAgain(t *testing.T) {
	secret := listenOn(t, "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	good := listenOn(t, "127.0.0.2:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	bad, fine := netip.MustParseAddrPort(secret.Listener.Addr().String()), netip.MustParseAddrPort(good.Listener.Addr().String())
	g := newGuard(t, Options{Allow: []string{"127.0.0.2"}})
	ctx, cancel := context.WithTimeout(t.Context(), connectTimeout)
	defer cancel()
	if conn, err := g.connect(ctx, "rebind.example.org", []netip.AddrPort{bad}); conn != nil || VerdictOf(err) != Loopback {
		t.Errorf("connected to %v (%v)", bad, err)
	}
	conn, err := g.connect(ctx, "rebind.example.org", []netip.AddrPort{bad, fine})
	if err != nil || conn.RemoteAddr().String() != fine.String() {
		t.Fatalf("%v", err)
	}
	conn.Close()
}

func TestDialRefuses(t *testing.T) {
	g := newGuard(t, Options{})
	for address, want := range map[string]Verdict{
		"127.0.0.1:80": Loopback, "[::1]:80": Loopback, "localhost:80": InternalName, "example.com:22": Port, "0x7f.1:80": NumericHost,
		"127.0.0.1:80@example.com:80": Userinfo, "mixed.example.com:80": Mixed, "①.example.com:80": NonASCII,
		"example.com:80/../x": Syntax,
	} {
		conn, err := g.Dial(t.Context(), "tcp", address)
		if conn != nil {
			conn.Close()
		}
		if VerdictOf(err) != want {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
	if _, err := g.Dial(t.Context(), "unix", "/run/docker.sock"); err == nil {
		t.Error("a unix socket is dialled")
	}
}

func portOfServer(t *testing.T, s *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}
