package artifact

import (
	"context"
	"time"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// sweepEvery is the pause between two sweeps; leftoverAge is how old bytes without an entry must be to go; removeTimeout is
// how long a removal may take, after which the bytes are left to a sweep.
const (
	sweepEvery    = time.Hour
	leftoverAge   = time.Hour
	removeTimeout = 30 * time.Second
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
	return s.blobs.Sweep(ctx, s.now().Add(-leftoverAge), func(name string) (bool, error) {
		// Busy first: a Put that ends between the two questions has written its record.
		if _, busy := s.busy.Load(name); busy {
			return false, nil
		}
		return s.orphan(ctx, name)
	})
}

// orphan says whether the store has no live entry for the bytes under hash.
func (s *Store) orphan(ctx context.Context, hash string) (bool, error) {
	err := s.store.View(ctx, func(r store.R) error {
		_, err := s.get(r, hash)
		return err
	})
	if err != nil && wire.As(err).Code == wire.ArtifactNotFound {
		return true, nil
	}
	return false, err
}

// removeOrphan removes the bytes under hash unless the store has a live entry for them, also for a caller that went away.
func (s *Store) removeOrphan(ctx context.Context, hash string) error {
	if orphan, err := s.orphan(context.WithoutCancel(ctx), hash); !orphan {
		return err
	}
	return s.remove(ctx, hash)
}

// remove outlives the caller, but not for long.
func (s *Store) remove(ctx context.Context, hash string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	return s.blobs.Remove(ctx, hash)
}
