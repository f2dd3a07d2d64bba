//go:build !unix

package hosttest

import "testing"

// MeasureCPU reports nothing here: this system has no getrusage.
func MeasureCPU(*testing.B) (done func()) { return func() {} }
