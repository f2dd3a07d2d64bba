// Package wire holds the shapes that cross the sandbox wall: what a pack says to the host and what the host answers.
// Both sides compile it, so it imports nothing but the standard library.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Code is one of the closed set of error codes. Packs may raise the eight of [Code.FromPack]; the rest are the host's.
type Code string

// The codes a pack may raise.
const (
	InvalidInput       Code = "invalid_input"
	InvalidOutput      Code = "invalid_output"
	SchemaMismatch     Code = "schema_mismatch"
	SessionUnavailable Code = "session_unavailable"
	HandlerFailed      Code = "handler_failed"
	ArtifactFailed     Code = "artifact_failed"
	Timeout            Code = "timeout"
	Internal           Code = "internal"
)

// The codes that only the host raises.
const (
	InvalidJSON      Code = "invalid_json"
	BodyTooLarge     Code = "body_too_large"
	UnsupportedMedia Code = "unsupported_media_type"
	Unauthorized     Code = "unauthorized"
	Forbidden        Code = "forbidden"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	PackNotFound     Code = "pack_not_found"
	ArtifactNotFound Code = "artifact_not_found"
	TokenNotFound    Code = "token_not_found"
	RangeInvalid     Code = "range_not_satisfiable"
	Conflict         Code = "conflict"
	RateLimited      Code = "rate_limited"
	Overloaded       Code = "overloaded"
	Canceled         Code = "canceled"

	CredentialNotFound Code = "credential_not_found"
)

// FromPack says whether a pack may raise the code; any other that a pack raises becomes handler_failed.
func (c Code) FromPack() bool {
	switch c {
	case InvalidInput, InvalidOutput, SchemaMismatch, SessionUnavailable, HandlerFailed, ArtifactFailed, Timeout, Internal:
		return true
	}
	return false
}

// Error is an error with a code of the closed set. Message is written for the caller and tells what to do;
// the cause is for the log alone and never crosses the wall.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
	cause   error
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the hidden cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// Because hides err behind e: logged with the request id, never shown to the caller.
func (e *Error) Because(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// WithDetails returns e with machine-readable details (any JSON value).
func (e *Error) WithDetails(v any) *Error {
	c := *e
	c.Details, _ = json.Marshal(v)
	return &c
}

// Errorf makes an error of the given code.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid says that the input is wrong and how to mend it.
func Invalid(format string, args ...any) *Error { return Errorf(InvalidInput, format, args...) }

// Failed says that the pack's work failed for a reason outside of the input.
func Failed(format string, args ...any) *Error { return Errorf(HandlerFailed, format, args...) }

// As returns err as an *Error. A context's end becomes timeout or canceled; an unknown error becomes internal,
// its text hidden behind a constant message and kept as the cause.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(Timeout, "the call ran past its deadline").Because(err)
	case errors.Is(err, context.Canceled):
		return Errorf(Canceled, "the caller went away").Because(err)
	}
	return Errorf(Internal, "internal error; the log has the cause under this request id").Because(err)
}
