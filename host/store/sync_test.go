package store

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGroupSync lets many callers ask while one sync runs: they share the next one, and never the running one, which may
// have begun before their commits.
func TestGroupSync(t *testing.T) {
	var syncs atomic.Int32
	entered, open := make(chan struct{}, 100), make(chan struct{})
	s := startSyncer(func() error {
		syncs.Add(1)
		entered <- struct{}{}
		<-open
		return nil
	}, slog.New(slog.DiscardHandler))
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.now() })
	<-entered
	for range 50 {
		wg.Go(func() { _ = s.now() })
	}
	for waiting := 0; waiting < 50; {
		s.mu.Lock()
		waiting = len(s.waiting)
		s.mu.Unlock()
	}
	close(open)
	wg.Wait()
	if n := syncs.Load(); n != 2 {
		t.Errorf("%d syncs", n)
	}
	if err := s.stop(); err != nil || syncs.Load() != 3 {
		t.Errorf("stop: %v after %d syncs", err, syncs.Load())
	}
}

// TestBackgroundSync syncs soon after a commit that nobody waits for, and logs what goes wrong.
func TestBackgroundSync(t *testing.T) {
	called := make(chan struct{}, 10)
	var log bytes.Buffer
	s := startSyncer(func() error {
		called <- struct{}{}
		return errors.New("the disk is gone")
	}, slog.New(slog.NewTextHandler(&log, nil)))
	s.soon()
	s.soon()
	<-called
	if err := s.stop(); err == nil {
		t.Error("the error of the last sync is lost")
	}
	if !strings.Contains(log.String(), "the disk is gone") {
		t.Errorf("log: %q", log.String())
	}
}
