package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempDir is where bytes are written before they are whole.
const tempDir = "tmp"

// folder keeps bytes in files that are named by the hash of their key, <dir>/<first 2 digits>/<hash>, so that no key can
// name a path. Only the artifacts' own files and the URL key live in it.
type folder struct{ dir string }

// openFolder makes the folder and empties its temporary part: one process owns it, so what lies there was cut off by a crash.
func openFolder(dir string) (folder, error) {
	temp := filepath.Join(dir, tempDir)
	if err := os.RemoveAll(temp); err != nil {
		return folder{}, err
	}
	return folder{dir}, os.MkdirAll(temp, 0o700)
}

// hashOf is the file name of a key.
func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// isHash says whether a name is one that hashOf gives.
func isHash(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

func (f folder) path(hash string) string { return filepath.Join(f.dir, hash[:2], hash) }
func (f folder) temp(hash string) string { return filepath.Join(f.dir, tempDir, hash) }

// create opens a new temporary file.
func (f folder) create(hash string) (*os.File, error) {
	return os.OpenFile(f.temp(hash), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// commit moves a written and synced temporary file to its place, for good.
func (f folder) commit(hash string) error {
	dir := filepath.Dir(f.path(hash))
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		if err := syncDir(f.dir); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if err := os.Rename(f.temp(hash), f.path(hash)); err != nil {
		return err
	}
	return syncDir(dir)
}

// Put writes the body to a temporary file and moves that into place. A file system has no use for the content type.
func (f folder) Put(_ context.Context, name, _ string, body io.Reader) (err error) {
	file, err := f.create(name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreAbsent(os.Remove(f.temp(name))))
		}
	}()
	_, err = io.Copy(file, body)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := f.commit(name); err != nil {
		return errors.Join(err, ignoreAbsent(os.Remove(f.path(name))))
	}
	return nil
}

func (f folder) Open(_ context.Context, name string) (io.ReadSeekCloser, error) {
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, err // and no *os.File that is nil in an interface that isn't
	}
	return file, nil
}

func (f folder) Remove(_ context.Context, name string) error {
	return ignoreAbsent(os.Remove(f.path(name)))
}

// Sweep goes through the temporary files and then the folders of whole ones.
func (f folder) Sweep(ctx context.Context, before time.Time, dead func(name string) (bool, error)) error {
	errs := []error{f.sweep(tempDir, before, dead)}
	for i := range 256 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		errs = append(errs, f.sweep(fmt.Sprintf("%02x", i), before, dead))
	}
	return errors.Join(errs...)
}

func (f folder) sweep(sub string, before time.Time, dead func(name string) (bool, error)) error {
	entries, err := os.ReadDir(filepath.Join(f.dir, sub))
	if err != nil {
		return ignoreAbsent(err)
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !isHash(e.Name()) || !info.ModTime().Before(before) {
			continue // gone meanwhile, none of ours, or young
		}
		gone, err := dead(e.Name())
		if gone && err == nil {
			err = ignoreAbsent(os.Remove(filepath.Join(f.dir, sub, e.Name())))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
