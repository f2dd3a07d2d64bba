package audit

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/google/uuid"
)

// A UUIDv7 begins with the time: 48 bits of milliseconds, 4 of version, 12 that are free. Here the free ones hold 1/4096
// of a millisecond, so that ids order rows finely.
const ticksPerMilli = 1 << 12

// clock gives ids that grow strictly inside of one process, even when the time stands still or goes back.
type clock struct {
	mu   sync.Mutex
	last int64 // ticks of the newest id
}

// next makes an id for a row that is written at now.
func (c *clock) next(now time.Time) uuid.UUID {
	c.mu.Lock()
	c.last = max(ticks(now), c.last+1)
	t := c.last
	c.mu.Unlock()
	id := bound(t)
	_, _ = rand.Read(id[8:]) // never fails: it ends the process instead
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ticks counts 1/4096 milliseconds since 1970.
func ticks(t time.Time) int64 {
	milli := t.UnixMilli()
	rest := t.Sub(time.UnixMilli(milli))
	return milli*ticksPerMilli + int64(rest)*ticksPerMilli/int64(time.Millisecond)
}

// bound is the smallest id of a tick.
func bound(t int64) uuid.UUID {
	var id uuid.UUID
	milli, rest := uint64(t)/ticksPerMilli, uint64(t)%ticksPerMilli
	binary.BigEndian.PutUint64(id[:8], milli<<16|7<<12|rest)
	id[8] = 0x80
	return id
}

// clampTicks is ticks for a time from anywhere: one before 1970, or past what 48 bits of milliseconds hold, is that edge.
func clampTicks(t time.Time) int64 {
	const lastSecond = (1<<48 - 1) / 1000
	switch s := t.Unix(); {
	case s < 0:
		return 0
	case s >= lastSecond:
		return lastSecond * 1000 * ticksPerMilli
	}
	return ticks(t)
}
