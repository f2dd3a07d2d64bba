// Package engine runs packs. [Engine.Call] is the only way a pack runs, whoever asks: the HTTP door, the command line or
// another pack. It checks the input, holds the limits, keeps the deadline, checks the output and leaves one audit row
// behind, however the call ends. How a pack's program is run is a [Runner]'s affair.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// Scope is what a caller needs to call packs.
const Scope = "packs:call"

// Action is the action of a pack call's audit row.
const Action = "pack.call"

// Runner runs one kind of pack. It finds the running [Call] in ctx too, must stop when ctx ends, and answers a JSON object.
// The text of an error that is not a *wire.Error is shown to nobody but the log.
type Runner interface {
	Run(ctx context.Context, c *Call, input []byte) (output []byte, err error)
}

// Config is what an engine is made of.
type Config struct {
	Packs   *registry.Set
	Runners map[string]Runner // by handler type
	Audit   *audit.Log
	Limits  Limits
	Now     func() time.Time
	NewID   func() string
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Engine runs pack calls.
type Engine struct {
	packs   *registry.Set
	runners map[string]Runner
	audit   *audit.Log
	gate    *gate
	now     func() time.Time
	newID   func() string
	log     *slog.Logger
	metrics *metrics
}

// New makes an engine.
func New(c Config) *Engine {
	g := newGate(c.Limits)
	return &Engine{
		packs: c.Packs, runners: c.Runners, audit: c.Audit, gate: g,
		now: c.Now, newID: c.NewID, log: c.Log, metrics: newMetrics(c.Metrics, g),
	}
}

// Request asks for one pack call.
type Request struct {
	Pack      string
	Input     []byte // a JSON object; empty means {}
	Caller    auth.Caller
	RequestID string
	Remote    string // the caller's address, for the audit row
	Progress  func(percent float64, message string)
}

// Call runs a pack to its end. The error is always a *wire.Error. However it ends, by success, failure, panic or a caller
// who went away, one audit row is written before Call returns.
func (e *Engine) Call(ctx context.Context, r Request) (env Envelope, err error) {
	c := &Call{
		ID: e.newID(), RequestID: r.RequestID, Caller: r.Caller, Started: e.now(),
		Blobs: NewBlobs(), Secrets: vault.NewMasker(), progress: r.Progress,
	}
	defer func() {
		if p := recover(); p != nil {
			env, err = Envelope{}, wire.As(fmt.Errorf("panic in a call of %s: %v\n%s", r.Pack, p, debug.Stack()))
		}
		if err != nil {
			err = c.maskError(wire.As(err))
		}
		e.finish(ctx, c, r, err)
		env.Duration = e.now().Sub(c.Started)
	}()
	output, err := e.run(ctx, c, r)
	if err != nil {
		return Envelope{}, err
	}
	return Envelope{Pack: c.Pack.Name, Version: EnvelopeVersion, Output: output, Artifacts: c.Artifacts()}, nil
}

// run is the call itself, step by step.
func (e *Engine) run(ctx context.Context, c *Call, r Request) ([]byte, error) {
	if !r.Caller.May(Scope) {
		return nil, wire.Errorf(wire.Forbidden, "calling packs needs a token with the scope %s", Scope)
	}
	pack, ok := e.packs.Lookup(r.Pack)
	if !ok {
		return nil, wire.Errorf(wire.PackNotFound, "no pack is called %q: GET /api/v1/packs lists them", cut(r.Pack))
	}
	c.Pack = pack
	runner, ok := e.runners[pack.Handler.Type]
	if !ok {
		return nil, wire.Errorf(wire.SessionUnavailable, "%s needs a %s runner, which this service does not have", pack.Name, pack.Handler.Type)
	}
	leave, err := e.gate.enter(ctx, r.Caller.Subject)
	if err != nil {
		return nil, err
	}
	defer leave()
	input, err := prepare(c, r.Input)
	if err != nil {
		return nil, err
	}
	rctx, cancel := context.WithTimeout(WithCall(ctx, c), pack.Timeout())
	defer cancel()
	output, err := runner.Run(rctx, c, input)
	if err != nil {
		return nil, ended(ctx, rctx, pack, err)
	}
	return deliver(c, output)
}

// ended says why a run failed: a context that has ended is the reason, whatever the runner made of it.
func ended(ctx, rctx context.Context, pack *registry.Pack, err error) error {
	switch {
	case ctx.Err() != nil:
		return wire.As(ctx.Err())
	case errors.Is(rctx.Err(), context.DeadlineExceeded):
		return wire.Errorf(wire.Timeout, "%s ran past its limit of %v", pack.Name, pack.Timeout()).Because(err)
	}
	return err
}

// finish leaves the traces of a call that has ended: audit row, metrics, and the log of an error whose text is hidden.
func (e *Engine) finish(ctx context.Context, c *Call, r Request, err error) {
	c.Blobs.Drop()
	defer c.Secrets.Wipe()
	took := e.now().Sub(c.Started)
	row := audit.Row{
		At: c.Started, RequestID: r.RequestID, Subject: r.Caller.Subject, Client: r.Caller.Client, Action: Action, Pack: cut(r.Pack),
		Status: "ok", DurationMS: float64(took.Microseconds()) / 1000, InputSHA256: digest(r.Input), Remote: r.Remote,
	}
	we := wire.As(err)
	if we != nil {
		row.Status, row.Error = "error", string(we.Code)
		level := slog.LevelDebug
		if we.Code == wire.Internal {
			level = slog.LevelError
		}
		e.log.Log(ctx, level, "pack call failed", "pack", cut(r.Pack), "request_id", r.RequestID, "code", we.Code, "message", we.Message, "cause", errors.Unwrap(we))
	}
	e.metrics.ended(c.Pack, row.Error, took)
	if aerr := e.audit.Append(ctx, row); aerr != nil { // which writes it for a caller who is gone, too
		e.log.Error("audit row lost", "request_id", r.RequestID, "pack", row.Pack, "error", aerr)
	}
}

func digest(input []byte) string {
	if len(input) == 0 {
		return ""
	}
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:])
}

// cut keeps a caller's text short enough to be repeated.
func cut(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
