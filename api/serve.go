package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// What a connection may take.
const (
	headerTimeout  = 10 * time.Second // to send a request's headers
	idleTimeout    = 2 * time.Minute  // between requests
	maxHeaderBytes = 32 << 10
	endTimeout     = 5 * time.Second // for calls to end after they were cancelled
)

// ServeOptions are the settings of Serve.
type ServeOptions struct {
	Grace          time.Duration // how long running requests may go on after the end of ctx
	MaxConnections int           // further ones wait to be accepted
	Log            *slog.Logger
}

// Serve answers requests on l until ctx ends. Then it takes no new ones, lets the running ones end for the time of the
// grace, cancels those that are left, and returns nil when all have ended.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o ServeOptions) error {
	base, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelCalls()
	srv := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(netutil.LimitListener(l, o.MaxConnections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	if shutdown(srv, o.Grace) == nil {
		return nil
	}
	o.Log.Warn("cancelling the requests that still run", "grace", o.Grace)
	cancelCalls()
	if err := shutdown(srv, endTimeout); err != nil {
		return errors.Join(fmt.Errorf("requests were running %v after they were cancelled: %w", endTimeout, err), srv.Close())
	}
	return nil
}

func shutdown(srv *http.Server, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return srv.Shutdown(ctx)
}
