package store

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Retries of an Update that conflicts: the first few at once, then after a random wait that grows.
const (
	maxTries     = 64
	eagerTries   = 4
	maxRetryWait = 16 * time.Millisecond
)

// driver is what tells one database from another; transactions, conflicts, group commit and watches are shared.
type driver interface {
	// snapshot is the state after every commit whose wait has returned.
	snapshot() snapshot
	// prepare makes the writes of one commit ready.
	prepare(ops []op) (batch, error)
	// sync puts every commit whose wait has returned on the disk.
	sync() error
	close() error
}

// batch is one commit that is ready to go.
type batch interface {
	// send starts the commit. Commits take effect in the order of their sends.
	send()
	// wait returns when the commit is visible and survives kill -9.
	wait() error
	// discard drops a batch that was not sent.
	discard()
}

// snapshot is an unchanging view of a database.
type snapshot interface {
	get(key []byte) ([]byte, error)
	// scan walks the keys of a span until fn returns false.
	scan(s span, o ScanOptions, fn func(k []byte, value func() ([]byte, error)) (bool, error)) error
	discard()
}

// database is a Store on a driver.
type database struct {
	driver
	history  history
	watchers watchers
	syncer   *syncer
	appender *appender
	now      func() time.Time

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // under way
}

func newDatabase(d driver, log *slog.Logger) *database {
	db := &database{driver: d, history: history{active: map[*reads]uint64{}}, now: time.Now}
	db.syncer = startSyncer(d.sync, log)
	db.appender = startAppender(db.commitRows)
	return db
}

// enter notes a call, so that Close waits for its end.
func (db *database) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return ErrClosed
	}
	db.calls.Add(1)
	return nil
}

// View implements [Store].
func (db *database) View(ctx context.Context, fn func(R) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.calls.Done()
	t := &tx{ctx: ctx, snap: db.snapshot(), now: db.now}
	defer t.end()
	return fn(t)
}

// Update implements [Store].
func (db *database) Update(ctx context.Context, fn func(RW) error, opts ...Option) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.calls.Done()
	for try := range maxTries {
		ops, done, err := db.try(ctx, fn)
		if err != nil {
			return err
		}
		if done {
			return db.finish(ops, opts)
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	return ErrConflict
}

// try runs fn once and commits; done is false after a conflict.
func (db *database) try(ctx context.Context, fn func(RW) error) (ops []op, done bool, err error) {
	r := db.history.begin()
	defer db.history.end(r)
	t := &tx{ctx: ctx, snap: db.snapshot(), now: db.now, reads: r, pending: map[string]op{}}
	defer t.end()
	if err := fn(t); err != nil {
		return nil, false, err
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if ops = t.ops(); len(ops) == 0 {
		return nil, true, nil
	}
	b, err := db.prepare(ops)
	if err != nil {
		return nil, false, fmt.Errorf("store: committing: %w", err)
	}
	if !db.history.commit(r, ops, b.send) {
		b.discard()
		return nil, false, nil
	}
	if err := b.wait(); err != nil {
		return nil, false, fmt.Errorf("store: committing: %w", err)
	}
	return ops, true, nil
}

// finish syncs and tells the watchers.
func (db *database) finish(ops []op, opts []Option) error {
	if len(ops) == 0 {
		return nil
	}
	defer db.watchers.tell(ops)
	for _, o := range opts {
		if o == Synced {
			return db.syncer.now()
		}
	}
	db.syncer.soon()
	return nil
}

// pause waits before another try.
func pause(ctx context.Context, try int) error {
	if try < eagerTries {
		return ctx.Err()
	}
	wait := maxRetryWait
	if n := try - eagerTries; n < 4 {
		wait = time.Millisecond << n
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(wait)):
		return nil
	}
}

// Append implements [Store]. Once the rows are queued they are written, whatever becomes of ctx.
func (db *database) Append(ctx context.Context, rows ...Row) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.calls.Done()
	ops := make([]op, len(rows))
	for i, row := range rows {
		var err error
		if ops[i], err = put(row.Key, row.Value, row.TTL, db.now()); err != nil {
			return err
		}
	}
	if len(ops) == 0 {
		return nil
	}
	return db.appender.append(ctx, ops)
}

// commitRows commits rows that depend on nothing.
func (db *database) commitRows(ops []op) error {
	b, err := db.prepare(ops)
	if err != nil {
		return fmt.Errorf("store: appending: %w", err)
	}
	db.history.commit(nil, ops, b.send)
	if err := b.wait(); err != nil {
		return fmt.Errorf("store: appending: %w", err)
	}
	db.syncer.soon()
	return nil
}

// Watch implements [Store].
func (db *database) Watch(prefix []byte) (<-chan struct{}, func()) { return db.watchers.add(prefix) }

// Close implements [Store]. It waits for the calls under way; a second Close does nothing.
func (db *database) Close() error {
	db.mu.Lock()
	again := db.closed
	db.closed = true
	db.mu.Unlock()
	if again {
		return nil
	}
	db.calls.Wait()
	db.appender.stop()
	syncErr := db.syncer.stop()
	if err := db.close(); err != nil {
		return fmt.Errorf("store: closing: %w", err)
	}
	return syncErr
}

// end makes a transaction that fn kept unusable, and lets its snapshot go.
func (t *tx) end() {
	t.ended = true
	t.snap.discard()
}
