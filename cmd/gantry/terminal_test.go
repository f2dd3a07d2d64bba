package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name    string
		watched bool
		took    time.Duration
		want    string
	}{
		{"quick", true, 900 * time.Millisecond, ""},
		{"quick, nobody watches", false, 900 * time.Millisecond, ""},
		{"slow", true, 2 * time.Second, clearLine + "⠙ work (2 s)" + clearLine + "log\n" + clearLine + "⠹ work (2 s)" + clearLine},
		{"slow, nobody watches", false, 2 * time.Second, "work …\nlog\nwork: ended after 2s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			now := time.Now()
			term := &terminal{w: &b, watched: c.watched, now: func() time.Time { return now }}
			term.begin("work")
			now = now.Add(c.took)
			term.draw()
			if c.want != "" {
				term.Write([]byte("log\n"))
			}
			term.draw()
			term.begin("")
			if b.String() != c.want {
				t.Errorf("printed %q, want %q", b.String(), c.want)
			}
		})
	}
}

func TestDuringPassesTheError(t *testing.T) {
	var b bytes.Buffer
	term := &terminal{w: &b, now: time.Now}
	if err := term.During("work", func(func(string)) error { return errNoGo }); err != errNoGo {
		t.Errorf("During gave %v", err)
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("a\x1b[31m\x07\u009b\u202eb\tü\n"); strings.ContainsAny(got, "\x1b\x07\u009b\u202e") || got != "a[31mb\tü\n" {
		t.Errorf("printable gave %q", got)
	}
}
