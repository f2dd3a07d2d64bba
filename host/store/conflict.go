package store

import (
	"bytes"
	"sync"
)

// maxHistory bounds the keys that are remembered for transactions still under way; one that is older than what was
// dropped runs again.
const maxHistory = 1 << 16

// history finds conflicts: a transaction must not commit when a key it read, or a key inside a range it scanned, was
// written since its snapshot. badger's own detection knows single keys only and would let two transactions that both
// count the keys of a range add one each, so it is off and this serves every driver.
type history struct {
	mu      sync.Mutex
	clock   uint64            // number of commits so far
	commits []commit          // since the oldest transaction under way, in order
	keys    int               // in all commits
	dropped uint64            // the newest commit that was forgotten although somebody might still ask
	active  map[*reads]uint64 // where each transaction under way began
}

// commit is the keys of one commit.
type commit struct {
	at   uint64
	keys [][]byte
}

// reads is what a transaction has seen.
type reads struct {
	keys  map[string]struct{}
	spans []span
}

// begin notes that a transaction starts; its snapshot must be taken afterwards.
func (h *history) begin() *reads {
	r := &reads{keys: map[string]struct{}{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active[r] = h.clock
	return r
}

// end forgets a transaction, and the commits that nobody else needs.
func (h *history) end(r *reads) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.active, r)
	oldest := h.clock
	for _, start := range h.active {
		oldest = min(oldest, start)
	}
	for len(h.commits) > 0 && h.commits[0].at <= oldest {
		h.forget()
	}
}

// commit hands the writes to send unless r conflicts, in which case it answers false. Sends happen in the order of the
// commits; r is nil for writes that depend on nothing.
func (h *history) commit(r *reads, ops []op, send func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r != nil && h.conflicts(r) {
		return false
	}
	send()
	h.clock++
	if others := len(h.active); others > 1 || others == 1 && r == nil {
		h.remember(ops)
	}
	return true
}

// remember keeps copies of the keys: Append's caller may use its own again.
func (h *history) remember(ops []op) {
	c := commit{at: h.clock, keys: make([][]byte, len(ops))}
	for i, o := range ops {
		c.keys[i] = bytes.Clone(o.key)
	}
	h.commits = append(h.commits, c)
	h.keys += len(ops)
	for h.keys > maxHistory {
		h.dropped = h.commits[0].at
		h.forget()
	}
}

func (h *history) forget() {
	h.keys -= len(h.commits[0].keys)
	h.commits[0] = commit{}
	h.commits = h.commits[1:]
}

func (h *history) conflicts(r *reads) bool {
	start := h.active[r]
	if h.dropped > start {
		return true
	}
	for _, c := range h.commits {
		if c.at > start && r.any(c.keys) {
			return true
		}
	}
	return false
}

func (r *reads) any(keys [][]byte) bool {
	for _, k := range keys {
		if _, read := r.keys[string(k)]; read {
			return true
		}
		for _, s := range r.spans {
			if s.holds(k) {
				return true
			}
		}
	}
	return false
}
