// Package host is where things are wired: Open builds a whole service in a data dir from its settings, Close takes it down
// in the other order. Nothing below knows of it.
package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/imports"
	"github.com/gantry-packs/gantry/host/memory"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/host/wasm"
	"github.com/gantry-packs/gantry/registry"
)

// CoreModule is the name by which core manifests speak of the module that holds all core packs.
const CoreModule = "core.wasm"

// Core is what the binary carries: the core packs' folders and the module that runs them.
type Core struct {
	FS     fs.FS                  // one folder a pack
	Module func() ([]byte, error) // core.wasm
	Digest string                 // hex SHA-256 of core.wasm
}

// Host is a running service without its door.
type Host struct {
	Config    config.Config
	Log       *slog.Logger
	Store     store.Store
	Audit     *audit.Log
	Auth      *auth.Service
	Artifacts *artifact.Store
	Memory    *memory.Memory
	Vault     *vault.Vault
	Egress    *egress.Guard
	Packs     *registry.Set
	Wasm      *wasm.Runner
	Lent      []wasm.Function // what the host lends to modules
	Engine    *engine.Engine
	Metrics   *prometheus.Registry

	// FirstPassword is the admin's password when this start has made it, else empty. It is kept nowhere.
	FirstPassword string

	baseURL atomic.Pointer[string]
	closers []func() error
}

// Open brings a service up in cfg.DataDir. Core packs are loaded but not compiled: see [Host.Warm].
func Open(ctx context.Context, cfg config.Config, core Core, log *slog.Logger) (h *Host, err error) {
	h = &Host{Config: cfg, Log: log, Packs: registry.NewSet(), Metrics: prometheus.NewRegistry()}
	opened := h
	defer func() {
		if err != nil {
			h, err = nil, errors.Join(err, opened.Close())
		}
	}()
	h.SetBaseURL(cfg.BaseURL)
	h.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data dir: %w", err)
	}
	if err := h.openState(ctx); err != nil {
		return nil, err
	}
	if err := h.openWayOut(ctx); err != nil {
		return nil, err
	}
	if err := h.openEngine(ctx); err != nil {
		return nil, err
	}
	return h, h.loadCore(core)
}

// openState opens what survives a restart.
func (h *Host) openState(ctx context.Context) error {
	var err error
	if h.Store, err = store.OpenBadger(filepath.Join(h.Config.DataDir, "store"), h.Log); err != nil {
		return err
	}
	h.onClose(h.Store.Close)
	h.Audit = audit.Open(h.Store, h.Config.AuditRetention, time.Now)
	h.Memory = memory.Open(h.Store, time.Now)
	h.Auth, h.FirstPassword, err = auth.Open(ctx, auth.Config{
		Store: h.Store, Dir: h.Config.DataDir, AdminUsername: h.Config.AdminUsername, AdminPassword: h.Config.AdminPassword, Now: time.Now,
	})
	if err != nil {
		return err
	}
	var blobs artifact.Blobs // none: the folder
	if b, ok := h.Config.ArtifactsBucket(); ok {
		if blobs, err = artifact.OpenS3(ctx, b); err != nil {
			return fmt.Errorf("GANTRY_ARTIFACTS_URL: %w", err)
		}
	}
	h.Artifacts, err = artifact.Open(ctx, artifact.Config{
		Store: h.Store, Dir: filepath.Join(h.Config.DataDir, "artifacts"), Blobs: blobs, BaseURL: h.BaseURL, Retention: h.Config.ArtifactRetention, Now: time.Now,
	})
	if err != nil {
		return err
	}
	h.onClose(func() error { h.Artifacts.Close(); return nil })
	return nil
}

// openEngine wires the runners to the engine; only here are both known.
func (h *Host) openEngine(ctx context.Context) error {
	h.Lent = imports.Table(imports.Services{
		Artifacts: h.Artifacts, Memory: h.Memory,
		Network: imports.Network{Guard: h.Egress, Vault: h.Vault, Setting: h.setting, Delegate: h.Auth.Delegate},
	})
	var err error
	h.Wasm, err = wasm.Open(ctx, wasm.Config{
		CacheDir: filepath.Join(h.Config.DataDir, "cache", "wasm"), Functions: h.Lent, Setting: h.setting, Log: h.Log,
	})
	if err != nil {
		return err
	}
	h.onClose(h.Wasm.Close)
	h.Packs.Watch(func(c registry.Change) {
		if c.Old != nil {
			h.Wasm.Release(c.Old, h.Packs.List())
		}
	})
	h.Engine = engine.New(engine.Config{
		Packs: h.Packs, Runners: map[string]engine.Runner{registry.Wasm: h.Wasm}, Audit: h.Audit,
		Limits: engine.Limits{
			Calls: h.Config.MaxCalls, PerCaller: h.Config.MaxCallsPerCaller, Queue: h.Config.CallQueue, QueueWait: h.Config.CallQueueWait,
		},
		Now: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Log: h.Log, Metrics: h.Metrics,
	})
	return nil
}

// loadCore adds the core packs to the set.
func (h *Host) loadCore(core Core) error {
	folders, err := fs.ReadDir(core.FS, ".")
	if err != nil {
		return fmt.Errorf("reading the core packs: %w", err)
	}
	for _, d := range folders {
		dir, err := fs.Sub(core.FS, d.Name())
		if err != nil {
			return err
		}
		p, err := registry.Load(dir, registry.Options{
			Source:  registry.Core,
			Modules: map[string]func() ([]byte, error){CoreModule: core.Module},
			Digest:  map[string]string{CoreModule: core.Digest},
		})
		if err != nil {
			return fmt.Errorf("core pack %s: %w", d.Name(), err)
		}
		if err := h.Packs.Add(p); err != nil {
			return fmt.Errorf("core pack %s: %w", d.Name(), err)
		}
	}
	return nil
}

// Warm compiles the modules of all packs so that no call has to wait for it; told says which module is being compiled.
func (h *Host) Warm(ctx context.Context, told func(module string)) error {
	seen := map[string]bool{}
	for _, p := range h.Packs.List() {
		if p.Handler.Type != registry.Wasm || seen[p.Digest] {
			continue
		}
		seen[p.Digest] = true
		told(p.Handler.Module)
		if err := h.Wasm.Warm(ctx, p); err != nil {
			if cause := errors.Unwrap(err); cause != nil { // hidden from callers, but this is for the operator
				err = fmt.Errorf("%w: %w", err, cause)
			}
			return err
		}
	}
	return nil
}

// SetBaseURL says under which URL links to this service work; the door calls it once it knows its address.
func (h *Host) SetBaseURL(url string) { h.baseURL.Store(&url) }

// BaseURL is the public URL of this service, without a trailing slash.
func (h *Host) BaseURL() string { return *h.baseURL.Load() }

// Ready checks the parts that a call needs; each answers "ok" or why not.
func (h *Host) Ready(ctx context.Context) map[string]string {
	parts := map[string]string{"store": "ok", "engine": "ok"}
	if err := h.Store.View(ctx, func(store.R) error { return nil }); err != nil {
		parts["store"] = err.Error()
	}
	if err := h.Wasm.Ready(); err != nil {
		parts["engine"] = err.Error()
	}
	return parts
}

func (h *Host) onClose(f func() error) { h.closers = append(h.closers, f) }

// Close takes the service down, last opened first.
func (h *Host) Close() error {
	var errs []error
	for i := len(h.closers) - 1; i >= 0; i-- {
		errs = append(errs, h.closers[i]())
	}
	h.closers = nil
	return errors.Join(errs...)
}
