// Package registry knows which packs exist. A pack is a folder with a gantry-pack.yaml; core and installed packs are read
// by the same loader and live in the same [Set].
package registry

import (
	"encoding/json"
	"time"
)

// ManifestFile is the manifest's name inside a pack's folder.
const ManifestFile = "gantry-pack.yaml"

// The handler types.
const (
	Wasm    = "wasm"
	Command = "command"
)

// The sources of a pack.
const (
	Core        = "core"
	Marketplace = "marketplace"
)

// Limits and defaults of a manifest.
const (
	DefaultTimeout     = 60 * time.Second
	MinTimeout         = time.Millisecond
	MaxTimeout         = time.Hour
	DefaultMemoryMB    = 64
	MaxMemoryMB        = 1024      // of a module
	MaxSessionMemoryMB = 16 * 1024 // of a container
	MaxManifestBytes   = 256 << 10
	MaxModuleBytes     = 48 << 20
)

// Manifest is what gantry-pack.yaml says. Document is all of it, with the fields that this version doesn't know.
type Manifest struct {
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	Author       string          `json:"author,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Handler      Handler         `json:"handler"`
	Examples     []Example       `json:"examples,omitempty"`
	Trust        *Trust          `json:"trust,omitempty"`
	Async        bool            `json:"async,omitempty"`
	Session      Session         `json:"session,omitzero"`
	TimeoutS     float64         `json:"timeout_s,omitempty"` // of the whole call; handler.timeout_s means the same
	Permissions  *Permissions    `json:"permissions,omitempty"`
	Config       []string        `json:"config,omitempty"` // settings that the pack may read with Extism's config_get
	Document     json.RawMessage `json:"-"`                // the whole manifest as a JSON object, in the file's order; see MarshalJSON
}

// Handler says how the pack runs: a module's export in the engine, or a command in a sidecar.
type Handler struct {
	Type     string   `json:"type"`                // wasm or command
	Module   string   `json:"module,omitempty"`    // wasm: file in the pack's folder, or core.wasm
	Export   string   `json:"export,omitempty"`    // wasm: default the pack's name
	MemoryMB int      `json:"memory_mb,omitempty"` // wasm: limit of linear memory, default 64
	Command  []string `json:"command,omitempty"`   // command: argv
	TimeoutS float64  `json:"timeout_s,omitempty"`
	Sidecar  *Sidecar `json:"sidecar,omitempty"`
}

// Sidecar names the container image of a command handler.
type Sidecar struct {
	Image string `json:"image"`
}

// Example is a call that documents and tests the pack: the output must contain the subset.
type Example struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description,omitempty"`
	Input                json.RawMessage `json:"input"`
	ExpectedOutputSubset json.RawMessage `json:"expected_output_subset,omitempty"`
	ExpectedError        string          `json:"expected_error,omitempty"` // error code, when the example shows a refusal
}

// Trust is the manifest's claim about who made the pack. It proves nothing by itself.
type Trust struct {
	SignedBy string `json:"signed_by,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
}

// Session says whether the pack needs a container.
type Session struct {
	Mode     string `json:"mode,omitempty"` // none (default), optional, required or creates
	Image    string `json:"image,omitempty"`
	MemoryMB int    `json:"memory_mb,omitempty"`
	Preserve bool   `json:"preserve,omitempty"`
}

// Permissions is what the pack asks to be lent. What isn't asked isn't given.
type Permissions struct {
	Net       []string `json:"net,omitempty"`   // host patterns, see [Manifest.AllowsURL]
	Vault     []string `json:"vault,omitempty"` // credential names, or input fields that name one; see [Manifest.AllowsCredential]
	Session   []string `json:"session,omitempty"`
	LLM       bool     `json:"llm,omitempty"`
	Packs     []string `json:"packs,omitempty"` // packs it may call
	Artifacts bool     `json:"artifacts,omitempty"`
	Memory    bool     `json:"memory,omitempty"`
}

// Permission names one field of Permissions; the table of host functions speaks of them by these names.
type Permission string

// The permissions.
const (
	NoPermission  Permission = ""
	PermNet       Permission = "net"
	PermVault     Permission = "vault"
	PermSession   Permission = "session"
	PermLLM       Permission = "llm"
	PermPacks     Permission = "packs"
	PermArtifacts Permission = "artifacts"
	PermMemory    Permission = "memory"
)

// MarshalJSON answers the manifest as it was written, unknown fields and all. One that no file was read for is answered from
// its fields.
func (m Manifest) MarshalJSON() ([]byte, error) {
	if m.Document != nil {
		return m.Document, nil
	}
	type fields Manifest
	return json.Marshal(fields(m))
}

// Allows says whether the manifest asks for a permission at all; the host function checks the detail (which host, which pack).
func (m *Manifest) Allows(p Permission) bool {
	if p == NoPermission {
		return true
	}
	q := m.Permissions
	if q == nil {
		return false
	}
	switch p {
	case PermNet:
		return len(q.Net) > 0
	case PermVault:
		return len(q.Vault) > 0
	case PermSession:
		return len(q.Session) > 0
	case PermLLM:
		return q.LLM
	case PermPacks:
		return len(q.Packs) > 0
	case PermArtifacts:
		return q.Artifacts
	case PermMemory:
		return q.Memory
	}
	return false
}

// Timeout is the call's deadline: timeout_s, else handler.timeout_s, else 60 s.
func (m *Manifest) Timeout() time.Duration {
	s := m.TimeoutS
	if s == 0 {
		s = m.Handler.TimeoutS
	}
	if s == 0 {
		return DefaultTimeout
	}
	return time.Duration(s * float64(time.Second))
}

// MemoryMB is the limit of a wasm handler's linear memory in MiB.
func (m *Manifest) MemoryMB() int {
	if m.Handler.MemoryMB == 0 {
		return DefaultMemoryMB
	}
	return m.Handler.MemoryMB
}
