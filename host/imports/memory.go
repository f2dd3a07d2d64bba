package imports

import (
	"context"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/memory"
	"github.com/gantry-packs/gantry/pdk/wire"
)

func putMemory(m *memory.Memory) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		p, err := decode[wire.MemoryPut](req)
		if err != nil {
			return nil, err
		}
		return m.Put(ctx, c.Caller.Subject, p)
	}
}

func getMemory(m *memory.Memory) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		k, err := decode[wire.MemoryKey](req)
		if err != nil {
			return nil, err
		}
		return m.Get(ctx, c.Caller.Subject, k.Category, k.Key)
	}
}

func listMemory(m *memory.Memory) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		k, err := decode[wire.MemoryKey](req)
		if err != nil {
			return nil, err
		}
		if k.Key != "" {
			return nil, wire.Invalid("memory_list takes a category only; memory_get takes a key")
		}
		list, err := m.List(ctx, c.Caller.Subject, k.Category)
		return wire.MemoryPage{Memories: list}, err
	}
}

func deleteMemory(m *memory.Memory) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		k, err := decode[wire.MemoryKey](req)
		if err != nil {
			return nil, err
		}
		n, err := m.Delete(ctx, c.Caller.Subject, k)
		return wire.Deleted{Deleted: n}, err
	}
}
