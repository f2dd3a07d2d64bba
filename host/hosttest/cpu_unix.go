//go:build unix

package hosttest

import (
	"syscall"
	"testing"
	"time"
)

// MeasureCPU reports what the process spent of its CPUs, all of them together, as cpu-µs/op:
//
//	done := hosttest.MeasureCPU(b)
//	for b.Loop() { … }
//	done()
//
// Time on the clock hides what other goroutines do for an operation, and what the operation waits for.
func MeasureCPU(b *testing.B) (done func()) {
	b.Helper()
	began := cpuTime(b)
	return func() {
		b.Helper()
		b.ReportMetric(float64((cpuTime(b)-began).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
