package hosttest

import (
	"io"
	"regexp"
	"strings"
	"sync"
)

// readyLine is printed when the program answers requests.
var readyLine = regexp.MustCompile(`ready on (http://[^\s"]+)`)

// bad begins a line that a healthy program never prints, whatever its callers send: what the Go runtime says of panics and
// races, and log lines of level ERROR. The log holds callers' words too, but not at the beginning of a line.
var bad = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE|goroutine \d+ \[|time=\S+ level=ERROR|{"time":"[^"]*","level":"ERROR")`)

// raised marks the one kind of error that is no fault of the program: a pack may say internal itself.
const raised = `raised by the pack`

// trouble is the log from its first bad line on, "" if there is none.
func trouble(log string) string {
	for at := 0; at < len(log); {
		line, _, _ := strings.Cut(log[at:], "\n")
		if bad.MatchString(line) && !strings.Contains(line, raised) {
			return log[at:]
		}
		at += len(line) + 1
	}
	return ""
}

// shown is how much of a log a failure prints.
const shown = 4 << 10

// syncBuffer collects what a process prints while tests read it.
type syncBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// readyWriter passes everything on and sends the address of the first ready line to url.
type readyWriter struct {
	to   io.Writer
	url  chan string // buffered: nobody has to be listening
	seen []byte      // up to the ready line
	done bool
}

func newReadyWriter(to io.Writer) *readyWriter {
	return &readyWriter{to: to, url: make(chan string, 1)}
}

func (w *readyWriter) Write(p []byte) (int, error) {
	if !w.done {
		w.seen = append(w.seen, p...)
		if m := readyLine.FindSubmatchIndex(w.seen); m != nil && m[3] < len(w.seen) { // the address is whole once something follows it
			w.url <- string(w.seen[m[2]:m[3]])
			w.done, w.seen = true, nil
		}
	}
	return w.to.Write(p)
}

func tail(s string) string { return s[max(0, len(s)-shown):] }
func head(s string) string { return s[:min(len(s), shown)] }
