package imports

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// maxAuth is how many credentials one request may name in auth; maxPlaceholders how many times its headers may name one.
const (
	maxAuth         = 8
	maxPlaceholders = 16
)

var placeholder = regexp.MustCompile(`\$\{vault:([^{}]*)\}`)

// authorize puts the credentials that r names into o, for o's first address and no other.
func (s *sender) authorize(ctx context.Context, c *engine.Call, o *outgoing, r wire.HTTPRequest) error {
	if len(r.Auth) > maxAuth {
		return wire.Invalid("%d credentials are too many for one request: at most %d", len(r.Auth), maxAuth)
	}
	t := taker{ctx: ctx, vault: s.Vault, call: c, host: net.JoinHostPort(o.url.Hostname(), registry.Port(o.url))}
	for _, a := range r.Auth {
		if err := t.put(o, a); err != nil {
			return err
		}
	}
	if err := t.fill(o); err != nil {
		return err
	}
	if t.taken > 0 && o.header.Get("Range") != "" {
		// A server that repeats its request could be read out a few bytes at a time, each too short to be masked.
		return wire.Invalid("a request with a credential asks for the whole answer: leave the header Range out")
	}
	if s.isOwn(c, o.url) && o.header.Get("Authorization") == "" && o.secretHeader.Get("Authorization") == "" {
		token, err := s.Delegate(c.Caller)
		if err != nil {
			return fmt.Errorf("making a token for the service itself: %w", err)
		}
		c.Secrets.Add([]byte(token))
		o.secretHeader.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// taker takes credentials for one request.
type taker struct {
	ctx   context.Context
	vault *vault.Vault
	call  *engine.Call
	host  string
	taken int
}

// errNotGranted doesn't repeat the name: what a caller has put in its place may be the secret itself.
func errNotGranted(c *engine.Call) error {
	return wire.Failed("%s asks for a credential that its manifest's permissions.vault does not cover", c.Pack.Name)
}

// take returns a credential's secret, to be wiped after use. From then on the call masks it in all that it says.
func (t *taker) take(name string, types ...string) (vault.Secret, error) {
	if !t.call.Pack.AllowsCredential(name, t.call.Input) {
		return vault.Secret{}, errNotGranted(t.call)
	}
	secret, err := t.vault.Take(t.ctx, vault.Ask{Caller: t.call.Caller, Pack: t.call.Pack.Name, Name: name, Host: t.host, Types: types})
	if err != nil {
		return vault.Secret{}, err
	}
	t.call.Secrets.Add(secret.Reveal())
	t.taken++
	return secret, nil
}

// text is a secret as it stands in a header or query: without the line break that came with it from a file.
func text(name string, secret []byte) (string, error) {
	value := string(bytes.TrimRight(secret, "\r\n"))
	if value == "" || !isHeaderValue(value) {
		return "", wire.Invalid("the credential %s has several lines or is empty: it does not fit into a header", cut(name))
	}
	return value, nil
}

// put puts one credential in as a says.
func (t *taker) put(o *outgoing, a wire.HTTPAuth) error {
	how, name, named := strings.Cut(a.As, ":")
	if named && name == "" || named != (how == "header" || how == "query") || !slices.Contains([]string{"bearer", "basic", "header", "query"}, how) {
		return wire.Invalid("as is %q: use bearer, basic, header:NAME or query:NAME", cut(a.As))
	}
	if how == "header" && (!isToken(name) || slices.Contains(ours, http.CanonicalHeaderKey(name))) {
		return wire.Invalid("as is %q: that header cannot hold a credential", cut(a.As))
	}
	if how == "basic" {
		return t.basic(o, a.Credential)
	}
	secret, err := t.take(a.Credential, vault.TypeAPIKey)
	if err != nil {
		return err
	}
	defer secret.Wipe()
	value, err := text(a.Credential, secret.Reveal())
	if err != nil {
		return err
	}
	switch how {
	case "bearer":
		o.secretHeader.Set("Authorization", "Bearer "+value)
	case "header":
		o.secretHeader.Set(name, value)
	case "query":
		o.secretQuery[name] = value
	}
	return nil
}

// basic takes a login, or a key as user:password, or a key alone as the user name.
func (t *taker) basic(o *outgoing, name string) error {
	secret, err := t.take(name, vault.TypeAPIKey, vault.TypeLogin)
	if err != nil {
		return err
	}
	defer secret.Wipe()
	pair := string(bytes.TrimRight(secret.Reveal(), "\r\n"))
	if secret.Type() == vault.TypeLogin {
		username, password, ok := secret.Login()
		if !ok || strings.Contains(username, ":") {
			return wire.Invalid("the credential %s is not a login of username and password that basic can take", cut(name))
		}
		t.call.Secrets.Add([]byte(password))
		pair = username + ":" + password
	} else if !strings.Contains(pair, ":") {
		pair += ":"
	}
	value := base64.StdEncoding.EncodeToString([]byte(pair))
	t.call.Secrets.Add([]byte(value))
	o.secretHeader.Set("Authorization", "Basic "+value)
	return nil
}

// fill replaces ${vault:NAME} in the headers' values.
func (t *taker) fill(o *outgoing) error {
	found := 0
	for name, values := range o.header {
		value := values[0]
		if !strings.Contains(value, "${vault:") {
			continue
		}
		var failed error
		filled := placeholder.ReplaceAllStringFunc(value, func(m string) string {
			credential := placeholder.FindStringSubmatch(m)[1]
			if found++; found > maxPlaceholders && failed == nil {
				failed = wire.Invalid("the headers name credentials more than %d times", maxPlaceholders)
			}
			if failed != nil {
				return ""
			}
			var secret vault.Secret
			if secret, failed = t.take(credential, vault.TypeAPIKey); failed != nil {
				return ""
			}
			defer secret.Wipe()
			var in string
			in, failed = text(credential, secret.Reveal())
			return in
		})
		if failed != nil {
			return failed
		}
		if strings.Contains(placeholder.ReplaceAllString(value, ""), "${vault:") {
			return wire.Invalid("the header %s has a ${vault: that does not end: write ${vault:NAME}", name)
		}
		delete(o.header, name)
		o.secretHeader.Set(name, filled)
	}
	return nil
}
