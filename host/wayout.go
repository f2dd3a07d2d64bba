package host

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/registry"
)

// ttsURL is where the key of GANTRY_TTS_API_KEY may go.
const ttsURL = "https://api.elevenlabs.io"

// openWayOut opens what stands between packs and other servers: the guard, and the vault with the operator's own keys.
func (h *Host) openWayOut(ctx context.Context) error {
	var err error
	h.Egress, err = egress.New(egress.Options{Allow: h.Config.EgressEntries(), Trusted: []string{h.Config.StockBaseURL, h.Config.ForgeAPIURL}})
	if err != nil {
		return fmt.Errorf("opening the way out: %w", err)
	}
	h.Vault, err = vault.Open(ctx, vault.Config{Store: h.Store, Dir: h.Config.DataDir, KEK: h.Config.VaultKEK, Now: time.Now, Log: h.Log})
	if err != nil {
		return err
	}
	h.onClose(func() error { h.Vault.Close(); return nil })
	for _, key := range []struct {
		name, url string
		secret    config.Secret
	}{
		{"stock-key", h.Config.StockBaseURL, h.Config.StockAPIKey},
		{"tts-key", ttsURL, h.Config.TTSAPIKey},
	} {
		if err := h.preload(ctx, key.name, key.url, key.secret); err != nil {
			return err
		}
	}
	return nil
}

// preload brings a key of the operator into the vault, for the host and port of one URL.
func (h *Host) preload(ctx context.Context, name, base string, secret config.Secret) error {
	if secret.Reveal() == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("loading the credential %s: %w", name, err)
	}
	err = h.Vault.Preload(ctx, vault.New{
		Name: name, Type: vault.TypeAPIKey, HostPattern: net.JoinHostPort(u.Hostname(), registry.Port(u)), Plaintext: []byte(secret.Reveal()),
	})
	if err != nil {
		return fmt.Errorf("loading the credential %s: %w", name, err)
	}
	return nil
}

// setting is what every pack may read with config_get, if its manifest lists the name, and what permissions.net may name.
func (h *Host) setting(name string) (string, bool) {
	switch name {
	case "GANTRY_BASE_URL":
		return h.BaseURL(), true
	case "GANTRY_STOCK_BASE_URL":
		return h.Config.StockBaseURL, true
	case "GANTRY_FORGE_API_URL":
		return h.Config.ForgeAPIURL, true
	}
	return "", false
}
