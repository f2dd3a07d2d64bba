package vault

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/gantry-packs/gantry/host/auth/keyfile"
)

const (
	kekFile   = "vault.key"  // in the data folder, unless the URL says otherwise
	kekSize   = keyfile.Size // bytes
	checkSize = 8            // bytes of a check value
	foreign   = fs.FileMode(0o077)
	writable  = fs.FileMode(0o022)
)

// kek is the place of a key-encryption key: a file.
type kek struct {
	path string
}

// parseKEK reads the URL of a KEK. It never repeats the text: somebody may have put the key itself there.
func parseKEK(raw, dir string) (kek, error) {
	if raw == "" {
		path, err := filepath.Abs(filepath.Join(dir, kekFile))
		return kek{path}, err
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "file":
		return kek{}, errors.New("the vault's key-encryption key must be given as file:///absolute/path; no other kind of URL is supported")
	case u.Host != "" && u.Host != "localhost", u.User != nil, u.Opaque != "", u.RawQuery != "" || u.ForceQuery, u.Fragment != "",
		!filepath.IsAbs(u.Path), filepath.Base(u.Path) == "/":
		return kek{}, errors.New("the vault's key-encryption key must be given as file:///absolute/path, without a host, query or fragment")
	}
	return kek{filepath.Clean(u.Path)}, nil
}

func (k kek) String() string { return (&url.URL{Scheme: "file", Path: k.path}).String() }

// load reads the key; its absence is fs.ErrNotExist. The advice differs from package keyfile's, which lets a bad file be
// deleted: here that would lose every credential.
func (k kek) load() (kekKey, error) {
	f, err := os.Open(k.path)
	if err != nil {
		return nil, fmt.Errorf("reading the key-encryption key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the key-encryption key %s: %w", k.path, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the key-encryption key %s is not a regular file", k.path)
	case info.Mode().Perm()&foreign != 0:
		return nil, fmt.Errorf("the key-encryption key %s may be read or changed by other users (mode %04o): run chmod 600 on it, "+
			"and if they might have read it, vault rekey and new values for the credentials", k.path, info.Mode().Perm())
	case info.Size() != kekSize:
		return nil, fmt.Errorf("the key-encryption key %s holds %d bytes instead of %d: restore it from a backup", k.path, info.Size(), kekSize)
	}
	key := make(kekKey, kekSize)
	if _, err := io.ReadFull(f, key); err != nil {
		return nil, fmt.Errorf("reading the key-encryption key %s: %w", k.path, err)
	}
	return key, nil
}

// ensure makes the key if it is absent. It serves a vault that nothing was sealed in yet, or a new place of the key.
func (k kek) ensure() (kekKey, error) {
	key, err := k.load()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if _, err := keyfile.Ensure(k.path); err != nil {
		return nil, err
	}
	return k.load()
}

// kekKey is a key-encryption key itself. It is read when needed and cleared after.
type kekKey []byte

// check is a value that tells one key from another and nothing else about it.
func (k kekKey) check() (string, error) {
	sum, err := hkdf.Key(sha256.New, k, nil, "gantry/vault/v1 check", checkSize)
	return hex.EncodeToString(sum), err
}

// wrapper is the cipher that wraps keysets.
func (k kekKey) wrapper() (tink.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k, nil, "gantry/vault/v1 wrap", kekSize)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	return subtle.NewXChaCha20Poly1305(key)
}
