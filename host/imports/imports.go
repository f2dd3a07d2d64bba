// Package imports is what the host lends a module: one table of functions, each with the permission that the pack's
// manifest must name. A module speaks through them for the caller of its call and sees what that caller may see.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/host/memory"
	"github.com/gantry-packs/gantry/host/wasm"
	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

// maxRequest is the longest JSON request, in bytes. What is larger is handed over as a blob.
const maxRequest = 1 << 20

// Services are what the functions of the table are made of. The zero value makes a table for looking at, not for calling.
type Services struct {
	Artifacts *artifact.Store
	Memory    *memory.Memory
	Network   Network
}

// Table is everything that is lent, in the order of the docs.
func Table(s Services) []wasm.Function {
	a, m, v := s.Artifacts, s.Memory, s.Network.Vault
	return []wasm.Function{
		{Name: "http_send", Permission: registry.PermNet, JSON: sendHTTP(s.Network), Help: "makes an HTTP request, with credentials put in by the host"},
		{Name: "vault_sign", Permission: registry.PermVault, JSON: signVault(v), Help: "makes an HMAC or a JWT with a credential"},
		{Name: "vault_look", Permission: registry.PermVault, JSON: lookVault(v), Help: "tells a credential's type and host pattern"},
		{Name: "artifact_put", Permission: registry.PermArtifacts, JSON: putArtifact(a), Help: "stores a text or a blob for the caller"},
		{Name: "artifact_get", Permission: registry.PermArtifacts, JSON: getArtifact(a), Help: "gives an artifact of the caller as a blob"},
		{Name: "artifact_list", Permission: registry.PermArtifacts, JSON: listArtifacts(a), Help: "lists the caller's artifacts, newest first"},
		{Name: "memory_put", Permission: registry.PermMemory, JSON: putMemory(m), Help: "remembers a value for the caller"},
		{Name: "memory_get", Permission: registry.PermMemory, JSON: getMemory(m), Help: "gives what the caller stored, or null"},
		{Name: "memory_list", Permission: registry.PermMemory, JSON: listMemory(m), Help: "lists a category of the caller's memory"},
		{Name: "memory_delete", Permission: registry.PermMemory, JSON: deleteMemory(m), Help: "forgets a key or a category of the caller's memory"},
		{Name: "plan_put", Permission: registry.PermMemory, JSON: putPlan(m), Help: "saves a plan of the caller"},
		{Name: "progress", JSON: tellProgress, Help: "tells how far the call is"},
		{Name: "blob_read", Raw: readBlob, Params: 3, Help: "copies a part of a blob: id, offset, length"},
		{Name: "blob_write", Raw: writeBlob, Params: 2, Help: "appends a block to a blob, or makes one: id or 0, block"},
	}
}

// decode reads one request strictly: a field that this host doesn't know was meant to do something, so it is refused.
func decode[T any](raw []byte) (T, error) {
	var request T
	if len(raw) > maxRequest {
		return request, wire.Invalid("the request to the host has %d bytes, at most %d are read: hand large values over as a blob", len(raw), maxRequest)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, wire.Invalid("the request to the host cannot be read: %s", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return request, wire.Invalid("the request to the host has something behind its end")
	}
	return request, nil
}
