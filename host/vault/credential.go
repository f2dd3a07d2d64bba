package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of credentials. MinPlaintext is also the shortest text that a [Masker] can mask, so no value may be shorter.
const (
	MinPlaintext   = 4        // bytes
	MaxPlaintext   = 64 << 10 // bytes
	MaxCredentials = 4096
	MaxRules       = 64  // rules of one ACL
	maxRuleField   = 128 // bytes of a subject or client
	maxPattern     = 260 // bytes of a host pattern
)

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Credential is what may be known of a credential: everything but its value. Fingerprint changes with the value; it is
// keyed with a key of the vault and with the id, so that guesses can't be tried against it, nor values compared by it.
type Credential struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Type        string     `json:"type"`
	HostPattern string     `json:"host_pattern"`
	Fingerprint string     `json:"fingerprint"`
	ACL         []Rule     `json:"acl"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty"`
}

// New is a credential to be made. Type is api_key, login or ssh-git (ssh is the same). HostPattern says where the value may
// go: host, *.suffix, either with :port, or * for anywhere; without a port every port fits. It can't be left out. A nil ACL
// is the creator's subject with any client; one without rules lets nobody use the credential.
type New struct {
	Name, Type, HostPattern string
	Plaintext               []byte // 4 bytes to 64 KiB; for login {"username", "password"}; a copy is kept, sealed
	ACL                     []Rule
}

// record is a credential as the store has it. Version counts the sealings of one credential; Sealed is bound to it.
type record struct {
	Credential
	Version int    `json:"version"`
	Sealed  []byte `json:"sealed"`
}

// binding is the associated data of the sealing: what must not be changed without opening the record. The name's length
// keeps the parts apart.
func (r record) binding() []byte {
	meta, _ := json.Marshal(struct { // strings alone: can't fail
		ID, Type, HostPattern string
		ACL                   []Rule
	}{r.ID, r.Type, r.HostPattern, r.ACL})
	return fmt.Appendf(nil, "gantry/vault/v1|%d:%s|%d|%s", len(r.Name), r.Name, r.Version, meta)
}

