package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// empty fails the test if anything is left in the gate.
func (g *gate) empty(t *testing.T) {
	t.Helper()
	if running, waiting := g.load(); running != 0 || waiting != 0 || len(g.callers) != 0 {
		t.Errorf("%d running, %d waiting, callers %v", running, waiting, g.callers)
	}
}

// inOrder queues one call after the other behind a full gate and returns the order in which they got in.
func inOrder(t *testing.T, g *gate, subjects ...string) []string {
	t.Helper()
	var order []string
	var all sync.WaitGroup
	for i, s := range subjects {
		all.Go(func() {
			leave, err := g.enter(t.Context(), s)
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, fmt.Sprint(s, i)) // one runs at a time
			time.Sleep(time.Millisecond)
			leave()
		})
		synctest.Wait()
	}
	all.Wait()
	return order
}

func TestGateFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{Calls: 1, PerCaller: 4, Queue: 8, QueueWait: time.Minute})
		got := inOrder(t, g, "a", "b", "a", "c", "a", "b")
		if want := []string{"a0", "b1", "a2", "c3", "a4", "b5"}; !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		g.empty(t)
	})
}

// Whose caller has no room is passed over, and nobody behind it has to wait for that.
func TestGatePassesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{Calls: 2, PerCaller: 1, Queue: 8, QueueWait: time.Minute})
		leaveA, _ := g.enter(t.Context(), "a")
		leaveB, _ := g.enter(t.Context(), "b")
		in := make(chan string, 3)
		for _, s := range []string{"a", "c"} {
			go func() {
				leave, err := g.enter(t.Context(), s)
				if err != nil {
					t.Error(err)
					return
				}
				in <- s
				leave()
			}()
			synctest.Wait()
		}
		leaveB()
		synctest.Wait()
		if len(in) != 1 || <-in != "c" {
			t.Error("c had to wait behind a, which has no room")
		}
		leaveA()
		synctest.Wait()
		if len(in) != 1 || <-in != "a" {
			t.Error("a did not get in after its first call")
		}
		g.empty(t)
	})
}

// A newcomer doesn't overtake those who wait: a place that is given back goes to the queue at once.
func TestGateNoOvertaking(t *testing.T) {
	g := newGate(Limits{Calls: 1, PerCaller: 1, Queue: 1, QueueWait: time.Minute})
	leave, _ := g.enter(t.Context(), "a")
	w, err := g.admit("b")
	if err != nil || w == nil {
		t.Fatal(w, err)
	}
	leave()
	select {
	case <-w.in:
	default:
		t.Fatal("the place is free and b waits")
	}
	if _, err := g.admit("c"); err != nil {
		t.Fatal(err)
	}
	if running, waiting := g.load(); running != 1 || waiting != 1 {
		t.Errorf("%d running, %d waiting", running, waiting)
	}
}

func TestGateRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{Calls: 1, PerCaller: 2, Queue: 3, QueueWait: 5 * time.Second})
		leave, _ := g.enter(t.Context(), "a")
		errs := make(chan error, 9)
		for range 2 {
			go func() { _, err := g.enter(t.Context(), "a"); errs <- err }()
		}
		synctest.Wait()
		began := time.Now()
		_, err := g.enter(t.Context(), "a")
		refused(t, wire.As(err), wire.RateLimited, "1 of your calls are running and 2 waiting")
		go func() { _, err := g.enter(t.Context(), "b"); errs <- err }()
		synctest.Wait()
		_, err = g.enter(t.Context(), "c")
		refused(t, wire.As(err), wire.Overloaded, "3 calls are waiting already")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("refused after %v", waited)
		}
		for range 3 {
			refused(t, wire.As(<-errs), wire.Overloaded, "no place was free within 5s")
		}
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("gave up after %v", waited)
		}
		if running, waiting := g.load(); running != 1 || waiting != 0 {
			t.Errorf("%d running, %d waiting", running, waiting)
		}
		leave()
		g.empty(t)
	})
}

// Let in and giving up at the same moment: the place must not be lost.
func TestGateGivesUpAtTheMomentOfEntry(t *testing.T) {
	g := newGate(Limits{Calls: 1, PerCaller: 1, Queue: 1, QueueWait: time.Minute})
	for range 200 {
		leave, err := g.enter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if leave, err := g.enter(ctx, "b"); err == nil {
				leave()
			}
		}()
		for _, waiting := g.load(); waiting == 0; _, waiting = g.load() {
			time.Sleep(time.Microsecond)
		}
		cancel() // wakes b, who has to give up before it is let in
		leave()
		<-ended
		g.empty(t)
	}
}

// Hundreds of callers who come, wait, give up and leave: no cap is ever passed and nothing is left behind.
func TestGateCrowd(t *testing.T) {
	limits := Limits{Calls: 8, PerCaller: 3, Queue: 40, QueueWait: 20 * time.Millisecond}
	g := newGate(limits)
	var running, entered, refused atomic.Int64
	var own [7]atomic.Int64
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			who := i % len(own)
			for range 20 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(5000))*time.Microsecond)
				leave, err := g.enter(ctx, fmt.Sprint(who))
				if err != nil {
					if we := wire.As(err); we.Code == wire.Internal || errors.Is(err, context.Canceled) {
						t.Errorf("refused with %v", err)
					}
					refused.Add(1)
					cancel()
					continue
				}
				entered.Add(1)
				if n := running.Add(1); n > int64(limits.Calls) {
					t.Errorf("%d calls run", n)
				}
				if n := own[who].Add(1); n > int64(limits.PerCaller) {
					t.Errorf("%d calls of one caller run", n)
				}
				time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
				own[who].Add(-1)
				running.Add(-1)
				leave()
				cancel()
			}
		})
	}
	all.Wait()
	g.empty(t)
	if entered.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d entered, %d were refused: the test tests nothing", entered.Load(), refused.Load())
	}
}
