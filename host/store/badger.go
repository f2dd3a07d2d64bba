package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Garbage collection of the value log: how often, and the share of a file that must be stale for it to be written anew.
const (
	collectEvery = time.Hour
	collectRatio = 0.5
)

// badgerDriver keeps a database in a folder.
type badgerDriver struct {
	db    *badger.DB
	dir   string
	log   *slog.Logger
	quit  chan struct{}
	ended sync.WaitGroup
}

// OpenBadger opens the database in dir, which is made if it is missing. One process at a time may have it open; a second
// one gets an error that says so.
func OpenBadger(dir string, log *slog.Logger) (Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store: making the data folder: %w", err)
	}
	db, err := badger.Open(tuned(dir, log))
	if err != nil {
		return nil, openError(dir, err)
	}
	d := &badgerDriver{db: db, dir: dir, log: log, quit: make(chan struct{})}
	d.ended.Go(d.collect)
	return newDatabase(d, log), nil
}

// tuned is badger for a small service: its defaults take 340 MB of memory where these take 30 to 110. SyncWrites is off
// since the log is mapped memory and survives kill -9 without; conflicts are found by history.
func tuned(dir string, log *slog.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(badgerLog{log}).
		WithSyncWrites(false).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(6).
		WithNumCompactors(2).
		WithBaseTableSize(2 << 20).
		WithBaseLevelSize(8 << 20).
		WithBlockCacheSize(8 << 20).
		WithIndexCacheSize(8 << 20).
		WithCompression(options.Snappy).
		WithValueThreshold(valueThreshold).
		WithValueLogFileSize(64 << 20)
}

// openError turns badger's long report about a locked folder into one line. It keeps no error value to ask for, so its
// words have to do; the suite opens a folder twice to notice if they change.
func openError(dir string, err error) error {
	if !strings.Contains(err.Error(), "Another process is using") {
		return fmt.Errorf("store: opening %s: %w", dir, err)
	}
	owner := "another process"
	if pid, readErr := os.ReadFile(filepath.Join(dir, "LOCK")); readErr == nil {
		owner = "process " + strings.TrimSpace(string(pid))
	}
	return fmt.Errorf("store: %s is in use by %s; stop that one, or choose another data folder", dir, owner)
}

func (d *badgerDriver) snapshot() snapshot { return badgerSnapshot{d.db.NewTransaction(false)} }

func (d *badgerDriver) prepare(ops []op) (batch, error) {
	b := &badgerBatch{txn: d.db.NewTransaction(true), done: make(chan error, 1)}
	for _, o := range ops {
		var err error
		if o.remove {
			err = b.txn.Delete(o.key)
		} else {
			err = b.txn.SetEntry(&badger.Entry{Key: o.key, Value: o.value, ExpiresAt: uint64(o.expires)})
		}
		if err != nil {
			b.txn.Discard()
			return nil, err
		}
	}
	return b, nil
}

// sync puts the logs on the disk. badger syncs the log of the memtable in use; one that was replaced a moment ago may not
// have become a table yet, so its log is synced here.
func (d *badgerDriver) sync() error {
	if err := d.db.Sync(); err != nil {
		return err
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	var logs []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".mem" {
			logs = append(logs, e.Name())
		}
	}
	if len(logs) < 2 {
		return nil
	}
	for _, name := range logs {
		if err := syncFile(filepath.Join(d.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// syncFile syncs a file unless it is gone, which a log is once its table is on the disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *badgerDriver) close() error {
	close(d.quit)
	d.ended.Wait()
	return d.db.Close()
}

// collect gives the space of stale large values back.
func (d *badgerDriver) collect() {
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	for {
		select {
		case <-d.quit:
			return
		case <-tick.C:
		}
		var err error
		for err == nil {
			err = d.db.RunValueLogGC(collectRatio)
		}
		if !errors.Is(err, badger.ErrNoRewrite) {
			d.log.Warn("the store can't collect its garbage", "err", err)
		}
	}
}

// badgerBatch is a transaction that only writes.
type badgerBatch struct {
	txn  *badger.Txn
	done chan error
}

func (b *badgerBatch) send()       { b.txn.CommitWith(func(err error) { b.done <- err }) }
func (b *badgerBatch) wait() error { return <-b.done }
func (b *badgerBatch) discard()    { b.txn.Discard() }

// badgerSnapshot is a transaction that only reads.
type badgerSnapshot struct {
	txn *badger.Txn
}

func (s badgerSnapshot) discard() { s.txn.Discard() }

func (s badgerSnapshot) get(key []byte) ([]byte, error) {
	item, err := s.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading: %w", err)
	}
	return item.ValueCopy([]byte{})
}

// scan reads values only when asked for: badger would start a goroutine for each that it fetches ahead.
func (s badgerSnapshot) scan(sp span, o ScanOptions, fn func(k []byte, value func() ([]byte, error)) (bool, error)) error {
	opts := badger.IteratorOptions{Reverse: o.Reverse}
	if !o.Reverse {
		opts.Prefix = sp.prefix
	}
	it := s.txn.NewIterator(opts)
	defer it.Close()
	seek := sp.lo
	if o.Reverse {
		seek = sp.hi
	}
	buf := []byte{}
	for it.Seek(seek); it.Valid(); it.Next() {
		item := it.Item()
		key := item.Key()
		if !sp.holds(key) {
			if o.Reverse && bytes.Equal(key, sp.hi) {
				continue
			}
			return nil
		}
		more, err := fn(key, func() (v []byte, err error) {
			buf, err = item.ValueCopy(buf[:0])
			return buf, err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}
