package vault

import (
	"context"
	"errors"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Preload brings a credential from the operator's variables into the vault: makes it (a nil ACL lets everybody use it), or
// gives the one of that name this value and host pattern, leaving an ACL that was set since. Nothing is written when
// nothing changed.
func (v *Vault) Preload(ctx context.Context, n New) error {
	if n.ACL == nil {
		n.ACL = []Rule{{Subject: wildcard, Client: wildcard}}
	}
	have, err := v.Get(ctx, n.Name)
	var e *wire.Error
	if errors.As(err, &e) && e.Code == wire.CredentialNotFound {
		_, err = v.Create(ctx, auth.Caller{}, n)
		return err
	}
	if err != nil {
		return err
	}
	host, err := parsePattern(n.HostPattern)
	if err != nil {
		return err
	}
	n.Type = canonicalType(n.Type)
	if err := checkPlaintext(n.Type, n.Plaintext); err != nil {
		return err
	}
	if same, err := v.holds(have, n.Plaintext); err != nil || same && have.HostPattern == host.String() && have.Type == n.Type {
		return err
	}
	_, err = v.edit(ctx, n.Name, func(rec *record, _ []byte) ([]byte, error) {
		rec.HostPattern, rec.Type = host.String(), n.Type
		return n.Plaintext, nil
	})
	return err
}

// holds says whether a credential has this value.
func (v *Vault) holds(c Credential, plain []byte) (bool, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	print, err := v.keys.fingerprint(c.ID, plain)
	return err == nil && print == c.Fingerprint, err
}
