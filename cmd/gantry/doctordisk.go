package main

import (
	"context"
	"errors"
	goversion "go/version"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// dataDir looks whether the data dir can be used, and by nobody else. One that is not there is made by the first start.
func (e examination) dataDir(context.Context) finding {
	dir := e.cfg.DataDir
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := unix.Access(existing(dir), unix.W_OK); err != nil {
			return bad("%s can't be made: %v; set GANTRY_DATA_DIR", dir, err)
		}
		return ok("%s will be made by the first start", dir)
	}
	if err != nil {
		return bad("%v; set GANTRY_DATA_DIR", err)
	}
	if !info.IsDir() {
		return bad("%s is not a folder: set GANTRY_DATA_DIR", dir)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return bad("%s can't be written to by this user: %v", dir, err)
	}
	if key, err := os.Stat(filepath.Join(dir, "jwt.key")); err == nil && key.Mode().Perm()&0o077 != 0 {
		return bad("others can read jwt.key in %s and make tokens with it: stop Gantry and delete the file; the next start makes a new key and old tokens end", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return warn("others can look into %s: chmod 700 it", dir)
	}
	return ok("%s is writable and closed to others", dir)
}

// disk looks at the space that is left where the data dir is or will be.
func (e examination) disk(context.Context) finding {
	var s unix.Statfs_t
	at := existing(e.cfg.DataDir)
	if err := unix.Statfs(at, &s); err != nil {
		return warn("the space at %s is unknown: %v", at, err)
	}
	free := int64(s.Bavail) * int64(s.Bsize)
	switch {
	case free < needDisk:
		return bad("%d MB free at %s: make room, or move GANTRY_DATA_DIR", free/1e6, at)
	case free < wantDisk:
		return warn("%d MB free at %s: artifacts and the audit need room", free/1e6, at)
	}
	return ok("%.1f GB free at %s", float64(free)/1e9, at)
}

// clock looks whether time has gone backwards: tokens and signed URLs live by it.
func (e examination) clock(context.Context) finding {
	now := time.Now()
	newest, name := time.Time{}, ""
	for _, f := range []string{".", "jwt.key", "store", "artifacts"} {
		path := filepath.Join(e.cfg.DataDir, f)
		if info, err := os.Stat(path); err == nil && info.ModTime().After(newest) {
			newest, name = info.ModTime(), path
		}
	}
	if program, err := os.Executable(); err == nil {
		if info, err := os.Stat(program); err == nil && info.ModTime().After(newest) {
			newest, name = info.ModTime(), program
		}
	}
	if newest.After(now.Add(clockLeeway)) {
		return bad("it is %s, but %s is from %s: set the clock", now.Format(time.DateTime), name, newest.Format(time.DateTime))
	}
	return ok("%s", now.Format(time.RFC3339))
}

// existing is the nearest folder of path that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// olderGo compares two versions such as go1.26.8; one that is not understood (a development build) counts as new.
func olderGo(have, need string) bool {
	return goversion.IsValid(have) && goversion.Compare(have, need) < 0
}
