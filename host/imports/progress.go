package imports

import (
	"context"
	"strings"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxProgress is how much of a progress text is kept, in bytes.
const maxProgress = 1 << 10

// tellProgress clamps and cuts rather than refuses: a call must not fail for what it says of itself.
func tellProgress(_ context.Context, c *engine.Call, req []byte) (any, error) {
	p, err := decode[wire.Progress](req)
	if err != nil {
		return nil, err
	}
	c.Progress(p.Percent, strings.ToValidUTF8(cutText(c.Secrets.MaskString(p.Message)), ""))
	return struct{}{}, nil
}

func cutText(s string) string { return s[:min(len(s), maxProgress)] }
