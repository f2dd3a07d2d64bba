package imports

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// signVault signs with a credential; the secret stays here.
func signVault(v *vault.Vault) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		r, err := decode[wire.SignRequest](req)
		if err != nil {
			return nil, err
		}
		if r.Host == "" {
			return nil, wire.Invalid("host is empty: say for which host the signature is")
		}
		if r.Alg != wire.HMACSHA256 && r.Alg != wire.JWTHS256 {
			return nil, wire.Invalid("alg is %q: use %s or %s", cut(r.Alg), wire.HMACSHA256, wire.JWTHS256)
		}
		t := taker{ctx: ctx, vault: v, call: c, host: r.Host}
		secret, err := t.take(r.Credential, vault.TypeAPIKey)
		if err != nil {
			return nil, err
		}
		defer secret.Wipe()
		key, id := bytes.TrimRight(secret.Reveal(), "\r\n"), ""
		if r.IDSecret {
			if id, key, err = idSecret(r.Credential, string(key)); err != nil {
				return nil, err
			}
			c.Secrets.Add([]byte(hex.EncodeToString(key)))
		}
		if r.Alg == wire.HMACSHA256 {
			return wire.Signature{Hex: hex.EncodeToString(mac(key, r.Data))}, nil
		}
		return signJWT(key, id, r.Header, r.Claims)
	}
}

// idSecret takes <id>:<hex secret> apart.
func idSecret(name, plain string) (id string, key []byte, err error) {
	id, digits, _ := strings.Cut(plain, ":")
	key, err = hex.DecodeString(digits)
	if err != nil || id == "" || len(key) == 0 {
		return "", nil, wire.Invalid("the credential %s is not of the form <id>:<secret in hex>", cut(name))
	}
	return id, key, nil
}

func mac(key []byte, data string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(data))
	return m.Sum(nil)
}

func signJWT(key []byte, id string, header, claims json.RawMessage) (wire.Signature, error) {
	h, c := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if len(header) > 0 && json.Unmarshal(header, &h) != nil || json.Unmarshal(claims, &c) != nil || h == nil || c == nil {
		return wire.Signature{}, wire.Invalid("header and claims of a JWT are JSON objects")
	}
	h["alg"], h["typ"] = json.RawMessage(`"HS256"`), json.RawMessage(`"JWT"`)
	if id != "" {
		h["kid"], _ = json.Marshal(id) // a string
	}
	head, err := json.Marshal(h)
	if err != nil {
		return wire.Signature{}, err
	}
	var body bytes.Buffer
	if err := json.Compact(&body, claims); err != nil {
		return wire.Signature{}, err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body.Bytes())
	return wire.Signature{JWT: text + "." + base64.RawURLEncoding.EncodeToString(mac(key, text))}, nil
}

// lookVault tells what a pack may know of a credential that it may use.
func lookVault(v *vault.Vault) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		r, err := decode[wire.LookRequest](req)
		if err != nil {
			return nil, err
		}
		if !c.Pack.AllowsCredential(r.Name, c.Input) {
			return nil, errNotGranted(c)
		}
		found, err := v.Look(ctx, c.Caller, r.Name)
		if err != nil {
			return nil, err
		}
		return wire.Credential{Name: found.Name, Type: found.Type, HostPattern: found.HostPattern}, nil
	}
}
