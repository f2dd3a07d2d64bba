package auth

import (
	"fmt"
	"testing"
	"time"
)

// clock is a time that only a test moves.
type clock struct{ t time.Time }

func newClock() *clock                   { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }
func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func TestLimiterSlides(t *testing.T) {
	c := newClock()
	l := newLimiter(c.now)
	for i := range loginFailures {
		if wait, _ := l.take("a"); wait != 0 {
			t.Fatalf("attempt %d was refused", i+1)
		}
		c.advance(time.Second)
	}
	if wait, _ := l.take("a"); wait != loginWindow-loginFailures*time.Second {
		t.Fatalf("wait is %s", wait)
	}
	if l.wait("b") != 0 {
		t.Fatal("another key is refused")
	}
	c.advance(l.wait("a"))
	if wait, _ := l.take("a"); wait != 0 {
		t.Fatal("still refused after the wait")
	}
	if wait, _ := l.take("a"); wait != time.Second {
		t.Fatalf("one failure ran out, so one attempt is free; wait is %s", wait)
	}
}

func TestLimiterUndo(t *testing.T) {
	l := newLimiter(newClock().now)
	for range 3 * loginFailures {
		wait, undo := l.take("a")
		if wait != 0 {
			t.Fatal("a success was counted")
		}
		undo()
		undo()
	}
	if len(l.fail) != 0 {
		t.Fatal("a success left something behind")
	}
}

func TestLimiterIsBounded(t *testing.T) {
	c := newClock()
	l := newLimiter(c.now)
	for range loginFailures {
		l.take("attacker")
	}
	for i := range maxLimited + 500 {
		l.take(fmt.Sprint("flood", i))
	}
	if len(l.fail) > maxLimited {
		t.Fatalf("%d keys are held", len(l.fail))
	}
	if l.wait("attacker") == 0 {
		t.Fatal("a flood of addresses freed a refused one")
	}
	c.advance(loginWindow)
	l.take("later")
	if len(l.fail) != 1 {
		t.Fatalf("%d keys are held after all ran out", len(l.fail))
	}
}

func TestAddressKey(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1:4711":             "192.0.2.1",
		"192.0.2.1":                  "192.0.2.1",
		"[::ffff:192.0.2.1]:80":      "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:443": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1":       "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":          "fe80::/64",
		"":                           "unknown",
		"@":                          "unknown",
	} {
		if got := addressKey(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
