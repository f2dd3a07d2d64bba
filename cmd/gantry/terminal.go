package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"
)

const (
	patience   = time.Second            // what takes longer is told
	frameEvery = 100 * time.Millisecond // of the spinner
	clearLine  = "\r\x1b[K"
)

var frames = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// terminal is stderr with at most one progress line at its foot. What is written meanwhile goes above that line. Where
// nobody watches (a file, a pipe, CI) the same news comes as plain lines, one at the start and one at the end.
type terminal struct {
	w       io.Writer
	watched bool
	now     func() time.Time

	mu    sync.Mutex
	stage string    // what is being done; "" when nothing is
	since time.Time // when it began
	told  bool      // a line about it was printed
	frame int
}

func openTerminal(f *os.File, env func(string) (string, bool)) *terminal {
	kind, _ := env("TERM")
	return &terminal{w: f, watched: term.IsTerminal(int(f.Fd())) && kind != "dumb", now: time.Now}
}

// Write prints above the progress line.
func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched && t.told {
		io.WriteString(t.w, clearLine)
	}
	return t.w.Write(b)
}

// During runs f and, once it takes longer than a second, tells what is being done. f may name its stages as it goes.
func (t *terminal) During(what string, f func(stage func(string)) error) error {
	t.begin(what)
	tick := time.NewTicker(frameEvery)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				t.draw()
			}
		}
	}()
	defer func() {
		tick.Stop()
		close(quit)
		<-gone
		t.begin("")
	}()
	return f(t.begin)
}

// begin ends the stage that runs, if one does, and begins the next.
func (t *terminal) begin(stage string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		took := t.now().Sub(t.since).Round(frameEvery)
		if t.watched {
			io.WriteString(t.w, clearLine)
		} else {
			fmt.Fprintf(t.w, "%s: ended after %s\n", t.stage, took)
		}
	}
	t.stage, t.since, t.told = printable(stage), t.now(), false
}

// draw shows the stage if it has taken long enough.
func (t *terminal) draw() {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := t.now().Sub(t.since)
	if t.stage == "" || took < patience {
		return
	}
	switch {
	case t.watched:
		t.frame = (t.frame + 1) % len(frames)
		fmt.Fprintf(t.w, "%s%s %s (%d s)", clearLine, frames[t.frame], t.stage, int(took.Seconds()))
	case !t.told:
		fmt.Fprintf(t.w, "%s …\n", t.stage)
	}
	t.told = true
}

// printable takes out what could steer a terminal: the text may come from a pack or a server.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, s)
}
