package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// gate is a commit that stops until it is let through, and remembers what it was given.
type gate struct {
	entered, open chan struct{}
	mu            sync.Mutex
	batches       []int
	keys          []string
	err           error
}

func newGate() *gate { return &gate{entered: make(chan struct{}, 100), open: make(chan struct{})} }

func (g *gate) commit(ops []op) error {
	g.entered <- struct{}{}
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	g.batches = append(g.batches, len(ops))
	for _, o := range ops {
		g.keys = append(g.keys, string(o.key))
	}
	return g.err
}

func opOf(key string) []op { return []op{{key: []byte(key)}} }

// TestGroup queues appends while a commit runs: they make one batch, also when their callers have gone meanwhile.
func TestGroup(t *testing.T) {
	g := newGate()
	a := startAppender(g.commit)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	results := make([]error, 51)
	wg.Go(func() { results[50] = a.append(ctx, opOf("first")) })
	<-g.entered
	for i := range 50 {
		wg.Go(func() { results[i] = a.append(ctx, opOf(fmt.Sprint(i))) })
	}
	for len(a.queue) < 50 {
	}
	cancel()
	close(g.open)
	wg.Wait()
	a.stop()
	if !slices.Equal(g.batches, []int{1, 50}) || errors.Join(results...) != nil {
		t.Errorf("batches %v, errors %v", g.batches, errors.Join(results...))
	}
}

// TestFullQueue gives up a caller who goes before its rows are queued, and doesn't write them.
func TestFullQueue(t *testing.T) {
	g := newGate()
	a := startAppender(g.commit)
	var wg sync.WaitGroup
	wg.Go(func() { _ = a.append(t.Context(), opOf("first")) })
	<-g.entered
	for range appendQueue {
		wg.Go(func() { _ = a.append(t.Context(), opOf("queued")) })
	}
	for len(a.queue) < appendQueue {
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.append(ctx, opOf("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(g.open)
	wg.Wait()
	a.stop()
	if len(g.keys) != 1+appendQueue || slices.Contains(g.keys, "late") {
		t.Errorf("%d keys, the late one among them: %t", len(g.keys), slices.Contains(g.keys, "late"))
	}
}

func TestAppendError(t *testing.T) {
	g := newGate()
	g.err = errors.New("the disk is full")
	close(g.open)
	a := startAppender(g.commit)
	if err := a.append(t.Context(), opOf("k")); !errors.Is(err, g.err) {
		t.Errorf("got %v", err)
	}
	a.stop()
}

// TestSplit keeps one Append's rows together as long as a transaction can hold them.
func TestSplit(t *testing.T) {
	g := newGate()
	close(g.open)
	a := &appender{commit: g.commit}
	var batch []appended
	for _, n := range []int{MaxUpdateKeys - 1, 2, 3, 2*MaxUpdateKeys + 1, 1} {
		batch = append(batch, appended{ops: make([]op, n), done: make(chan error, 1)})
	}
	a.write(batch)
	want := []int{MaxUpdateKeys - 1, 5, MaxUpdateKeys, MaxUpdateKeys, 1, 1}
	if !slices.Equal(g.batches, want) {
		t.Errorf("got %v, want %v", g.batches, want)
	}
	for i, item := range batch {
		if len(item.done) != 1 {
			t.Errorf("append %d has no answer", i)
		}
	}
}
