package imports

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// The limits of one request. Sizes are bytes.
const (
	defaultRequestTime = 30 * time.Second
	defaultBody        = 32 << 20
	maxBody            = 64 << 20
	maxInline          = 4 << 20
	maxAnswerHeader    = 64 << 10
)

// ownSetting is the setting that is the service's own address. A pack whose permissions.net names it speaks to the service as
// its caller.
const ownSetting = "GANTRY_BASE_URL"

// Network is how modules reach other servers.
type Network struct {
	Guard *egress.Guard
	Vault *vault.Vault
	// Setting gives the settings that permissions.net may name, each a URL.
	Setting func(name string) (string, bool)
	// Delegate makes a token with which a request to the service itself is made for the caller; it is soon over.
	Delegate func(c auth.Caller) (string, error)
}

// sender makes the requests of http_send. It follows redirects itself: what may go along is decided anew at each hop.
type sender struct {
	Network
	guarded *http.Client
	own     atomic.Pointer[ownClient]
}

// ownClient reaches the service itself and nothing else: the guard of all others refuses it like any other local address.
type ownClient struct {
	base string
	*http.Client
}

// stay makes a client of a guard for which a redirect is an answer.
func stay(g *egress.Guard) *http.Client { return g.Client(egress.ClientOptions{MaxRedirects: -1}) }

func newSender(n Network) *sender {
	s := &sender{Network: n}
	if n.Guard != nil { // nil: a table for looking at
		s.guarded = stay(n.Guard)
	}
	return s
}

// client is the one for a URL that has passed check.
func (s *sender) client(c *engine.Call, u *url.URL) (*http.Client, error) {
	if !s.isOwn(c, u) {
		return s.guarded, nil
	}
	base, _ := s.Setting(ownSetting)
	if own := s.own.Load(); own != nil && own.base == base {
		return own.Client, nil
	}
	guard, err := egress.New(egress.Options{Trusted: []string{base}})
	if err != nil {
		return nil, fmt.Errorf("reaching the service itself: %w", err)
	}
	own := &ownClient{base, stay(guard)}
	s.own.Store(own)
	return own.Client, nil
}

func sendHTTP(n Network) function {
	s := newSender(n)
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		r, err := decode[wire.HTTPRequest](req)
		if err != nil {
			return nil, err
		}
		o, err := s.prepare(ctx, c, r)
		if err != nil {
			return nil, err
		}
		rctx, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		resp, err := s.follow(rctx, c, o)
		if err != nil {
			return nil, failure(ctx, rctx, o, err)
		}
		defer resp.Body.Close()
		answer, err := receive(c, resp, r, o.url)
		if err != nil {
			return nil, failure(ctx, rctx, o, err)
		}
		return answer, nil
	}
}

// prepare checks a request and fetches its credentials. Nothing has been sent when it fails.
func (s *sender) prepare(ctx context.Context, c *engine.Call, r wire.HTTPRequest) (*outgoing, error) {
	o, err := newOutgoing(c, r)
	if err != nil {
		return nil, err
	}
	if strings.Contains(r.URL, "${vault:") {
		return nil, wire.Invalid("a URL is logged on its way, so no credential is put into one: use auth with as query:NAME")
	}
	if o.url, err = s.check(c, r.URL); err != nil {
		return nil, err
	}
	if err := s.authorize(ctx, c, o, r); err != nil {
		return nil, err
	}
	return o, nil
}

// check says whether the pack may ask for a URL at all, and the service for it.
func (s *sender) check(c *engine.Call, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, wire.Invalid("url is not a URL such as https://api.acme.test/items")
	}
	if !c.Pack.AllowsURL(u, s.Setting) {
		return nil, wire.Failed("%s may not reach %s: its manifest's permissions.net does not cover it", c.Pack.Name, cut(u.Host))
	}
	if s.isOwn(c, u) {
		return u, nil
	}
	u, err = s.Guard.CheckURL(raw)
	if e := egress.AsWire(err); e != nil {
		return nil, e
	}
	return u, err
}

// isOwn says whether u is the service itself, for a pack that may speak to it.
func (s *sender) isOwn(c *engine.Call, u *url.URL) bool {
	if !c.Pack.NamesSetting(ownSetting) {
		return false
	}
	value, _ := s.Setting(ownSetting)
	base, err := url.Parse(value)
	return err == nil && base.Host != "" && u.User == nil && originOf(base) == originOf(u)
}

// originOf is what a credential is bound to: scheme, host and port.
func originOf(u *url.URL) string {
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + registry.Port(u))
}

// follow sends o and goes where it is sent on to.
func (s *sender) follow(ctx context.Context, c *engine.Call, o *outgoing) (*http.Response, error) {
	for hop := 0; ; hop++ {
		req, err := o.request(ctx)
		if err != nil {
			return nil, err
		}
		client, err := s.client(c, o.url)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		location := resp.Header.Get("Location")
		if location == "" || !slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) {
			return resp, nil
		}
		resp.Body.Close()
		if hop == egress.MaxRedirects {
			return nil, &egress.Refusal{Verdict: egress.Redirect, Host: o.url.Hostname()}
		}
		if err := s.sendOn(c, o, resp.StatusCode, location); err != nil {
			return nil, err
		}
	}
}

// sendOn turns o into the request that a redirect asks for.
func (s *sender) sendOn(c *engine.Call, o *outgoing, status int, location string) error {
	to, err := o.url.Parse(location)
	if err != nil {
		return wire.Failed("%s sends on to something that is not a URL", cut(o.url.Host))
	}
	from := originOf(o.url)
	if originOf(to) != from && tells(c.Secrets, to) {
		return wire.Failed("%s sends on to another host with the credential in the address: not followed", cut(o.url.Host))
	}
	checked, err := s.check(c, to.String())
	if err != nil {
		e := wire.As(err)
		return wire.Errorf(e.Code, "%s sends on to another address: %s", cut(o.url.Host), e.Message)
	}
	if o.url.Scheme == "https" && checked.Scheme != "https" {
		return &egress.Refusal{Verdict: egress.Redirect, Host: checked.Hostname()}
	}
	o.url = checked
	if originOf(checked) != from {
		o.dropCredentials()
	}
	if status == http.StatusSeeOther && o.method != http.MethodHead || status < http.StatusSeeOther && o.method == http.MethodPost {
		o.method = http.MethodGet
		o.dropBody()
	}
	return nil
}

// tells says whether a secret is in a URL, however much of it is escaped.
func tells(m *vault.Masker, u *url.URL) bool {
	text := u.String()
	forms := []string{text}
	for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
		if plain, err := unescape(text); err == nil {
			forms = append(forms, plain)
		}
	}
	return slices.ContainsFunc(forms, func(form string) bool { return m.MaskString(form) != form })
}

// cut keeps a host's name short enough to be repeated.
func cut(s string) string { return s[:min(len(s), 100)] }
