package vault

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/gantry-packs/gantry/host/store"
)

// currentKeyset is the id of the one wrapped keyset.
const currentKeyset = "current"

// fingerprintSize is the length of a fingerprint in bytes; it is shown in hex.
const fingerprintSize = 6

// What a wrapped keyset is for is bound to it, so that one can't be put in the other's place.
var (
	sealsPurpose = []byte("gantry/vault/v1 keyset seals")
	marksPurpose = []byte("gantry/vault/v1 keyset marks")
)

// wrapped is the keyring as the store has it, encrypted with the KEK that Check tells.
type wrapped struct {
	Check string `json:"check"`
	Seals []byte `json:"seals"`
	Marks []byte `json:"marks"`
}

// keyring are the keys of the vault: those that seal values, the primary one for new ones, and the one that makes
// fingerprints, which never changes.
type keyring struct {
	seals, marks *keyset.Handle
	aead         tink.AEAD
	prf          *prf.Set
}

func newKeyring() (*keyring, error) {
	seals, err := keyset.NewHandle(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("making a keyset: %w", err)
	}
	marks, err := keyset.NewHandle(prf.HMACSHA256PRFKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("making a keyset: %w", err)
	}
	return keyringOf(seals, marks)
}

func keyringOf(seals, marks *keyset.Handle) (*keyring, error) {
	a, err := aead.New(seals)
	if err != nil {
		return nil, fmt.Errorf("using the keyset: %w", err)
	}
	p, err := prf.NewPRFSet(marks)
	if err != nil {
		return nil, fmt.Errorf("using the keyset: %w", err)
	}
	return &keyring{seals: seals, marks: marks, aead: a, prf: p}, nil
}

// wrap encrypts the keyring with a KEK.
func (k *keyring) wrap(key kekKey) (w wrapped, err error) {
	if w.Check, err = key.check(); err != nil {
		return w, err
	}
	cipher, err := key.wrapper()
	if err != nil {
		return w, err
	}
	var seals, marks bytes.Buffer
	err = errors.Join(k.seals.WriteWithAssociatedData(keyset.NewBinaryWriter(&seals), cipher, sealsPurpose),
		k.marks.WriteWithAssociatedData(keyset.NewBinaryWriter(&marks), cipher, marksPurpose))
	w.Seals, w.Marks = seals.Bytes(), marks.Bytes()
	return w, err
}

// unwrap decrypts the keyring with the KEK of the place k. A KEK that isn't the one it was wrapped with says so.
func (w wrapped) unwrap(k kek, key kekKey) (*keyring, error) {
	if err := w.fits(k, key); err != nil {
		return nil, err
	}
	cipher, err := key.wrapper()
	if err != nil {
		return nil, err
	}
	seals, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(w.Seals)), cipher, sealsPurpose)
	if err != nil {
		return nil, fmt.Errorf("the keyset in the store is damaged, restore the store from a backup: %w", err)
	}
	marks, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(w.Marks)), cipher, marksPurpose)
	if err != nil {
		return nil, fmt.Errorf("the keyset in the store is damaged, restore the store from a backup: %w", err)
	}
	return keyringOf(seals, marks)
}

// fits says whether the keyring was wrapped with this KEK.
func (w wrapped) fits(k kek, key kekKey) error {
	check, err := key.check()
	if err == nil && check != w.Check {
		err = fmt.Errorf("the key-encryption key %s is the wrong one (its check value is %s, the vault's is %s): "+
			"restore the file that this data folder was used with, or name its place", k.path, check, w.Check)
	}
	return err
}

// unlock loads the keyring, or makes it for a vault that has never been used.
func (v *Vault) unlock(ctx context.Context) (*keyring, error) {
	w, err := v.loadWrapped(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return v.found(ctx)
	}
	if err != nil {
		return nil, err
	}
	key, err := v.loadKEK()
	if err != nil {
		return nil, err
	}
	defer clear(key)
	return w.unwrap(v.kek, key)
}

// loadKEK reads the KEK of a vault that has a keyset: one that is missing must be found, a new one would open nothing.
func (v *Vault) loadKEK() (kekKey, error) {
	key, err := v.kek.load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the key-encryption key %s is missing and no new one is made, since the vault is sealed with the old one: "+
			"restore the file from a backup, or name the place where it is now", v.kek.path)
	}
	return key, err
}

