package store

import (
	"context"
	"sync"
)

// appendQueue is how many Appends may wait for the committer before their callers wait to be queued.
const appendQueue = 1024

// appender is the group committer: one goroutine commits whatever is queued, and what arrives meanwhile makes the next
// batch. Nobody waits for a batch to fill.
type appender struct {
	commit func([]op) error
	queue  chan appended
	ended  sync.WaitGroup
}

// appended is one Append that waits for its commit.
type appended struct {
	ops  []op
	done chan error
}

func startAppender(commit func([]op) error) *appender {
	a := &appender{commit: commit, queue: make(chan appended, appendQueue)}
	a.ended.Go(a.run)
	return a
}

// append queues ops and waits for their commit. ctx counts only until they are queued.
func (a *appender) append(ctx context.Context, ops []op) error {
	item := appended{ops: ops, done: make(chan error, 1)}
	select {
	case a.queue <- item:
		return <-item.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *appender) run() {
	for item := range a.queue {
		batch := []appended{item}
		for more := true; more; {
			select {
			case item, open := <-a.queue:
				if more = open; open {
					batch = append(batch, item)
				}
			default:
				more = false
			}
		}
		a.write(batch)
	}
}

// write commits a batch in as few transactions as its size allows, never one Append in two unless it is too big for one.
func (a *appender) write(batch []appended) {
	for len(batch) > 0 {
		n, size := 0, load{}
		var ops []op
		for n < len(batch) && (n == 0 || size.with(batch[n].ops).fits()) {
			size = size.with(batch[n].ops)
			ops = append(ops, batch[n].ops...)
			n++
		}
		err := a.split(ops)
		for _, item := range batch[:n] {
			item.done <- err
		}
		batch = batch[n:]
	}
}

// split commits ops, in several transactions if one can't hold them.
func (a *appender) split(ops []op) error {
	for len(ops) > 0 {
		n, size := 0, load{}
		for n < len(ops) && size.with(ops[n:n+1]).fits() {
			size = size.with(ops[n : n+1])
			n++
		}
		if err := a.commit(ops[:n]); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

// stop returns when the queue is empty; nobody may append any more.
func (a *appender) stop() {
	close(a.queue)
	a.ended.Wait()
}

// load is the weight of a transaction.
type load struct {
	keys, bytes int
}

func (l load) with(ops []op) load {
	l.keys += len(ops)
	for _, o := range ops {
		l.bytes += o.size()
	}
	return l
}

func (l load) fits() bool { return l.keys <= MaxUpdateKeys && l.bytes <= MaxUpdateBytes }