// Create makes a credential; it is on the disk when Create returns. A name that is taken is conflict, everything else
// that is wrong with n invalid_input.
func (v *Vault) Create(ctx context.Context, by auth.Caller, n New) (Credential, error) {
	if n.ACL == nil {
		n.ACL = []Rule{{Subject: by.Subject, Client: wildcard}}
		if by.Subject == wildcard {
			return Credential{}, wire.Invalid("acl is missing, and your subject is %s: say whom the credential is for", wildcard)
		}
	}
	v.change.Lock()
	defer v.change.Unlock()
	rec, err := v.newRecord(n)
	if err != nil {
		return Credential{}, err
	}
	err = v.store.Update(ctx, func(rw store.RW) error {
		if _, err := v.credentials.Get(rw, rec.Name); err == nil {
			return wire.Errorf(wire.Conflict, "there is a credential %q: rotate it, or choose another name", rec.Name)
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := v.room(rw); err != nil {
			return err
		}
		return v.credentials.Put(rw, rec.Name, rec, 0)
	}, store.Synced)
	if err != nil {
		return Credential{}, fmt.Errorf("creating a credential: %w", err)
	}
	return rec.Credential, nil
}

// newRecord checks n and seals it; change is held.
func (v *Vault) newRecord(n New) (record, error) {
	n.Type = canonicalType(n.Type)
	if !nameForm.MatchString(n.Name) {
		return record{}, badName()
	}
	if err := checkPlaintext(n.Type, n.Plaintext); err != nil {
		return record{}, err
	}
	host, err := parsePattern(n.HostPattern)
	if err != nil {
		return record{}, err
	}
	acl, err := checkACL(n.ACL)
	if err != nil {
		return record{}, err
	}
	if v.keys == nil {
		return record{}, errClosed
	}
	now := v.now().UTC()
	rec := record{Credential: Credential{ID: v.newID(), Name: n.Name, Type: n.Type, HostPattern: host.String(), ACL: acl,
		CreatedAt: now, UpdatedAt: now}}
	return rec, v.keys.seal(&rec, n.Plaintext)
}

// room refuses a credential too many.
func (v *Vault) room(r store.R) error {
	n := 0
	err := v.credentials.Scan(r, "", store.ScanOptions{KeysOnly: true}, func(string, record) (bool, error) {
		n++
		return true, nil
	})
	if err == nil && n >= MaxCredentials {
		err = wire.Invalid("the vault holds %d credentials, which is all it takes: delete some first", n)
	}
	return err
}

// List gives every credential, by name.
func (v *Vault) List(ctx context.Context) ([]Credential, error) {
	out := []Credential{}
	err := v.store.View(ctx, func(r store.R) error {
		return v.credentials.Scan(r, "", store.ScanOptions{}, func(_ string, rec record) (bool, error) {
			c, err := v.public(r, rec)
			out = append(out, c)
			return true, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing credentials: %w", err)
	}
	return out, nil
}

// Get gives one credential, or credential_not_found.
func (v *Vault) Get(ctx context.Context, name string) (c Credential, err error) {
	err = v.store.View(ctx, func(r store.R) error {
		rec, err := v.credentials.Get(r, name)
		if err != nil {
			return err
		}
		c, err = v.public(r, rec)
		return err
	})
	return c, reading(err, name)
}

// public adds the last use to a record's open part.
func (v *Vault) public(r store.R, rec record) (Credential, error) {
	c := rec.Credential
	at, err := v.used.Get(r, rec.ID)
	if errors.Is(err, store.ErrNotFound) {
		return c, nil
	}
	c.LastUsedAt = &at
	return c, err
}

// Rotate gives a credential a new value; the old one opens no more when Rotate returns.
func (v *Vault) Rotate(ctx context.Context, name string, plaintext []byte) (Credential, error) {
	return v.edit(ctx, name, func(rec *record, _ []byte) ([]byte, error) {
		return plaintext, checkPlaintext(rec.Type, plaintext)
	})
}

// SetACL says who may use a credential from now on; no rules: nobody.
func (v *Vault) SetACL(ctx context.Context, name string, rules []Rule) (Credential, error) {
	rules, err := checkACL(rules)
	if err != nil {
		return Credential{}, err
	}
	return v.edit(ctx, name, func(rec *record, plain []byte) ([]byte, error) {
		rec.ACL = rules
		return plain, nil
	})
}

// edit opens a record, lets fn change it and say its value, and seals it anew: the sealing binds all of the record.
func (v *Vault) edit(ctx context.Context, name string, fn func(rec *record, plain []byte) ([]byte, error)) (Credential, error) {
	v.change.Lock()
	defer v.change.Unlock()
	var c Credential
	err := v.store.Update(ctx, func(rw store.RW) error {
		rec, err := v.credentials.Get(rw, name)
		if err != nil {
			return err
		}
		old, err := v.keys.open(rec)
		if err != nil {
			return err
		}
		defer clear(old)
		plain, err := fn(&rec, old)
		if err != nil {
			return err
		}
		rec.UpdatedAt = v.now().UTC()
		if err := v.keys.seal(&rec, plain); err != nil {
			return err
		}
		if c, err = v.public(rw, rec); err != nil {
			return err
		}
		return v.credentials.Put(rw, name, rec, 0)
	}, store.Synced)
	return c, reading(err, name)
}

// Delete destroys a credential. Its use log stays until it expires.
func (v *Vault) Delete(ctx context.Context, name string) error {
	v.change.Lock()
	defer v.change.Unlock()
	err := v.store.Update(ctx, func(rw store.RW) error {
		rec, err := v.credentials.Get(rw, name)
		if err != nil {
			return err
		}
		return errors.Join(v.used.Delete(rw, rec.ID), v.credentials.Delete(rw, name))
	}, store.Synced)
	return reading(err, name)
}

// reading words the error of a credential that isn't there.
func reading(err error, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return wire.Errorf(wire.CredentialNotFound, "no credential with this name; list the credentials to see the names")
	}
	if err != nil {
		return fmt.Errorf("the credential %s: %w", name, err)
	}
	return nil
}

// badName doesn't repeat the name: a value given in its place by mistake must not be shown.
func badName() error {
	return wire.Invalid("the credential's name must be 1 to 64 of a-z, 0-9, dot, hyphen and underscore, a letter or digit first; " +
		"give the name of a credential in the vault, never a secret itself")
}
