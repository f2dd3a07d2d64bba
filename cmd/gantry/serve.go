package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"github.com/gantry-packs/gantry/api"
	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/plugins"
)

type serveCommand struct {
	Flags config.Config `embed:""`
}

// Run serves until ctx ends (SIGINT, SIGTERM), then lets the running calls end within the grace time.
func (*serveCommand) Run(ctx context.Context, k *kong.Context, p *process) (err error) {
	cfg, err := settings(given(k, p.env))
	if err != nil {
		return err
	}
	log := newLog(p, cfg)
	for _, name := range config.Unknown() {
		log.Warn("no variable is called so; gantry config lists them all", "variable", name)
	}
	packs, err := core()
	if err != nil {
		return err
	}
	l, err := listen(cfg.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	var h *host.Host
	err = p.err.During("opening "+cfg.DataDir, func(func(string)) (err error) {
		h, err = host.Open(ctx, cfg, packs, log)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return serve(ctx, p, h, l)
}

// serve answers at once, so that a probe sees the process; it says ready when the packs can run.
func serve(ctx context.Context, p *process, h *host.Host, l net.Listener) error {
	url := localURL(l.Addr())
	if h.Config.BaseURL == "" {
		h.SetBaseURL(url)
	}
	if h.FirstPassword != "" {
		fmt.Fprint(p.err, firstPassword(h.Config.AdminUsername, h.FirstPassword, url))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return api.Serve(ctx, l, api.New(h, release()), api.ServeOptions{
			Grace: h.Config.ShutdownGrace, MaxConnections: h.Config.MaxConnections, Log: h.Log,
		})
	})
	group.Go(func() error {
		err := p.err.During("warming up", func(stage func(string)) error {
			return h.Warm(ctx, func(module string) { stage("compiling " + module) })
		})
		if ctx.Err() != nil {
			return nil // stopped before it was ready, which is no failure
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "gantry %s ready on %s (data in %s)\n", release(), url, h.Config.DataDir)
		return err
	})
	return group.Wait()
}

// core is what the binary brings along: the core packs and their module. A binary without the module says so.
func core() (host.Core, error) {
	c := host.Core{FS: plugins.FS(), Module: plugins.Core, Digest: plugins.CoreDigest()}
	if c.Digest == "" {
		_, err := plugins.Core()
		return c, err
	}
	return c, nil
}

func newLog(p *process, cfg config.Config) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		level = slog.LevelInfo // config.Validate lets only known levels through
	}
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.err, options))
	}
	return slog.New(slog.NewTextHandler(p.err, options))
}

// listen opens the port, or says in one line what to do.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken: is Gantry running already? Stop it, or choose another port with --listen", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s may not be listened on by this user: choose a port above 1023 with --listen", address)
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return l, nil
}

// localURL is where a program on this machine reaches a listener; one on every address is reached on the loopback.
func localURL(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "http://" + a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// firstPassword is the framed notice of the first start, the only time that the password can be read.
func firstPassword(user, password, url string) string {
	rule := strings.Repeat("─", 78)
	return fmt.Sprintf(`%s
 First start. The administrator, shown this once (only the password's hash is kept):

   user name  %s
   password   %s

 Log in:  curl -s %s/api/v1/auth/login -H 'Content-Type: application/json' \
            -d '{"username":"%s","password":"%s"}'
 On this machine, as this user, "gantry call" and "gantry token" need no login.
%s
`, rule, user, password, url, user, password, rule)
}
