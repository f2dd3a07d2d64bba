package api

import (
	"encoding/base64"
	"net/http"

	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxVaultBody has room for the largest value, all of it escaped.
const maxVaultBody = 1 << 20

// credentialSecret is a credential's value in a request; no answer has one.
type credentialSecret struct {
	Plaintext    *config.Secret `json:"plaintext"`
	PlaintextB64 *config.Secret `json:"plaintext_b64"`
}

// bytes is the value. No error repeats any of it.
func (s credentialSecret) bytes() ([]byte, error) {
	switch {
	case (s.Plaintext == nil) == (s.PlaintextB64 == nil):
		return nil, wire.Invalid("send the secret either as plaintext or, base64-encoded, as plaintext_b64")
	case s.Plaintext != nil:
		return []byte(s.Plaintext.Reveal()), nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s.PlaintextB64.Reveal())
	if err != nil {
		return nil, wire.Invalid("plaintext_b64 is not base64: use the standard alphabet with padding")
	}
	return b, nil
}

type newCredential struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	HostPattern string `json:"host_pattern"`
	credentialSecret
	ACL []vault.Rule `json:"acl"` // nil: the caller alone
}

func createCredential(v *vault.Vault, b *bodies) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in newCredential
		if err := b.readObject(r, &in, maxVaultBody); err != nil {
			fail(w, r, err)
			return
		}
		secret, err := in.bytes()
		if err != nil {
			fail(w, r, err)
			return
		}
		made, err := v.Create(r.Context(), exchangeOf(r).caller, vault.New{
			Name: in.Name, Type: in.Type, HostPattern: in.HostPattern, Plaintext: secret, ACL: in.ACL,
		})
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusCreated, made)
	}
}

func listCredentials(v *vault.Vault) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		all, err := v.List(r.Context())
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, map[string][]vault.Credential{"credentials": list(all)})
	}
}

func showCredential(v *vault.Vault) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := v.Get(r.Context(), r.PathValue("credential"))
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, c)
	}
}

func rotateCredential(v *vault.Vault, b *bodies) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in credentialSecret
		if err := b.readObject(r, &in, maxVaultBody); err != nil {
			fail(w, r, err)
			return
		}
		secret, err := in.bytes()
		if err != nil {
			fail(w, r, err)
			return
		}
		c, err := v.Rotate(r.Context(), r.PathValue("credential"), secret)
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, c)
	}
}

func deleteCredential(v *vault.Vault) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := v.Delete(r.Context(), r.PathValue("credential")); err != nil {
			fail(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func setCredentialACL(v *vault.Vault, b *bodies) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ACL []vault.Rule `json:"acl"`
		}
		if err := b.readObject(r, &in, maxJSONBody); err != nil {
			fail(w, r, err)
			return
		}
		if in.ACL == nil {
			fail(w, r, wire.Invalid(`acl is missing: send {"acl": [{"subject": "…", "client": "*"}]}, or [] to let nobody use the credential`))
			return
		}
		c, err := v.SetACL(r.Context(), r.PathValue("credential"), in.ACL)
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, c)
	}
}

type usagePage struct {
	Usage      []vault.Use `json:"usage"`
	NextCursor string      `json:"next_cursor,omitempty"`
}

func credentialUsage(v *vault.Vault) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		limit, err := pageSize(q)
		if err != nil {
			fail(w, r, err)
			return
		}
		uses, next, err := v.Usage(r.Context(), r.PathValue("credential"), limit, q.Get("cursor"))
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, usagePage{list(uses), next})
	}
}
