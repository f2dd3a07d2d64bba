//go:build !wasip1

package pdk

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// Host stands in natively for the service: artifacts, blobs and memory of one caller, kept in the process's memory, with
// the same requests and answers as the real one but none of its limits, owners and expiry. It exists so that a pack's own
// tests run in milliseconds; whether a pack works in the sandbox is shown by its testdata scripts.
type Host struct {
	// HTTP makes the requests of [Send], credentials put in as [Host.Secrets] has them; it follows no redirect by itself.
	// Default: a plain client, good for a test server.
	HTTP http.RoundTripper
	// Secrets are the vault: a credential's plaintext by its name.
	Secrets map[string]string
	// Settings answers [Setting].
	Settings map[string]string

	mu        sync.Mutex
	blocks    map[uint64][]byte
	lastBlock uint64
	blobs     map[uint64][]byte
	lastBlob  uint64
	artifacts []nativeArtifact
	memories  map[wire.MemoryKey]wire.Memory
	lines     []string
	told      []wire.Progress
}

type nativeArtifact struct {
	entry wire.Artifact
	body  []byte
}

// native is the process's host: as a module instance serves one call and finds its host in its imports, a native process
// has one host, which [NewHost] replaces for a test.
var native = func() *atomic.Pointer[Host] {
	var p atomic.Pointer[Host]
	p.Store(newHost())
	return &p
}()

func newHost() *Host {
	return &Host{
		HTTP: http.DefaultTransport, Secrets: map[string]string{}, Settings: map[string]string{},

		blocks:   map[uint64][]byte{},
		blobs:    map[uint64][]byte{},
		memories: map[wire.MemoryKey]wire.Memory{},
	}
}

// NewHost gives the test t an empty host; the former comes back when t ends. Tests that use it must not run in parallel.
func NewHost(t interface{ Cleanup(func()) }) *Host {
	h := newHost()
	former := native.Swap(h)
	t.Cleanup(func() { native.Store(former) })
	return h
}

// Artifacts are the entries stored so far, oldest first.
func (h *Host) Artifacts() []Artifact {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]Artifact, len(h.artifacts))
	for i, a := range h.artifacts {
		list[i] = a.entry
	}
	return list
}

// Artifact returns the bytes stored under key.
func (h *Host) Artifact(key string) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, ok := h.artifact(key)
	return a.body, ok
}

// Log are the lines that the pack logged.
func (h *Host) Log() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

// Progress is what the pack told of its progress, in order.
func (h *Host) Progress() []wire.Progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]wire.Progress(nil), h.told...)
}

// A pack built natively is a command: input on stdin, answer on stdout, error on stderr.

func readInput() []byte {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return []byte("stdin cannot be read: " + err.Error()) // not JSON, so it becomes invalid_input with this text
	}
	return input
}

func setOutput(out []byte) error {
	_, err := os.Stdout.Write(out)
	return err
}

func setError(text []byte) { _, _ = os.Stderr.Write(text) }

func storeBlock(data []byte) uint64 {
	h := native.Load()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.store(append([]byte{}, data...))
}

func freeBlock(block uint64) { takeBlock(block) }

func takeBlock(block uint64) []byte {
	h := native.Load()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.take(block)
}

func logLine(_ Level, text string) {
	h := native.Load()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, text)
}

func (h *Host) store(data []byte) uint64 {
	h.lastBlock++
	h.blocks[h.lastBlock] = data
	return h.lastBlock
}

func (h *Host) take(block uint64) []byte {
	data := h.blocks[block]
	delete(h.blocks, block)
	return data
}

// serve answers one JSON request the way the host does.
func serve[Q, A any](block uint64, do func(h *Host, request Q) (A, error)) uint64 {
	h := native.Load()
	h.mu.Lock()
	defer h.mu.Unlock()
	var request Q
	var reply wire.Reply
	answer, err := func() (A, error) {
		if err := json.Unmarshal(h.blocks[block], &request); err != nil {
			var none A
			return none, wire.Invalid("bad request: %s", err)
		}
		return do(h, request)
	}()
	if err == nil {
		reply.OK, err = json.Marshal(answer)
	}
	if err != nil {
		reply = wire.Reply{Error: wire.As(err)}
	}
	raw, _ := json.Marshal(reply) // both fields were marshalled before
	return h.store(raw)
}
