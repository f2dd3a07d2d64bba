package pdk

import "github.com/gantry-packs/gantry/pdk/wire"

// Progress tells whoever waits for the call how far it is: percent from 0 to 100 and a short text. It needs no permission.
// Nobody may be watching, and a call must not fail for that, so it has no error.
func Progress(percent float64, message string) {
	_, _ = ask[struct{}](progress, wire.Progress{Percent: percent, Message: message})
}
