// Package gantry embeds what `gantry pack new` copies into a new pack: the sources of the pack development kit, as they
// were when the binary was built. With them a pack compiles with the plain Go toolchain and no network.
package gantry

import "embed"

// PDK holds go.mod (for its go line), pdk/*.go and pdk/wire/*.go.
//
//go:embed go.mod pdk/*.go pdk/wire/*.go
var PDK embed.FS
