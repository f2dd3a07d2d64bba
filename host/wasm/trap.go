package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/sys"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// stopped is what the meter panics with when the call's context has ended.
type stopped struct{ why error }

func (s stopped) Error() string { return s.why.Error() }
func (s stopped) Unwrap() error { return s.why }

// refusal is what a host function panics with when the guest asks for what there isn't; its text is for the pack's author.
type refusal string

func (r refusal) Error() string { return string(r) }

// unlinked is why a module could not be instantiated: it imports what there isn't, say, or with other types.
type unlinked struct{ error }

func (u unlinked) Unwrap() error { return u.error }

// explain turns the engine's error into one for the caller: what the pack did, never a stack.
func (in *instance) explain(ctx context.Context, err error) error {
	var (
		stop  stopped
		no    refusal
		exit  *sys.ExitError
		bug   runtime.Error
		link  unlinked
		name  = in.call.Pack.Name
		cause = in.withStderr(err)
	)
	switch {
	case errors.As(err, &stop):
		return stop.why
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &no):
		return wire.Failed("%s: %s", name, string(no)).Because(cause)
	case errors.As(err, &bug):
		return fmt.Errorf("a host function panicked: %w", err)
	case in.memory.refused:
		return wire.Failed("%s ran out of its %d MiB of memory", name, in.call.Pack.MemoryMB()).Because(cause)
	case errors.As(err, &exit):
		return wire.Failed("%s exited with status %d instead of answering", name, exit.ExitCode()).Because(cause)
	case errors.As(err, &link):
		return wire.Failed("%s cannot be started: %s", name, firstLine(link.Error())).Because(cause)
	}
	// wazero keeps the types of its traps to itself, and names this one without the prefix.
	if kind, ok := strings.CutPrefix(firstLine(err.Error()), "wasm error: "); ok || kind == "stack overflow" {
		return wire.Failed("%s crashed: %s", name, kind).Because(cause)
	}
	return cause
}

func (in *instance) withStderr(err error) error {
	if in.stderr.n == 0 {
		return err
	}
	return fmt.Errorf("%w\nthe pack's stderr:\n%s", err, in.stderr.String())
}

// guestError is what the pack gave to error_set: a wire.Error of a code that packs may raise, or any text.
func (in *instance) guestError() error {
	var e wire.Error
	if json.Unmarshal(in.failure, &e) == nil && e.Message != "" {
		e.Message = clean(in.call.Secrets.MaskString(e.Message))
		if len(e.Details) > maxGuestError || !utf8.Valid(e.Details) {
			e.Details = nil
		}
		if !e.Code.FromPack() {
			e.Code = wire.HandlerFailed
		}
		if e.Code == wire.Internal {
			return wire.Errorf(wire.Internal, "%s", e.Message).Because(in.withStderr(errors.New("raised by the pack")))
		}
		return &e
	}
	text := clean(in.call.Secrets.MaskString(string(in.failure)))
	if text == "" {
		text = "failed without saying why"
	}
	return wire.Failed("%s", text)
}

func (in *instance) exited(code int32) error {
	return wire.Failed("%s failed with status %d and without saying why", in.call.Pack.Name, code).Because(in.withStderr(errors.New("no error_set")))
}

// clean makes a guest's text fit to be repeated; a character that the limit cuts becomes U+FFFD.
func clean(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxGuestError)], "\uFFFD")
}
