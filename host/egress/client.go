package egress

import (
	"net/http"
	"net/textproto"
	"slices"
	"time"
)

// MaxRedirects is how many redirects a client follows unless it is told otherwise.
const MaxRedirects = 5

const (
	tlsTimeout         = 10 * time.Second
	headerTimeout      = 60 * time.Second // for the headers of the answer, unless ClientOptions.Timeout is longer
	continueTimeout    = time.Second
	idleTimeout        = 30 * time.Second
	idleConnections    = 32
	idlePerHost        = 4
	maxResponseHeaders = 64 << 10 // bytes
)

// ClientOptions are what users of a client differ in.
type ClientOptions struct {
	Timeout      time.Duration // of a request with its redirects and the answer's body; 0: only its context ends it
	MaxRedirects int           // 0: [MaxRedirects]; below 0: a redirect is the answer, and is not followed
	// OnRedirect may refuse a redirect that the guard allows.
	OnRedirect func(req *http.Request, via []*http.Request) error
}

// Client makes an HTTP client that reaches nothing but what the guard allows. It has connections of its own, uses no proxy
// whatever the environment says, and keeps no cookies. To another host or scheme a redirect takes only headers that say
// nothing about who asks. Make one for a purpose and keep it.
func (g *Guard) Client(o ClientOptions) *http.Client {
	return &http.Client{Timeout: o.Timeout, Transport: g.transport(o), CheckRedirect: g.redirects(o)}
}

func (g *Guard) transport(o ClientOptions) *guarded {
	return &guarded{g, &http.Transport{
		Proxy:                  nil, // the environment has no say
		DialContext:            g.Dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  max(headerTimeout, o.Timeout),
		ExpectContinueTimeout:  continueTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           idleConnections,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxResponseHeaderBytes: maxResponseHeaders,
	}}
}

// guarded judges every request before it may use a connection, kept or new.
type guarded struct {
	guard *Guard
	*http.Transport
}

// RoundTrip is called for each redirect too.
func (t *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.judge(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as a RoundTripper must
		}
		return nil, err
	}
	return t.Transport.RoundTrip(req)
}

// judge refuses a Host header of another host too: behind one address may sit the sites of many, and a secret that is meant
// for one of them must not be handed to the next.
func (t *guarded) judge(req *http.Request) error {
	if _, err := t.guard.CheckURL(req.URL.String()); err != nil {
		return err
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return &Refusal{Verdict: HostHeader, Host: req.URL.Hostname()}
	}
	return nil
}

func (g *Guard) redirects(o ClientOptions) func(*http.Request, []*http.Request) error {
	most := o.MaxRedirects
	if most == 0 {
		most = MaxRedirects
	}
	return func(req *http.Request, via []*http.Request) error {
		if most < 0 {
			return http.ErrUseLastResponse
		}
		last := via[len(via)-1]
		if len(via) > most || last.URL.Scheme == "https" && req.URL.Scheme != "https" {
			return &Refusal{Verdict: Redirect, Host: req.URL.Hostname()}
		}
		if _, err := g.CheckURL(req.URL.String()); err != nil {
			return err
		}
		req.Header.Del("Referer") // it would tell the next host the query of the last, and a key in it
		if strayed(req, via) {
			anonymise(req.Header)
		}
		if o.OnRedirect != nil {
			return o.OnRedirect(req, via)
		}
		return nil
	}
}

// strayed says whether a chain of redirects has ever left the scheme, host and port that it began at: each step's headers
// are those of the first.
func strayed(req *http.Request, via []*http.Request) bool {
	origin := via[0].URL
	return slices.ContainsFunc(append(via[1:len(via):len(via)], req), func(r *http.Request) bool {
		return r.URL.Scheme != origin.Scheme || r.URL.Host != origin.Host
	})
}

// harmless are the headers that go to a host other than the one they were written for.
var harmless = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Language", "Content-Type", "Range", "User-Agent"}

// anonymise takes out every header that could be a credential. Which ones are is the caller's knowledge (X-Api-Key and so on),
// so those that surely aren't are kept.
func anonymise(h http.Header) {
	for name := range h {
		if !slices.Contains(harmless, textproto.CanonicalMIMEHeaderKey(name)) {
			delete(h, name)
		}
	}
}
