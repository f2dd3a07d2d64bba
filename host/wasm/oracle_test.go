package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"

	extism "github.com/extism/go-sdk"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// sdk runs modules as Extism's own Go SDK does, a fresh instance for each call.
type sdk struct{ plugin *extism.CompiledPlugin }

func openSDK(t testing.TB, bin []byte) *sdk {
	t.Helper()
	p, err := extism.NewCompiledPlugin(t.Context(), extism.Manifest{
		Wasm: []extism.Wasm{extism.WasmData{Data: bin}}, Config: map[string]string{"region": "north", "empty": ""},
	}, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(context.Background()) })
	return &sdk{p}
}

func (s *sdk) call(t testing.TB, export, input string) (output string, err error) {
	t.Helper()
	p, err := s.plugin.Instance(t.Context(), extism.PluginInstanceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	code, out, err := p.CallWithContext(t.Context(), export, []byte(input))
	if err == nil && code != 0 {
		err = errors.New("a status")
	}
	return string(out), err
}

// What a module of any Extism PDK sees here is what it sees in the SDK.
func TestOracle(t *testing.T) {
	bin := built(t, buildABI)
	ours, theirs := runner(t), openSDK(t, bin)
	long := strings.Repeat("0123456789", 5000) + "odd"
	for _, c := range []struct{ export, input string }{
		{"echo", ""}, {"echo", "1"}, {"echo", "12345678"}, {"echo", "a\x00b\xff"}, {"echo", long}, {"echoblock", "123456789"},
		{"words", ""}, {"blocks", ""}, {"zeroed", ""}, {"twice", ""}, {"part", ""}, {"silent", "x"}, {"nothing", ""},
		{"fail", "why"}, {"fail", "漢字"}, {"failthough", "why"}, {"failtwice", "why"}, {"failnot", "why"}, {"status", ""},
		{"setting", "region"}, {"setting", "empty"}, {"setting", "unset"}, {"logs", "line"}, {"leave", ""}, {"fault", ""},
		{"beyond", ""}, {"beyondload", ""},
	} {
		t.Run(c.export+" "+c.input[:min(len(c.input), 20)], func(t *testing.T) {
			want, wantErr := theirs.call(t, c.export, c.input)
			got, err := do(t, ours, pack(bin, c.export), c.input)
			if (err == nil) != (wantErr == nil) || err == nil && got != want {
				t.Fatalf("got %.100q, %v\nthe SDK: %.100q, %v", got, err, want, wantErr)
			}
			if e := wire.As(err); e != nil && strings.HasPrefix(c.export, "fail") && e.Message != wantErr.Error() {
				t.Errorf("got the error %q, the SDK's is %q", e.Message, wantErr)
			}
		})
	}
}
