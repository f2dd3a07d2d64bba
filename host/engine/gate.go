package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// Limits caps the calls that run at the same time. A call over a cap waits in the queue for at most QueueWait; one caller may
// have as many waiting as it may have running, so it can't fill the queue alone.
type Limits struct {
	Calls     int // running at the same time, all callers together
	PerCaller int // of them for one subject
	Queue     int // waiting
	QueueWait time.Duration
}

// gate lets calls in, first come first served among those whose caller has room.
type gate struct {
	limits  Limits
	mu      sync.Mutex
	running int
	callers map[string]*callerLoad
	queue   []*waiter
}

type callerLoad struct{ running, waiting int }

type waiter struct {
	subject string
	in      chan struct{}
}

func newGate(l Limits) *gate { return &gate{limits: l, callers: map[string]*callerLoad{}} }

// enter waits for a place and returns the function that gives it back, to be called once.
func (g *gate) enter(ctx context.Context, subject string) (leave func(), err error) {
	w, err := g.admit(subject)
	if err != nil {
		return nil, err
	}
	leave = func() { g.leave(subject) }
	if w == nil {
		return leave, nil
	}
	timer := time.NewTimer(g.limits.QueueWait)
	defer timer.Stop()
	select {
	case <-w.in:
		return leave, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = wire.Errorf(wire.Overloaded, "no place was free within %v: try again in a moment", g.limits.QueueWait)
	}
	if !g.giveUp(w) { // let in at the very moment of giving up
		leave()
	}
	return nil, err
}

// admit takes a place at once (nil waiter) or queues.
func (g *gate) admit(subject string) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	load := g.callers[subject]
	if load == nil {
		load = &callerLoad{}
		g.callers[subject] = load
	}
	if g.running < g.limits.Calls && load.running < g.limits.PerCaller {
		g.running++
		load.running++
		return nil, nil
	}
	defer g.forget(subject, load)
	if load.waiting >= g.limits.PerCaller {
		return nil, wire.Errorf(wire.RateLimited, "%d of your calls are running and %d waiting: wait for one to end", load.running, load.waiting)
	}
	if len(g.queue) >= g.limits.Queue {
		return nil, wire.Errorf(wire.Overloaded, "%d calls are waiting already: try again in a moment", len(g.queue))
	}
	w := &waiter{subject: subject, in: make(chan struct{})}
	load.waiting++
	g.queue = append(g.queue, w)
	return w, nil
}

// giveUp takes w out of the queue; false means that it has been let in.
func (g *gate) giveUp(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queue, w)
	if i < 0 {
		return false
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	load := g.callers[w.subject]
	load.waiting--
	g.forget(w.subject, load)
	return true
}

func (g *gate) leave(subject string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	load := g.callers[subject]
	g.running--
	load.running--
	for i := 0; i < len(g.queue) && g.running < g.limits.Calls; {
		w := g.queue[i]
		next := g.callers[w.subject]
		if next.running >= g.limits.PerCaller {
			i++
			continue
		}
		g.queue = slices.Delete(g.queue, i, i+1)
		next.waiting--
		next.running++
		g.running++
		close(w.in)
	}
	g.forget(subject, load)
}

// forget drops a caller that has nothing left here, so that the map doesn't grow with every subject ever seen.
func (g *gate) forget(subject string, load *callerLoad) {
	if load.running == 0 && load.waiting == 0 {
		delete(g.callers, subject)
	}
}

// load says how many calls are running and waiting.
func (g *gate) load() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, len(g.queue)
}
