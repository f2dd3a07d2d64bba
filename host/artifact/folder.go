package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

func (f folder) open(hash string) (*os.File, error) { return os.Open(f.path(hash)) }
func (f folder) remove(hash string) error           { return os.Remove(f.path(hash)) }
func (f folder) removeTemp(hash string) error       { return os.Remove(f.temp(hash)) }

// old calls fn with the names of the files in the sub-folder that were last written before t.
func (f folder) old(sub string, t time.Time, fn func(name string)) error {
	entries, err := os.ReadDir(filepath.Join(f.dir, sub))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || len(e.Name()) != 2*sha256.Size {
			continue // gone meanwhile, or none of ours
		}
		if info.ModTime().Before(t) {
			fn(e.Name())
		}
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
