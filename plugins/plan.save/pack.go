// Package plansave keeps a plan of the caller.
package plansave

import (
	"encoding/json"
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

// maxSteps is how many steps a plan may have.
const maxSteps = 200

// Input is what the caller wants and how it means to get there.
type Input struct {
	Intent string            `json:"intent"`
	Steps  []json.RawMessage `json:"steps"` // texts or objects
}

// Output is the plan's identity.
type Output struct {
	IntentSHA string `json:"intent_sha"`
}

//go:wasmexport plan.save
func Export() int32 { return pdk.Run(run) }

func run(in Input) (Output, error) {
	switch {
	case strings.TrimSpace(in.Intent) == "":
		return Output{}, pdk.Invalid("intent is empty: say in a sentence what the plan is for")
	case len(in.Steps) == 0:
		return Output{}, pdk.Invalid("steps is empty: give at least one step, a text or an object")
	case len(in.Steps) > maxSteps:
		return Output{}, pdk.Invalid("the plan has %d steps: at most %d", len(in.Steps), maxSteps)
	}
	sha, err := pdk.PutPlan(pdk.Plan{Intent: in.Intent, Steps: in.Steps})
	return Output{IntentSHA: sha}, err
}
