package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func steps(s ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, v := range s {
		out = append(out, json.RawMessage(v))
	}
	return out
}

func TestPlans(t *testing.T) {
	m, now := open(t)
	if plans, err := m.Plans(t.Context(), "ann"); plans == nil || len(plans) != 0 || err != nil {
		t.Fatalf("got %v, %v", plans, err)
	}
	for i, intent := range []string{"first", "second\nline", " first \n"} {
		saved, err := m.PutPlan(t.Context(), "ann", wire.Plan{Intent: intent, Steps: steps(fmt.Sprint(i), `{"pack":"x"}`)})
		sum := sha256.Sum256([]byte(strings.TrimSpace(intent)))
		if err != nil || saved.IntentSHA != hex.EncodeToString(sum[:]) {
			t.Fatalf("got %+v, %v", saved, err)
		}
		*now = now.Add(time.Second)
	}
	plans, err := m.Plans(t.Context(), "ann")
	if err != nil || len(plans) != 2 || plans[0].Intent != "first" || string(plans[0].Steps[0]) != "2" || plans[1].Intent != "second\nline" {
		t.Fatalf("got %+v, %v", plans, err)
	}
	if plans[0].SavedAt != now.Add(-time.Second).Format(time.RFC3339) {
		t.Fatalf("saved at %s", plans[0].SavedAt)
	}
}

func TestOldPlansGo(t *testing.T) {
	m, _ := open(t)
	for i := range MaxPlans + 3 {
		if _, err := m.PutPlan(t.Context(), "ann", wire.Plan{Intent: fmt.Sprint("plan ", i), Steps: steps(`1`)}); err != nil {
			t.Fatal(err)
		}
	}
	plans, err := m.Plans(t.Context(), "ann")
	if err != nil || len(plans) != MaxPlans || plans[0].Intent != fmt.Sprint("plan ", MaxPlans+2) || plans[MaxPlans-1].Intent != "plan 3" {
		t.Fatalf("%d plans, %v", len(plans), err)
	}
}

func TestPutPlanRefuses(t *testing.T) {
	m, _ := open(t)
	for name, p := range map[string]wire.Plan{
		"no intent":           {Steps: steps(`1`)},
		"blank intent":        {Intent: " \n\t", Steps: steps(`1`)},
		"long intent":         {Intent: strings.Repeat("a", MaxIntent+1), Steps: steps(`1`)},
		"broken UTF-8":        {Intent: "\xff", Steps: steps(`1`)},
		"no steps":            {Intent: "a"},
		"many steps":          {Intent: "a", Steps: slices.Repeat(steps(`1`), MaxSteps+1)},
		"step without JSON":   {Intent: "a", Steps: steps(`1`, `{`)},
		"empty step":          {Intent: "a", Steps: steps(``)},
		"broken UTF-8 inside": {Intent: "a", Steps: steps("\"\xff\"")},
		"large step":          {Intent: "a", Steps: steps(`"` + strings.Repeat("a", MaxPlan) + `"`)},
		"large together":      {Intent: "a", Steps: slices.Repeat(steps(`"`+strings.Repeat("a", 1000)+`"`), 100)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.PutPlan(t.Context(), "ann", p)
			wantCode(t, err, wire.InvalidInput)
		})
	}
	if plans, err := m.Plans(t.Context(), "ann"); err != nil || len(plans) != 0 {
		t.Fatalf("left behind: %v, %v", plans, err)
	}
	_, err := m.PutPlan(t.Context(), "ann", wire.Plan{Intent: strings.Repeat("a", MaxIntent), Steps: slices.Repeat(steps(`1`), MaxSteps)})
	if err != nil {
		t.Fatal(err)
	}
}
