package rewrite_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/gantry-packs/gantry/host/wasm/rewrite"
)

// FuzzPrepare: no panic, only this package's errors; and the engine takes the result exactly if it takes the module, so
// Prepare neither breaks a module nor makes a wrong one right (which would be a way to name what it adds).
func FuzzPrepare(f *testing.F) {
	for _, x := range examples() {
		f.Add(x.bin)
	}
	for _, c := range refusals() {
		f.Add(c.bin)
	}
	ctx := context.Background()
	config := wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	f.Cleanup(func() { r.Close(ctx) })
	accepts := func(bin []byte) error {
		m, err := r.CompileModule(ctx, bin)
		if err == nil {
			m.Close(ctx)
		}
		return err
	}
	f.Fuzz(func(t *testing.T, bin []byte) {
		old := bytes.Clone(bin)
		out, err := rewrite.Prepare(bin, options)
		if !bytes.Equal(old, bin) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if !known(err) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		before, after := accepts(bin), accepts(out)
		if before == nil && after != nil {
			t.Fatalf("broken: %v\n%q", after, out)
		}
		// A damaged custom section is dropped, and so no mistake any more.
		if before != nil && after == nil && !strings.Contains(before.Error(), "custom") {
			t.Fatalf("was wrong (%v), now accepted", before)
		}
	})
}
