package registry

import (
	"github.com/gantry-packs/gantry/registry/schema"
)

// Pack is a loaded pack, ready to be run. It never changes: a new version is a new Pack.
type Pack struct {
	Manifest
	Source string         // Core or Marketplace
	Input  *schema.Schema // compiled input_schema
	Output *schema.Schema // compiled output_schema
	Digest string         // hex SHA-256 of the module's bytes; "" for a command pack
	Module func() ([]byte, error)
}