func (v *Vault) loadWrapped(ctx context.Context) (w wrapped, err error) {
	err = v.store.View(ctx, func(r store.R) error {
		w, err = v.wrapped.Get(r, currentKeyset)
		return err
	})
	return w, err
}

// found makes the first KEK and keyset. The KEK's file comes first: a crash in between leaves a key that fits.
func (v *Vault) found(ctx context.Context) (*keyring, error) {
	err := v.store.View(ctx, func(r store.R) error {
		return v.credentials.Scan(r, "", store.ScanOptions{KeysOnly: true, Limit: 1}, func(string, record) (bool, error) {
			return false, errors.New("the store has credentials but no keyset to open them: restore it from a backup")
		})
	})
	if err != nil {
		return nil, err
	}
	key, err := v.kek.ensure()
	if err != nil {
		return nil, err
	}
	defer clear(key)
	ring, err := newKeyring()
	if err != nil {
		return nil, err
	}
	return ring, v.save(ctx, ring, key)
}

// save writes a keyring to the store, wrapped.
func (v *Vault) save(ctx context.Context, ring *keyring, key kekKey) error {
	w, err := ring.wrap(key)
	if err != nil {
		return fmt.Errorf("wrapping the keyset: %w", err)
	}
	return v.store.Update(ctx, func(rw store.RW) error { return v.wrapped.Put(rw, currentKeyset, w, 0) }, store.Synced)
}

// seal puts a value into a record, under its next version.
func (k *keyring) seal(rec *record, plain []byte) (err error) {
	if k == nil {
		return errClosed
	}
	rec.Version++
	if rec.Fingerprint, err = k.fingerprint(rec.ID, plain); err != nil {
		return err
	}
	if rec.Sealed, err = k.aead.Encrypt(plain, rec.binding()); err != nil {
		return fmt.Errorf("sealing: %w", err)
	}
	return nil
}

// open gives a record's value.
func (k *keyring) open(rec record) ([]byte, error) {
	if k == nil {
		return nil, errClosed
	}
	plain, err := k.aead.Decrypt(rec.Sealed, rec.binding())
	if err != nil {
		return nil, fmt.Errorf("its record doesn't open: it was damaged or changed in the store, delete it and create it again: %w", err)
	}
	return plain, nil
}

func (k *keyring) fingerprint(id string, plain []byte) (string, error) {
	if k == nil {
		return "", errClosed
	}
	text := append([]byte(id+"|"), plain...)
	defer clear(text)
	sum, err := k.prf.ComputePrimaryPRF(text, fingerprintSize)
	if err != nil {
		return "", fmt.Errorf("making a fingerprint: %w", err)
	}
	return hex.EncodeToString(sum), nil
}

// The sealing begins with one byte and the id of its key.
const sealPrefix = 5

// current says whether a record is sealed with the primary key.
func (k *keyring) current(rec record) bool {
	primary, err := k.seals.Primary()
	return err == nil && len(rec.Sealed) >= sealPrefix && binary.BigEndian.Uint32(rec.Sealed[1:]) == primary.KeyID()
}

// grown is the keyring with a new primary key.
func (k *keyring) grown() (*keyring, error) {
	m := keyset.NewManagerFromHandle(k.seals)
	id, err := m.Add(aead.XChaCha20Poly1305KeyTemplate())
	if err == nil {
		err = m.SetPrimary(id)
	}
	return k.with(m, err)
}

// pruned is the keyring with its primary key alone.
func (k *keyring) pruned() (*keyring, error) {
	m := keyset.NewManagerFromHandle(k.seals)
	var err error
	for i := range k.seals.Len() {
		entry, entryErr := k.seals.Entry(i)
		if entryErr == nil && !entry.IsPrimary() {
			entryErr = m.Delete(entry.KeyID())
		}
		err = errors.Join(err, entryErr)
	}
	return k.with(m, err)
}

func (k *keyring) with(m *keyset.Manager, err error) (*keyring, error) {
	if err != nil {
		return nil, fmt.Errorf("changing the keyset: %w", err)
	}
	seals, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("changing the keyset: %w", err)
	}
	return keyringOf(seals, k.marks)
}
