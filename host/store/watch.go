package store

import (
	"bytes"
	"sync"
)

// watchers are the open watches of a database.
type watchers struct {
	mu   sync.Mutex
	open map[*watcher]struct{}
}

type watcher struct {
	prefix []byte
	tick   chan struct{}
}

func (w *watchers) add(prefix []byte) (<-chan struct{}, func()) {
	one := &watcher{prefix: bytes.Clone(prefix), tick: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*watcher]struct{}{}
	}
	w.open[one] = struct{}{}
	return one.tick, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, one)
	}
}

// tell ticks the watches that a commit concerns; one that has a tick pending gets no second.
func (w *watchers) tell(ops []op) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.open {
		for _, o := range ops {
			if !bytes.HasPrefix(o.key, one.prefix) {
				continue
			}
			select {
			case one.tick <- struct{}{}:
			default:
			}
			break
		}
	}
}
