package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// packEntry is a pack as callers see it.
type packEntry struct {
	Name         string               `json:"name"`
	Version      string               `json:"version"`
	Description  string               `json:"description"`
	Source       string               `json:"source"` // core or marketplace
	Handler      handlerEntry         `json:"handler"`
	Async        bool                 `json:"async"`
	Session      string               `json:"session"` // none, optional, required or creates
	InputSchema  json.RawMessage      `json:"input_schema"`
	OutputSchema json.RawMessage      `json:"output_schema"`
	Permissions  registry.Permissions `json:"permissions"`
	Examples     []registry.Example   `json:"examples,omitempty"`
}

type handlerEntry struct {
	Type  string `json:"type"` // wasm or command
	Image string `json:"image,omitempty"`
}

func entryOf(p *registry.Pack) packEntry {
	e := packEntry{
		Name: p.Name, Version: p.Version, Description: p.Description, Source: p.Source, Async: p.Async,
		Handler: handlerEntry{Type: p.Handler.Type}, Session: p.Session.Mode,
		InputSchema: schemaOf(p.InputSchema), OutputSchema: schemaOf(p.OutputSchema),
	}
	if p.Handler.Sidecar != nil {
		e.Handler.Image = p.Handler.Sidecar.Image
	}
	if e.Session == "" {
		e.Session = "none"
	}
	if p.Permissions != nil {
		e.Permissions = *p.Permissions
	}
	return e
}

// schemaOf is a pack's schema as written; one that is left out allows any object.
func schemaOf(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

func listPacks(set *registry.Set) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		entries := []packEntry{}
		for _, p := range set.List() {
			entries = append(entries, entryOf(p))
		}
		writeJSON(w, r, http.StatusOK, struct {
			Packs []packEntry `json:"packs"`
			Count int         `json:"count"`
		}{entries, len(entries)})
	}
}

func showPack(set *registry.Set) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, ok := set.Lookup(r.PathValue("name"))
		if !ok {
			fail(w, r, wire.Errorf(wire.PackNotFound, "no pack is called %q: GET /api/v1/packs lists them", cut(r.PathValue("name"))))
			return
		}
		entry := entryOf(p)
		entry.Examples = p.Examples
		writeJSON(w, r, http.StatusOK, entry)
	}
}

// callPack hands the body to the engine as it came: the engine decodes it, once. The request's context ends when the caller
// hangs up, and the call with it.
func callPack(e *engine.Engine, b *bodies) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, x := r.PathValue("name"), exchangeOf(r)
		if err := wantType(r, jsonType); err != nil {
			failCall(w, r, err, cut(name), "")
			return
		}
		input, release, err := b.read(r, maxPackBody)
		defer release()
		if err != nil {
			failCall(w, r, err, cut(name), "")
			return
		}
		x.audited = true // by the engine, whatever comes now
		env, err := e.Call(r.Context(), engine.Request{Pack: name, Input: input, Caller: x.caller, RequestID: x.id, Remote: x.remote})
		if err != nil {
			failCall(w, r, err, cut(name), env.SessionID)
			return
		}
		const rest = 1 << 10 // of the envelope around the output; more only costs a copy
		writeRaw(w, http.StatusOK, env.AppendJSON(make([]byte, 0, len(env.Output)+rest)))
	}
}
