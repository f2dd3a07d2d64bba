package imports

import (
	"context"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/memory"
	"github.com/gantry-packs/gantry/pdk/wire"
)

func putPlan(m *memory.Memory) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		p, err := decode[wire.Plan](req)
		if err != nil {
			return nil, err
		}
		return m.PutPlan(ctx, c.Caller.Subject, p)
	}
}
