package store

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// syncDelay is how long a commit that nobody waits for may stay off the disk before a sync begins. It leaves the sync
// itself most of the 50 ms that [Store] promises.
const syncDelay = 20 * time.Millisecond

// syncer shares syncs: all who ask while one runs wait together for the next, which begins after their commits.
type syncer struct {
	sync  func() error
	log   *slog.Logger
	dirty chan struct{}
	quit  chan struct{}
	ended sync.WaitGroup

	mu      sync.Mutex
	running bool
	waiting []chan error
}

func startSyncer(sync func() error, log *slog.Logger) *syncer {
	s := &syncer{sync: sync, log: log, dirty: make(chan struct{}, 1), quit: make(chan struct{})}
	s.ended.Go(s.background)
	return s
}

// now returns when everything committed before the call is on the disk.
func (s *syncer) now() error {
	done := make(chan error, 1)
	s.mu.Lock()
	s.waiting = append(s.waiting, done)
	if !s.running {
		s.running = true
		s.ended.Go(s.drain)
	}
	s.mu.Unlock()
	return <-done
}

// drain syncs as long as somebody waits.
func (s *syncer) drain() {
	for {
		s.mu.Lock()
		batch := s.waiting
		s.waiting = nil
		s.running = len(batch) > 0
		s.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		err := s.sync()
		if err != nil {
			err = fmt.Errorf("store: syncing to the disk: %w", err)
		}
		for _, done := range batch {
			done <- err
		}
	}
}

// soon asks for a sync in the background.
func (s *syncer) soon() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

func (s *syncer) background() {
	for {
		select {
		case <-s.quit:
			return
		case <-s.dirty:
		}
		select {
		case <-s.quit:
			return
		case <-time.After(syncDelay):
		}
		// Whoever commits from here on asks again: the mark is taken back before the sync begins.
		select {
		case <-s.dirty:
		default:
		}
		if err := s.now(); err != nil {
			s.log.Error("the store can't write to its disk", "err", err)
		}
	}
}

// stop ends the background work after a last sync.
func (s *syncer) stop() error {
	close(s.quit)
	err := s.now()
	s.ended.Wait()
	return err
}
