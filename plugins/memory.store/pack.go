// Package memorystore remembers a value for the caller.
package memorystore

import (
	"encoding/json"

	"github.com/gantry-packs/gantry/pdk"
)

// Input is what to remember, under which name and for how long.
type Input struct {
	Category string          `json:"category"`
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	TTL      json.RawMessage `json:"ttl"` // seconds, or a text such as "24h"; absent: for ever
}

// Output says what is remembered until when.
type Output struct {
	Stored    bool   `json:"stored"`
	Category  string `json:"category"`
	Key       string `json:"key"`
	ExpiresAt string `json:"expires_at,omitempty"` // RFC 3339
}

//go:wasmexport memory.store
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	switch {
	case in.Category == "":
		return Output{}, pdk.Invalid("category is empty: name what kind of thing this is, such as preferences")
	case in.Key == "":
		return Output{}, pdk.Invalid("key is empty: name the thing within its category")
	case in.Value == nil:
		return Output{}, pdk.Invalid("value is missing: give any JSON value")
	}
	seconds, err := ttlSeconds(in.TTL)
	if err != nil {
		return Output{}, err
	}
	m, err := pdk.PutMemory(pdk.MemoryPut{Category: in.Category, Key: in.Key, Value: in.Value, TTLSeconds: seconds})
	if err != nil {
		return Output{}, err
	}
	return Output{Stored: true, Category: m.Category, Key: m.Key, ExpiresAt: m.ExpiresAt}, nil
}
