package hosttest

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const (
	mib       = 1 << 20
	manyCalls = 10_000
	callers   = 8
	listInput = `{"limit":10}`
)

// BenchmarkService measures the real program from outside. One iteration is one life of it.
//
//   - cold: the first start of all, which compiles the core packs; warm: a start that finds them in the compilation cache;
//     uncached: a start on old data whose compilation cache is gone
//   - calls: artifact.list 10,000 times from 8 clients, with the resident memory before and after
func BenchmarkService(b *testing.B) {
	Build(b)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			began := time.Now()
			s := Start(b, Options{Env: map[string]string{"GANTRY_LOG_LEVEL": "warn"}})
			b.ReportMetric(msSince(began), "ready-ms")
			firstCall(b, s)
			s.Stop()
		}
	})
	s := Start(b, Options{Env: map[string]string{"GANTRY_LOG_LEVEL": "warn"}})
	s.AdminToken()
	restarts := func(prepare func()) func(b *testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				s.Stop()
				prepare()
				began := time.Now()
				s.Restart()
				b.ReportMetric(msSince(began), "ready-ms")
				firstCall(b, s)
			}
		}
	}
	b.Run("warm", restarts(func() {}))
	b.Run("uncached", restarts(func() {
		if err := os.RemoveAll(filepath.Join(s.DataDir, "cache")); err != nil {
			b.Fatal(err)
		}
	}))
	b.Run("calls", func(b *testing.B) {
		s.Restart()
		token := s.AdminToken()
		for b.Loop() {
			idle := s.RSS()
			began := time.Now()
			callMany(b, s, token)
			took := time.Since(began)
			b.ReportMetric(manyCalls/took.Seconds(), "calls/s")
			b.ReportMetric(float64(idle)/mib, "idle-MiB")
			b.ReportMetric(float64(s.RSS())/mib, "after-MiB")
		}
	})
}

func msSince(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }

// firstCall makes the first call of a life and reports how long it took.
func firstCall(b *testing.B, s *Server) {
	b.Helper()
	token := s.AdminToken()
	began := time.Now()
	if a := s.MustDo("POST", "/api/v1/packs/artifact.list", token, listInput); a.Status != http.StatusOK {
		b.Fatal(a)
	}
	b.ReportMetric(msSince(began), "first-call-ms")
}

func callMany(b *testing.B, s *Server, token string) {
	b.Helper()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range manyCalls / callers {
				if a := s.MustDo("POST", "/api/v1/packs/artifact.list", token, listInput); a.Status != http.StatusOK {
					b.Error(a)
					return
				}
			}
		})
	}
	all.Wait()
}
