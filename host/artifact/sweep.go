package artifact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// sweepEvery is the pause between two sweeps; leftoverAge is how old a file without an entry must be to go.
const (
	sweepEvery  = time.Hour
	leftoverAge = time.Hour
)

// sweepHourly sweeps until ctx ends. What one sweep can't remove, the next one tries again.
func (s *Store) sweepHourly(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		_ = s.sweep(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweep removes bytes that no entry speaks of any more: expired ones, and what a crash left between bytes and entry.
func (s *Store) sweep(ctx context.Context) error {
	before := s.now().Add(-leftoverAge)
	errs := []error{s.folder.old(tempDir, before, func(name string) {
		if _, busy := s.busy.Load(name); !busy {
			_ = s.folder.removeTemp(name)
		}
	})}
	for i := range 256 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		errs = append(errs, s.folder.old(fmt.Sprintf("%02x", i), before, func(name string) {
			// Busy first: a Put that ends between the two questions has written its record.
			if _, busy := s.busy.Load(name); !busy {
				errs = append(errs, s.removeOrphan(ctx, name))
			}
		}))
	}
	return errors.Join(errs...)
}

// removeOrphan removes the bytes under hash unless the store has a live entry for them.
func (s *Store) removeOrphan(ctx context.Context, hash string) error {
	err := s.store.View(ctx, func(r store.R) error {
		_, err := s.get(r, hash)
		return err
	})
	if err != nil && wire.As(err).Code == wire.ArtifactNotFound {
		return ignoreAbsent(s.folder.remove(hash))
	}
	return err
}
