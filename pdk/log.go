package pdk

import "fmt"

// Level is how much a log line matters.
type Level int

// The levels.
const (
	Debug Level = iota
	Info
	Warn
)

// Log writes a line to the host's log, under the call's request id. It is for the operator: the caller never sees it, and a
// secret does not belong in it.
func Log(level Level, format string, args ...any) { logLine(level, fmt.Sprintf(format, args...)) }
