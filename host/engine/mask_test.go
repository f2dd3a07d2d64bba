package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
)

func secretive(secrets ...string) *Call {
	c := &Call{Secrets: vault.NewMasker()}
	for _, s := range secrets {
		c.Secrets.Add([]byte(s))
	}
	return c
}

func TestMaskJSON(t *testing.T) {
	c := secretive("s3cr3t key", `{"username":"ann","password":"pass word"}`, "1234567890")
	for raw, want := range map[string]string{
		`{"a":"x s3cr3t key y"}`:                    `{"a":"x [masked] y"}`,
		`{"a":"\u00733cr3t\u0020key"}`:              `{"a":"[masked]"}`, // escaped by somebody who means to
		`{"s3cr3t key":[1.50,true]}`:                `{"[masked]":[1.50,true]}`,
		`{"n":1234567890}`:                          `{"n":"[masked]"}`,
		`{"username":"ann","password":"pass word"}`: `{"username":"ann","password":"[masked]"}`, // the secret looks like the JSON around it
		`{"n":12345678901234567890.0}`:              `{"n":"[masked][masked].0"}`,
		`{"a":null,"b":[],"c":"\ud83d\ude00"}`:      `{"a":null,"b":[],"c":"😀"}`,
	} {
		got, err := c.maskJSON([]byte(raw))
		if err != nil || strings.ReplaceAll(string(got), "[masked][masked]", "[masked]") != strings.ReplaceAll(want, "[masked][masked]", "[masked]") {
			t.Errorf("%s: %s, %v; want %s", raw, got, err, want)
		}
	}
	if got, err := secretive().maskJSON([]byte(`{ "a" : 1 }`)); err != nil || string(got) != `{ "a" : 1 }` {
		t.Errorf("without secrets: %s, %v", got, err)
	}
}

func TestMaskError(t *testing.T) {
	c := secretive("s3cr3t key")
	e := wire.Failed("it said s3cr3t key").WithDetails(map[string]string{"s3cr3t key": "a s3cr3t key"}).Because(fmt.Errorf("s3cr3t key: %w", context.Canceled))
	got := c.maskError(e)
	if all := fmt.Sprintf("%v %s %v", got, got.Details, got.Unwrap()); strings.Contains(all, "s3cr3t") || strings.Count(all, vault.Mask) != 4 {
		t.Error(all)
	}
	if got.Code != wire.HandlerFailed || !errors.Is(got, context.Canceled) {
		t.Errorf("%v is another error than before", got)
	}
	if again := secretive().maskError(e); again != e {
		t.Error("an error was changed without secrets")
	}
}
