package pdk

import "github.com/gantry-packs/gantry/pdk/wire"

// Error is an error with one of the codes below; its message is written for the caller and says what to do.
type Error = wire.Error

// Code is one of the closed set of error codes.
type Code = wire.Code

// The codes that a pack may raise.
const (
	InvalidInput       = wire.InvalidInput
	InvalidOutput      = wire.InvalidOutput
	SchemaMismatch     = wire.SchemaMismatch
	SessionUnavailable = wire.SessionUnavailable
	HandlerFailed      = wire.HandlerFailed
	ArtifactFailed     = wire.ArtifactFailed
	Timeout            = wire.Timeout
	Internal           = wire.Internal
)

// errNoMemory is what a request gets that is too large to be handed over.
var errNoMemory = wire.Failed("the call's memory is used up: work on smaller values, or raise handler.memory_mb in the manifest")

// Invalid says that the input is wrong and how to mend it.
func Invalid(format string, args ...any) error { return wire.Invalid(format, args...) }

// Failed says that the pack's work failed for a reason outside of the input.
func Failed(format string, args ...any) error { return wire.Failed(format, args...) }

// Errorf makes an error of the given code.
func Errorf(code Code, format string, args ...any) error { return wire.Errorf(code, format, args...) }
