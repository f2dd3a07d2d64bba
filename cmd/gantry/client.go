package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/config"
)

const (
	localTokenTTL  = 5 * time.Minute
	maxAnswerBytes = 256 << 20 // of one response; an envelope may carry 96 MiB of blobs as base64
)

// remote is how a subcommand finds the running service.
type remote struct {
	URL     string `help:"Where the service answers ($$GANTRY_URL)." placeholder:"URL"`
	DataDir string `help:"The service's data dir on this machine: its key stands in for $$GANTRY_TOKEN." placeholder:"DIR"`
}

// service is a running Gantry, spoken to over HTTP.
type service struct {
	base  string
	token config.Secret
	local bool // the token was made here, with the key in the data dir
	http  *http.Client
}

// serviceError is an error that the service answered.
type serviceError struct {
	Pack    string `json:"pack"`
	Code    string `json:"error"`
	Message string `json:"message"`
}

func (e *serviceError) Error() string {
	if e.Pack == "" {
		return e.Code + ": " + e.Message
	}
	return e.Pack + ": " + e.Code + ": " + e.Message
}

// connect finds the service and a token for it.
func (r remote) connect(p *process) (*service, error) {
	client, err := config.ClientFromEnv(with(p.env, "GANTRY_URL", r.URL))
	if err != nil {
		return nil, usageError{err}
	}
	// A redirect would carry the token and the body elsewhere: it is an answer like another, and a wrong one.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &service{base: strings.TrimRight(client.URL, "/"), token: client.Token, http: &http.Client{CheckRedirect: stay}}
	if s.token.Reveal() != "" {
		return s, nil
	}
	s.local = true
	s.token, err = r.localToken(p, s.base)
	return s, err
}

// localToken signs an administrator's token with the key in the data dir. It goes to this machine alone: another one that
// is named in GANTRY_URL must not be handed a token for this one's service.
func (r remote) localToken(p *process, base string) (config.Secret, error) {
	if !loopback(base) {
		return "", usageError{fmt.Errorf("set GANTRY_TOKEN: %s is another machine, so the key in this one's data dir is not used for it", base)}
	}
	cfg, err := settings(with(p.env, "GANTRY_DATA_DIR", r.DataDir))
	if err != nil {
		return "", err
	}
	token, err := auth.LocalToken(cfg.DataDir, cfg.AdminUsername, []string{"admin"}, localTokenTTL, time.Now())
	if err != nil {
		return "", usageError{fmt.Errorf("no token: set GANTRY_TOKEN, or name the service's data dir with --data-dir (%w)", err)}
	}
	return config.Secret(token), nil
}

// loopback says whether a URL's host can only be this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// do sends one request and returns the body of a 2xx answer; any other is a *serviceError.
func (s *service) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, usageError{fmt.Errorf("the service's URL %s: %w", s.base, err)}
	}
	req.Header.Set("Authorization", "Bearer "+s.token.Reveal())
	req.Header.Set("User-Agent", "gantry/"+release())
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, s.unreachable(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", s.base, err)
	}
	if len(raw) > maxAnswerBytes {
		return nil, fmt.Errorf("the answer of %s is larger than %d MiB", s.base, maxAnswerBytes>>20)
	}
	if resp.StatusCode/100 == 2 {
		return raw, nil
	}
	return nil, s.refused(resp, raw)
}

// refused reads an error answer; one that isn't Gantry's own is told by its status.
func (s *service) refused(resp *http.Response, raw []byte) error {
	e := &serviceError{}
	if json.Unmarshal(raw, e) != nil || e.Code == "" {
		return fmt.Errorf("%s answered %s: is it Gantry?", s.base, resp.Status)
	}
	if e.Code == "unauthorized" && s.local {
		e.Message += " (it was signed with this machine's key: is the service's data dir another one? see --data-dir)"
	}
	return e
}

func (s *service) unreachable(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("nothing answers at %s: start it with gantry serve, or set GANTRY_URL", s.base)
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err // the URL is told once
	}
	return fmt.Errorf("calling %s: %w", s.base, err)
}
