package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// rotateBatch bounds the sealed bytes of one transaction, far below what the store takes.
const rotateBatch = 256 << 10

// RotateKeys gives the keyset a new key, seals every credential with it and drops the old ones; it says how many
// credentials those were. A crash leaves credentials that open, and another RotateKeys finishes the work.
func (v *Vault) RotateKeys(ctx context.Context) (int, error) {
	v.change.Lock()
	defer v.change.Unlock()
	if v.keys == nil {
		return 0, errClosed
	}
	grown, err := v.keys.grown()
	if err != nil {
		return 0, err
	}
	if err := v.replaceKeys(ctx, grown); err != nil {
		return 0, err
	}
	count := 0
	for more := true; more; {
		var n int
		if n, more, err = v.reseal(ctx); err != nil {
			return count, fmt.Errorf("sealing the credentials anew: %w", err)
		}
		count += n
	}
	pruned, err := v.keys.pruned()
	if err != nil {
		return count, err
	}
	return count, v.replaceKeys(ctx, pruned)
}

// replaceKeys brings a keyring to the disk, then into use: nothing is sealed with a key that a crash could lose.
func (v *Vault) replaceKeys(ctx context.Context, ring *keyring) error {
	key, err := v.verifiedKEK(ctx)
	if err != nil {
		return err
	}
	defer clear(key)
	if err := v.save(ctx, ring, key); err != nil {
		return fmt.Errorf("keeping the keyset: %w", err)
	}
	v.setKeys(ring)
	return nil
}

// verifiedKEK reads the KEK anew and makes sure that it is still the one that the keyset is wrapped with.
func (v *Vault) verifiedKEK(ctx context.Context) (kekKey, error) {
	w, err := v.loadWrapped(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the keyset: %w", err)
	}
	key, err := v.loadKEK()
	if err != nil {
		return nil, err
	}
	if err := w.fits(v.kek, key); err != nil {
		clear(key)
		return nil, err
	}
	return key, nil
}

// reseal seals a batch of the credentials that aren't under the primary key; more says that there may be others.
func (v *Vault) reseal(ctx context.Context) (n int, more bool, err error) {
	err = v.store.Update(ctx, func(rw store.RW) error {
		batch, size := []record{}, 0
		more = false
		err := v.credentials.Scan(rw, "", store.ScanOptions{}, func(_ string, rec record) (bool, error) {
			if v.keys.current(rec) {
				return true, nil
			}
			batch, size = append(batch, rec), size+len(rec.Sealed)
			more = size >= rotateBatch
			return !more, nil
		})
		if err != nil {
			return err
		}
		for _, rec := range batch {
			if err := v.resealOne(rw, rec); err != nil {
				return fmt.Errorf("%s: %w", rec.Name, err)
			}
		}
		n = len(batch)
		return nil
	}, store.Synced)
	return n, more, err
}

func (v *Vault) resealOne(rw store.RW, rec record) error {
	plain, err := v.keys.open(rec)
	if err != nil {
		return err
	}
	defer clear(plain)
	if err := v.keys.seal(&rec, plain); err != nil {
		return err
	}
	return v.credentials.Put(rw, rec.Name, rec, 0)
}

// Rekey wraps the keyset with the KEK at another URL; its file is made if it is absent. The old file opens the vault no
// more, but still opens old copies of the store: if it was exposed, give the credentials new values too. The service has to
// be started with the new URL from then on.
func (v *Vault) Rekey(ctx context.Context, url string) error {
	if url == "" {
		return wire.Invalid("say where the new key-encryption key is or shall be: file:///absolute/path")
	}
	to, err := parseKEK(url, "")
	if err != nil {
		return wire.Invalid("%v", err)
	}
	v.change.Lock()
	defer v.change.Unlock()
	if v.keys == nil {
		return errClosed
	}
	w, err := v.loadWrapped(ctx)
	if err != nil {
		return fmt.Errorf("reading the keyset: %w", err)
	}
	key, err := to.ensure()
	if err != nil {
		return err
	}
	defer clear(key)
	if w.fits(to, key) == nil {
		return wire.Invalid("%s holds the key that the vault is wrapped with already: name another file, a new one is made", to)
	}
	if err := v.save(ctx, v.keys, key); err != nil {
		return fmt.Errorf("keeping the keyset: %w", err)
	}
	v.kek = to
	v.log.Info("the vault has a new key-encryption key", "kek", to.String())
	return nil
}

