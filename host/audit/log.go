package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gantry-packs/gantry/host/store"
)

// maxField is the longest text kept in a row, in bytes: some of them, a user name for one, come from strangers.
const maxField = 256

// Log is the audit log of one store. It is safe for concurrent use.
type Log struct {
	store     store.Store
	retention time.Duration
	now       func() time.Time
	maxScan   int
	clock     clock
}

// Open gives the log that s keeps. Rows go after retention, 0 keeps them for ever.
func Open(s store.Store, retention time.Duration, now func() time.Time) *Log {
	return &Log{store: s, retention: retention, now: now, maxScan: maxScan}
}

// Append writes a row and returns when it survives kill -9. An empty ID becomes a UUIDv7 of this moment, a zero At the
// moment itself; texts are cut to 256 bytes. The row is written even when ctx is over: who went away did call.
func (l *Log) Append(ctx context.Context, r Row) error {
	now := l.now()
	id, err := uuid.Parse(r.ID)
	switch {
	case r.ID == "":
		id = l.clock.next(now)
	case err != nil || id.Version() != 7:
		return fmt.Errorf("audit: row id %q is not a UUIDv7", r.ID)
	}
	r.ID = id.String()
	if r.At.IsZero() {
		r.At = now
	}
	r.At = r.At.UTC()
	r.clip()
	value, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("audit: encoding a row: %w", err)
	}
	rows := []store.Row{{Key: rowKey(id), Value: value, TTL: l.retention}}
	for _, key := range indexKeys(id, r) {
		rows = append(rows, store.Row{Key: key, TTL: l.retention})
	}
	if err := l.store.Append(context.WithoutCancel(ctx), rows...); err != nil {
		return fmt.Errorf("audit: writing a row: %w", err)
	}
	return nil
}

// clip cuts every text to maxField bytes of valid UTF-8.
func (r *Row) clip() {
	for _, text := range []*string{&r.RequestID, &r.Subject, &r.Client, &r.Action, &r.Pack, &r.JobID, &r.SessionID,
		&r.Status, &r.Error, &r.InputSHA256, &r.Remote} {
		*text = clip(*text)
	}
}

func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxField)], "") }
