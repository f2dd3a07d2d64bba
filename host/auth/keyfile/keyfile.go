// Package keyfile keeps a random signing key in a file that only its owner may read. The file appears whole or not at all,
// and a file that others could have read, or that was cut short, is refused instead of being trusted.
package keyfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Size is the length of a key in bytes.
const Size = 32

// othersMask are the permission bits that must not be set.
const othersMask fs.FileMode = 0o077

// Ensure returns the key at path and makes it first (0600, synced, folders 0700) when there is none. Two processes that
// make it at the same time end up with the same key.
func Ensure(path string) ([]byte, error) {
	key, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := create(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the key file %s: %w", path, err)
	}
	return Load(path)
}

// Load returns the key at path. An absent file is fs.ErrNotExist; one that is no regular file, that group or others may
// touch, or that doesn't hold exactly Size bytes is an error that says how to mend it.
func Load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the key file %s is not a regular file", path)
	case info.Mode().Perm()&othersMask != 0:
		return nil, fmt.Errorf("the key file %s may be read or changed by other users (mode %04o): "+
			"delete it if they might have, else run chmod 600 on it", path, info.Mode().Perm())
	case info.Size() != Size:
		return nil, fmt.Errorf("the key file %s holds %d bytes instead of %d: restore it, or delete it to have a new one made",
			path, info.Size(), Size)
	}
	key := make([]byte, Size)
	if _, err := io.ReadFull(f, key); err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	return key, nil
}

// create writes a new key beside path, syncs it and links it into place: the link fails when path exists, and a crash
// leaves either no key or a whole one.
func create(path string) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".key-*") // made with O_EXCL and 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, Size)
	_, _ = rand.Read(key) // never fails
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
