// Package memoryforget forgets what the caller stored.
package memoryforget

import "github.com/gantry-packs/gantry/pdk"

// Input names one value, or a whole category if Key is absent.
type Input struct {
	Category string  `json:"category"`
	Key      *string `json:"key"`
}

// Output says how many values are gone.
type Output struct {
	Forgotten int `json:"forgotten"`
}

//go:wasmexport memory.forget
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	if in.Category == "" {
		return Output{}, pdk.Invalid("category is empty: say what to forget")
	}
	key := ""
	if in.Key != nil {
		if key = *in.Key; key == "" {
			// An empty key is more likely a slip than the wish to lose the whole category.
			return Output{}, pdk.Invalid("key is empty: name it, or leave it out to forget the whole category")
		}
	}
	n, err := pdk.DeleteMemory(in.Category, key)
	return Output{Forgotten: n}, err
}
