package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of plans; MaxIntent and MaxPlan (intent and steps together) are bytes. Of a subject's plans the newest
// MaxPlans stay.
const (
	MaxIntent = 4096
	MaxSteps  = 200
	MaxPlan   = 64 << 10
	MaxPlans  = 200
)

// SavedPlan is a plan as it was last saved. IntentSHA is the hex SHA-256 of the trimmed intent, SavedAt RFC 3339.
type SavedPlan struct {
	IntentSHA string            `json:"intent_sha"`
	Intent    string            `json:"intent"`
	Steps     []json.RawMessage `json:"steps"`
	SavedAt   string            `json:"saved_at"`
}

// PutPlan saves a plan, in place of the one with the same intent. It is on the disk when PutPlan returns.
func (m *Memory) PutPlan(ctx context.Context, subject string, p wire.Plan) (wire.PlanSaved, error) {
	p.Intent = strings.TrimSpace(p.Intent)
	if err := checkPlan(p); err != nil {
		return wire.PlanSaved{}, err
	}
	sum := sha256.Sum256([]byte(p.Intent))
	saved := SavedPlan{IntentSHA: hex.EncodeToString(sum[:]), Intent: p.Intent, Steps: p.Steps, SavedAt: m.now().UTC().Format(time.RFC3339)}
	err := m.store.Update(ctx, func(rw store.RW) error {
		list, err := m.planList(rw, subject)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(sha string) bool { return sha == saved.IntentSHA })
		list = slices.Insert(list, 0, saved.IntentSHA)
		for len(list) > MaxPlans {
			last := len(list) - 1
			if err := m.plans.Delete(rw, prefixOf(subject)+list[last]); err != nil {
				return err
			}
			list = list[:last]
		}
		if err := m.planned.Put(rw, subjectID(subject), list, 0); err != nil {
			return err
		}
		return m.plans.Put(rw, prefixOf(subject)+saved.IntentSHA, saved, 0)
	}, store.Synced)
	if err != nil {
		return wire.PlanSaved{}, fmt.Errorf("saving a plan: %w", err)
	}
	return wire.PlanSaved{IntentSHA: saved.IntentSHA}, nil
}

// Plans returns the subject's plans, the one saved last first.
func (m *Memory) Plans(ctx context.Context, subject string) ([]SavedPlan, error) {
	var out []SavedPlan
	err := m.store.View(ctx, func(r store.R) error {
		out = []SavedPlan{}
		list, err := m.planList(r, subject)
		if err != nil {
			return err
		}
		for _, sha := range list {
			p, err := m.plans.Get(r, prefixOf(subject)+sha)
			if err != nil {
				return err
			}
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing plans: %w", err)
	}
	return out, nil
}

func (m *Memory) planList(r store.R, subject string) ([]string, error) {
	list, err := m.planned.Get(r, subjectID(subject))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

func checkPlan(p wire.Plan) error {
	if p.Intent == "" || len(p.Intent) > MaxIntent || !utf8.ValidString(p.Intent) {
		return wire.Invalid("intent must be 1 to %d bytes of UTF-8: say in a sentence what the plan is for", MaxIntent)
	}
	if len(p.Steps) == 0 || len(p.Steps) > MaxSteps {
		return wire.Invalid("steps must hold 1 to %d steps", MaxSteps)
	}
	size := len(p.Intent)
	for i, step := range p.Steps {
		if !validJSON(step) {
			return wire.Invalid("steps[%d] must be JSON in UTF-8", i)
		}
		size += len(step)
	}
	if size > MaxPlan {
		return wire.Invalid("the plan has %d bytes, at most %d are saved; shorten its steps", size, MaxPlan)
	}
	return nil
}
