package store

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"time"
)

// tx is the transaction that fn sees, on any driver: the driver's snapshot with the transaction's own writes laid over
// it. It serves one goroutine.
type tx struct {
	ctx     context.Context
	snap    snapshot
	now     func() time.Time
	reads   *reads        // what an Update has seen; nil in a View
	pending map[string]op // what an Update has written
	size    int           // of pending
	ended   bool
}

// alive refuses a transaction that has ended or whose caller has gone.
func (t *tx) alive() error {
	if t.ended {
		return errEnded
	}
	return t.ctx.Err()
}

// Get implements [R].
func (t *tx) Get(key []byte) ([]byte, error) {
	if err := t.alive(); err != nil {
		return nil, err
	}
	if o, ok := t.pending[string(key)]; ok {
		if o.remove {
			return nil, ErrNotFound
		}
		return bytes.Clone(o.value), nil
	}
	if t.reads != nil {
		t.reads.keys[string(key)] = struct{}{}
	}
	if len(key) == 0 || bytes.HasPrefix(key, reserved) {
		return nil, ErrNotFound
	}
	return t.snap.get(key)
}

// Put implements [RW].
func (t *tx) Put(key, value []byte, ttl time.Duration) error {
	if err := t.alive(); err != nil {
		return err
	}
	o, err := put(bytes.Clone(key), append([]byte{}, value...), ttl, t.now())
	if err != nil {
		return err
	}
	return t.write(o)
}

// Delete implements [RW].
func (t *tx) Delete(key []byte) error {
	if err := t.alive(); err != nil {
		return err
	}
	o := op{key: bytes.Clone(key), remove: true}
	if err := o.check(); err != nil {
		return err
	}
	return t.write(o)
}

func (t *tx) write(o op) error {
	size := t.size + o.size()
	old, again := t.pending[string(o.key)]
	if again {
		size -= old.size()
	}
	if size > MaxUpdateBytes || !again && len(t.pending) == MaxUpdateKeys {
		return ErrTooBig
	}
	t.size = size
	t.pending[string(o.key)] = o
	return nil
}

// ops lists the transaction's writes in the order of their keys.
func (t *tx) ops() []op {
	list := make([]op, 0, len(t.pending))
	for _, o := range t.pending {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b op) int { return bytes.Compare(a.key, b.key) })
	return list
}

// Scan implements [R].
func (t *tx) Scan(prefix, from []byte, s ScanOptions, fn func(k, v []byte) (bool, error)) error {
	if err := t.alive(); err != nil {
		return err
	}
	w := &walk{tx: t, options: s, fn: fn, span: spanOf(prefix, from, s.Reverse)}
	if w.empty() {
		return nil
	}
	w.overlay()
	more, err := w.run()
	if t.reads != nil {
		t.reads.spans = append(t.reads.spans, w.seen(more))
	}
	return err
}

// walk is one Scan: the snapshot's keys and the transaction's own, merged in order.
type walk struct {
	*tx
	span
	options ScanOptions
	fn      func(k, v []byte) (bool, error)
	own     []op // the transaction's writes in the span, in the walk's order
	count   int
	last    []byte // the key that fn saw last; kept in an Update alone
}

// overlay gathers the transaction's writes in the span as they are now; fn's own writes don't show in the walk.
func (w *walk) overlay() {
	for _, o := range w.pending {
		if w.holds(o.key) {
			w.own = append(w.own, o)
		}
	}
	sort.Slice(w.own, func(i, j int) bool { return w.before(w.own[i].key, w.own[j].key) })
}

// before says whether a comes before b in the walk's direction.
func (w *walk) before(a, b []byte) bool {
	if w.options.Reverse {
		a, b = b, a
	}
	return bytes.Compare(a, b) < 0
}

// run walks the span; more is false when it was left early.
func (w *walk) run() (more bool, err error) {
	more = true
	err = w.snap.scan(w.span, w.options, func(k []byte, value func() ([]byte, error)) (bool, error) {
		if more, err = w.flush(k); !more || err != nil {
			return false, err
		}
		if len(w.own) > 0 && bytes.Equal(w.own[0].key, k) {
			return true, nil // overwritten: flushed before the next key
		}
		var v []byte
		if !w.options.KeysOnly {
			if v, err = value(); err != nil {
				return false, err
			}
		}
		more, err = w.emit(k, v)
		return more, err
	})
	if err != nil || !more {
		return false, err
	}
	return w.flush(nil)
}

// flush emits the transaction's own writes that come before k, or all for nil.
func (w *walk) flush(k []byte) (more bool, err error) {
	for len(w.own) > 0 && (k == nil || w.before(w.own[0].key, k)) {
		o := w.own[0]
		w.own = w.own[1:]
		if o.remove {
			continue
		}
		v := o.value
		if w.options.KeysOnly {
			v = nil
		}
		if more, err = w.emit(o.key, v); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (w *walk) emit(k, v []byte) (more bool, err error) {
	if err := w.alive(); err != nil {
		return false, err
	}
	if w.reads != nil {
		w.last = append(w.last[:0], k...)
	}
	w.count++
	more, err = w.fn(k, v)
	return more && err == nil && w.count != w.options.Limit, err
}

// seen is the part of the span that the walk has looked at: a key written beyond it is no conflict.
func (w *walk) seen(more bool) span {
	s := w.span
	switch {
	case more || w.last == nil:
	case w.options.Reverse:
		s.lo = w.last
	default:
		s.hi = next(w.last)
	}
	return span{lo: bytes.Clone(s.lo), hi: bytes.Clone(s.hi)}
}
