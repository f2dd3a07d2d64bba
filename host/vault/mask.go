package vault

import (
	"bytes"
	"slices"
	"sync"
)

// Mask is what stands where a secret was.
const Mask = "[masked]"

// Masker replaces secrets in what a call says: each as it is, in the usual encodings, and its secret parts alone (the password
// of a login, what follows the colon in user:password, the lines of a key file). It is safe for concurrent use; a nil one
// masks nothing. It protects against a secret that comes back by itself, such as in an upstream's error: whoever may
// transform a secret as they like can get around any masker, which is why packs get none.
type Masker struct {
	mu      sync.RWMutex
	needles []needle
	longest int
}

// NewMasker makes a masker that knows no secret yet.
func NewMasker() *Masker { return &Masker{} }

// Add makes a copy of a secret known. One of less than MinPlaintext bytes is left out, as it would be found everywhere; so are
// encodings and lines that are too short.
func (m *Masker) Add(secret []byte) {
	if m == nil || len(secret) < MinPlaintext {
		return
	}
	list := needlesOf(secret)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range list {
		if !slices.ContainsFunc(m.needles, n.equal) {
			m.needles = append(m.needles, n)
			m.longest = max(m.longest, len(n.text)+n.edges())
		}
	}
}

// Empty says that nothing is masked.
func (m *Masker) Empty() bool { return m.Longest() == 0 }

// Longest is the length in bytes of the longest text that is masked: whoever masks a cut text must read on that far.
func (m *Masker) Longest() int {
	if m == nil {
		return 0
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.longest
}

// Wipe forgets the secrets and zeroes them.
func (m *Masker) Wipe() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.needles {
		clear(n.text)
	}
	m.needles, m.longest = nil, 0
}

// MaskString is Mask for a string.
func (m *Masker) MaskString(s string) string {
	if s == "" || m.Empty() {
		return s
	}
	b := []byte(s)
	if out := m.Mask(b); len(out) != len(b) || &out[0] != &b[0] {
		return string(out)
	}
	return s
}

// Mask returns b with every secret replaced, or b itself when there is none in it. JSON must be masked value by value: this
// knows nothing of quotes.
func (m *Masker) Mask(b []byte) []byte {
	if m == nil {
		return b
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var cuts []cut
	for _, n := range m.needles {
		cuts = n.find(b, cuts)
	}
	if len(cuts) == 0 {
		return b
	}
	// What several needles cover is one mask, so that none leaves the rest of another behind.
	slices.SortFunc(cuts, func(a, b cut) int { return a.start - b.start })
	out := make([]byte, 0, len(b))
	end := 0
	for i := 0; i < len(cuts); {
		out = append(append(out, b[end:cuts[i].start]...), Mask...)
		for end = cuts[i].end; i < len(cuts) && cuts[i].start <= end; i++ {
			end = max(end, cuts[i].end)
		}
	}
	return append(out, b[end:]...)
}

// cut is a stretch of a text that is replaced.
type cut struct{ start, end int }

// needle is a text to be masked. One that was cut out of base64 at an alignment has lost the characters that hold bits of
// a neighbour too; left and right say that such a one belongs to it.
type needle struct {
	text        []byte
	left, right bool
}

func (n needle) equal(o needle) bool {
	return n.left == o.left && n.right == o.right && bytes.Equal(n.text, o.text)
}

// edges is how many characters may be masked beyond the text.
func (n needle) edges() (count int) {
	if n.left {
		count++
	}
	if n.right {
		count++
	}
	return count
}

// find appends where the needle is in b. Neighbours become one cut, so that a long repetition takes no memory.
func (n needle) find(b []byte, cuts []cut) []cut {
	own := len(cuts)
	for at := 0; ; {
		i := bytes.Index(b[at:], n.text)
		if i < 0 {
			return cuts
		}
		c := cut{at + i, at + i + len(n.text)}
		at = c.end
		if n.left && c.start > 0 && isBase64(b[c.start-1]) {
			c.start--
		}
		if n.right && c.end < len(b) && isBase64(b[c.end]) {
			c.end++
		}
		if len(cuts) > own && cuts[len(cuts)-1].end >= c.start {
			cuts[len(cuts)-1].end = c.end
			continue
		}
		cuts = append(cuts, c)
	}
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}
