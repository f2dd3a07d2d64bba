package auth

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// The login limit: this many failures in this time, for an address and, apart from that, for a user name.
const (
	loginFailures = 10
	loginWindow   = time.Minute
)

// maxLimited is how many addresses, and how many user names, are counted at a time.
const maxLimited = 4096

// limiter counts the failures of each key over the last loginWindow. It is safe for concurrent use and holds at most
// maxLimited keys: when it is full, the key with the fewest failures goes, so that new addresses cannot push out one
// that is already refused.
type limiter struct {
	now  func() time.Time
	mu   sync.Mutex
	fail map[string][]time.Time // oldest first, at most loginFailures
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, fail: map[string][]time.Time{}}
}

// wait says how long the key is refused; 0: not.
func (l *limiter) wait(key string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitLocked(key, l.now())
}

// take counts a failure ahead of the attempt, so that attempts in parallel cannot outrun the limit, or says how long the
// key is refused. undo takes it back once the attempt has succeeded.
func (l *limiter) take(key string) (wait time.Duration, undo func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if d := l.waitLocked(key, now); d > 0 {
		return d, func() {}
	}
	if _, known := l.fail[key]; !known && len(l.fail) >= maxLimited {
		l.evict(now)
	}
	l.fail[key] = append(l.fail[key], now)
	return 0, func() { l.undo(key, now) }
}

func (l *limiter) undo(key string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range l.fail[key] {
		if t.Equal(at) {
			l.fail[key] = append(l.fail[key][:i:i], l.fail[key][i+1:]...)
			break
		}
	}
	if len(l.fail[key]) == 0 {
		delete(l.fail, key)
	}
}

func (l *limiter) waitLocked(key string, now time.Time) time.Duration {
	times := l.fail[key]
	for len(times) > 0 && now.Sub(times[0]) >= loginWindow {
		times = times[1:]
	}
	if len(times) == 0 {
		delete(l.fail, key)
		return 0
	}
	l.fail[key] = times
	if len(times) < loginFailures {
		return 0
	}
	return times[0].Add(loginWindow).Sub(now)
}

// evict drops every key that has run out, or else one of those with the fewest failures. It walks all keys, which is
// nothing beside the password hash that each new key costs.
func (l *limiter) evict(now time.Time) {
	victim, fewest := "", loginFailures+1
	for key := range l.fail {
		l.waitLocked(key, now)
		if n := len(l.fail[key]); n > 0 && n < fewest {
			victim, fewest = key, n
		}
	}
	if len(l.fail) >= maxLimited {
		delete(l.fail, victim)
	}
}

// addressKey is what an address is counted by: without the port, and an IPv6 address by its /64, since whoever has one
// has all of it.
func addressKey(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return "unknown"
	}
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, _ := a.Prefix(64)
	return p.String()
}
