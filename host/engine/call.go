package engine

import (
	"context"
	"sync"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// Call is one running call: what a runner and the host functions may know of it. It travels in the context
// (see [FromContext]) and ends with the call.
type Call struct {
	ID        string
	RequestID string
	Caller    auth.Caller
	Pack      *registry.Pack
	Started   time.Time
	Blobs     *Blobs
	Input     map[string]any // as schema.Decode gives it; only for a pack that may use credentials
	Secrets   *vault.Masker  // what the host has used for this call and nobody may see in what the call says

	progress func(percent float64, message string)

	mu        sync.Mutex
	artifacts []wire.Artifact
}

type callKey struct{}

// FromContext returns the call that runs under ctx, or nil.
func FromContext(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// WithCall returns a context that carries c.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// AddArtifact notes an artifact that this call stored; it will stand in the envelope.
func (c *Call) AddArtifact(a wire.Artifact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.artifacts = append(c.artifacts, a)
}

// Artifacts are those that the call has stored so far, in order.
func (c *Call) Artifacts() []wire.Artifact {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]wire.Artifact(nil), c.artifacts...)
}

// Progress tells the call's watcher how far it is; percent is clamped to 0..100.
func (c *Call) Progress(percent float64, message string) {
	if c.progress != nil {
		c.progress(min(max(percent, 0), 100), message)
	}
}
