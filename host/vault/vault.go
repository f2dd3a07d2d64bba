// Package vault keeps named credentials. A value is sealed before it reaches the store, and leaves only as a [Secret] that
// the host puts into a request, a signature, or a session's file, environment or stdin; no pack is ever handed one. Each
// asking is judged by the credential's ACL, its type and its host pattern, and leaves a row in the use log.
//
// The layers: a key-encryption key (KEK) outside of the store wraps a Tink keyset inside of it; the keyset seals each value
// together with the record around it, so that a value moved to another name, or a record whose ACL or host pattern was
// edited in the store, doesn't open. Who has both the store and the KEK has everything: keep them apart in backups. What is
// rotated or deleted may linger on the disk, sealed, until the store collects its garbage.
package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Config is what a vault needs. KEK is the URL of the key-encryption key; empty is file://<Dir>/vault.key.
type Config struct {
	Store store.Store
	Dir   string
	KEK   string
	Now   func() time.Time
	Log   *slog.Logger
}

// Vault is safe for concurrent use.
type Vault struct {
	store       store.Store
	now         func() time.Time
	log         *slog.Logger
	newID       func() string
	credentials store.Bucket[record]    // by name
	used        store.Bucket[time.Time] // by credential id: when it was last given out
	wrapped     store.Bucket[wrapped]
	uses        useLog

	change sync.Mutex // held by whoever changes a credential, the keyset or the KEK
	kek    kek        // guarded by change

	mu   sync.RWMutex // held for reading from before a record is read until it is opened, so that its key is still there
	keys *keyring     // nil once closed
}

var errClosed = errors.New("vault: closed")

// Open unlocks the vault in the store. The first time it makes the keyset and, if the KEK's file is absent, that file. A
// store that already has a keyset never gets a new KEK: a missing, exposed or wrong one is an error that tells what to do.
func Open(ctx context.Context, c Config) (*Vault, error) {
	k, err := parseKEK(c.KEK, c.Dir)
	if err != nil {
		return nil, err
	}
	v := &Vault{
		store: c.Store, now: c.Now, log: c.Log, newID: uuid.NewString, kek: k,
		credentials: store.NewBucket[record]("vault/credential"),
		used:        store.NewBucket[time.Time]("vault/used"),
		wrapped:     store.NewBucket[wrapped]("vault/keyset"),
		uses:        useLog{store: c.Store, now: c.Now},
	}
	if v.keys, err = v.unlock(ctx); err != nil {
		return nil, fmt.Errorf("opening the vault: %w", err)
	}
	return v, nil
}

// KEK says where the key-encryption key is, for the line that is logged at start.
func (v *Vault) KEK() string {
	v.change.Lock()
	defer v.change.Unlock()
	return v.kek.String()
}

// Close forgets the keys; what is called later fails.
func (v *Vault) Close() {
	v.change.Lock()
	defer v.change.Unlock()
	v.setKeys(nil)
}

func (v *Vault) setKeys(k *keyring) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys = k
}

// Ask asks for a credential's value.
type Ask struct {
	Caller auth.Caller
	Pack   string   // for the use log
	Name   string   // of the credential
	Host   string   // where the value goes: host, or better host:port, a default port too; empty fits the pattern * alone
	Types  []string // types that will do; none: any
}

// The reasons in the details of a refusal. A caller that the ACL doesn't name is told the same as one who asks for a
// credential that doesn't exist, so that names can't be probed.
const (
	reasonNotFound = "not_found"
	reasonType     = "type"
	reasonHost     = "host"
)

// Take gives out a credential's value and logs the use as allowed, or refuses with invalid_input (details {credential,
// reason: not_found, type or host}) and logs it as denied (by the ACL) or no_match. No row, no value. The caller calls
// Wipe on the secret when it is done, and adds it to the call's [Masker] before that.
func (v *Vault) Take(ctx context.Context, a Ask) (Secret, error) {
	if !nameForm.MatchString(a.Name) {
		return Secret{}, badName()
	}
	secret, id, result, refusal, err := v.judge(ctx, a)
	if err != nil {
		return Secret{}, fmt.Errorf("taking the credential %s: %w", a.Name, err)
	}
	if err := v.logUse(ctx, a, id, result); err != nil {
		secret.Wipe()
		return Secret{}, fmt.Errorf("taking the credential %s: %w", a.Name, err)
	}
	if refusal != nil {
		return Secret{}, refusal
	}
	return secret, nil
}

// judge decides about an asking, the ACL first: who isn't named there learns nothing about type and host.
func (v *Vault) judge(ctx context.Context, a Ask) (s Secret, id string, result Result, refusal, err error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	rec, err := v.record(ctx, a.Name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return s, "", NoMatch, refuse(a.Name, reasonNotFound), nil
	case err != nil:
		return s, "", "", nil, err
	case !permits(rec.ACL, a.Caller):
		return s, "", Denied, refuse(a.Name, reasonNotFound), nil
	case !fitsType(rec.Type, a.Types):
		return s, "", NoMatch, refuse(a.Name, reasonType), nil
	case !fitsHost(rec.HostPattern, a.Host):
		return s, "", NoMatch, refuse(a.Name, reasonHost), nil
	}
	plain, err := v.keys.open(rec)
	if err != nil {
		return s, "", "", nil, err
	}
	return newSecret(rec.Type, plain), rec.ID, Allowed, nil, nil
}

func refuse(name, reason string) error {
	text := map[string]string{
		reasonNotFound: "the vault has no credential %q for you: check the name, or ask for an ACL rule that names you",
		reasonType:     "the credential %q is of a type that can't be used here: name one of another type",
		reasonHost:     "the credential %q is not for this host: its host_pattern must fit where the request goes",
	}[reason]
	return wire.Invalid(text, name).WithDetails(map[string]string{"credential": name, "reason": reason})
}

// Look tells a caller whom the ACL names about a credential, without its value and without a row in the use log.
// Anybody else gets invalid_input, as from Take.
func (v *Vault) Look(ctx context.Context, c auth.Caller, name string) (Credential, error) {
	if !nameForm.MatchString(name) {
		return Credential{}, badName()
	}
	cred, err := v.Get(ctx, name)
	var e *wire.Error
	switch {
	case errors.As(err, &e) && e.Code == wire.CredentialNotFound:
		return Credential{}, refuse(name, reasonNotFound)
	case err != nil:
		return Credential{}, err
	case !permits(cred.ACL, c):
		return Credential{}, refuse(name, reasonNotFound)
	}
	return cred, nil
}

// record reads one record; ErrNotFound if there is none.
func (v *Vault) record(ctx context.Context, name string) (rec record, err error) {
	err = v.store.View(ctx, func(r store.R) error {
		rec, err = v.credentials.Get(r, name)
		return err
	})
	if err == nil && v.keys == nil {
		err = errClosed
	}
	return rec, err
}