// exported is a line of an export: the body that makes the credential in another vault.
type exported struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	HostPattern string `json:"host_pattern"`
	Plaintext   []byte `json:"plaintext_b64"`
	ACL         []Rule `json:"acl"`
}

// Export writes every credential as a line of JSON {name, type, host_pattern, plaintext_b64, acl}, encrypted by age to a
// recipient (age1...), and says how many. One that doesn't open fails the export: a backup that lacks it isn't one.
func (v *Vault) Export(ctx context.Context, recipient string, w io.Writer) (int, error) {
	to, err := age.ParseRecipients(strings.NewReader(recipient))
	if err != nil { // whose text is hidden: somebody may have given the secret key instead
		return 0, wire.Invalid("the recipient must be an age public key, age1...")
	}
	out, err := age.Encrypt(w, to...)
	if err != nil {
		return 0, fmt.Errorf("encrypting the export: %w", err)
	}
	records, err := v.records(ctx)
	if err != nil {
		return 0, err
	}
	lines := json.NewEncoder(out)
	for _, rec := range records {
		if err := v.exportOne(lines, rec); err != nil {
			return 0, fmt.Errorf("exporting %s: %w", rec.Name, err)
		}
	}
	if err := out.Close(); err != nil {
		return 0, fmt.Errorf("writing the export: %w", err)
	}
	v.log.Info("the vault was exported", "credentials", len(records))
	return len(records), nil
}

func (v *Vault) exportOne(lines *json.Encoder, rec record) error {
	plain, err := v.reopen(rec)
	if err != nil {
		return err
	}
	defer clear(plain)
	return lines.Encode(exported{rec.Name, rec.Type, rec.HostPattern, plain, rec.ACL})
}

// records reads all records.
func (v *Vault) records(ctx context.Context) (list []record, err error) {
	err = v.store.View(ctx, func(r store.R) error {
		return v.credentials.Scan(r, "", store.ScanOptions{}, func(_ string, rec record) (bool, error) {
			list = append(list, rec)
			return true, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the credentials: %w", err)
	}
	return list, nil
}

// reopen opens a record under the lock that keeps its key.
func (v *Vault) reopen(rec record) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys.open(rec)
}

// Finding is one check of Doctor: what was looked at, and what is wrong with it (empty: nothing).
type Finding struct {
	Subject string // "key-encryption key", "keyset" or a credential's name
	Problem string
}

// Doctor checks that the KEK is there, private and the right one, that its folder is safe, that the keyset has no old keys
// left and that every credential opens. The error is for a store that can't be read at all.
func (v *Vault) Doctor(ctx context.Context) ([]Finding, error) {
	v.change.Lock()
	defer v.change.Unlock()
	if v.keys == nil {
		return nil, errClosed
	}
	out := []Finding{{"key-encryption key", v.checkKEK(ctx)}, {"keyset", ""}}
	if v.keys.seals.Len() > 1 {
		out[1].Problem = "it has old keys: a rotation was cut short, run it again"
	}
	records, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	for _, rec := range records {
		f := Finding{Subject: rec.Name}
		plain, err := v.reopen(rec)
		if err != nil {
			f.Problem = err.Error()
		}
		clear(plain)
		out = append(out, f)
	}
	return out, nil
}

func (v *Vault) checkKEK(ctx context.Context) string {
	key, err := v.verifiedKEK(ctx)
	clear(key)
	dir := filepath.Dir(v.kek.path)
	info, statErr := os.Stat(dir)
	if statErr == nil && info.Mode().Perm()&writable != 0 && info.Mode()&os.ModeSticky == 0 {
		statErr = fmt.Errorf("the folder %s may be changed by other users (mode %04o): run chmod 700 on it", dir, info.Mode().Perm())
	}
	if err = errors.Join(err, statErr); err != nil {
		return err.Error()
	}
	return ""
}
