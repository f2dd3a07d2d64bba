// Package storetest is the one suite that every driver of host/store has to pass: what holds for one holds for all.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gantry-packs/gantry/host/store"
)

// Suite holds the stores that open makes to the contract of [store.Store]. Each test opens one in a folder of its own,
// which a driver without files ignores; Suite closes it.
func Suite(t *testing.T, open func(t *testing.T, dir string) store.Store) {
	tests := []struct {
		name string
		run  func(*testing.T, store.Store)
	}{
		{"values", testValues},
		{"own writes", testOwnWrites},
		{"rollback", testRollback},
		{"ended transaction", testEnded},
		{"buffers", testBuffers},
		{"bucket", testBucket},
		{"scan edges", testScanEdges},
		{"scan model", testScanModel},
		{"nested scans", testNestedScans},
		{"snapshot", testSnapshot},
		{"conflicts", testConflicts},
		{"conflicts for ever", testConflictsForEver},
		{"counter", testCounter},
		{"quota", testQuota},
		{"ttl", testTTL},
		{"limits", testLimits},
		{"large values", testLargeValues},
		{"big append", testBigAppend},
		{"appenders", testAppenders},
		{"canceled", testCanceled},
		{"canceled append", testCanceledAppend},
		{"synced", testSynced},
		{"watch", testWatch},
		{"close", testClose},
		{"close waits", testCloseWaits},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test.run(t, s)
		})
	}
}

// set writes key, value pairs in one Update.
func set(t *testing.T, s store.Store, pairs ...string) {
	t.Helper()
	update(t, s, func(rw store.RW) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := rw.Put([]byte(pairs[i]), []byte(pairs[i+1]), 0); err != nil {
				return err
			}
		}
		return nil
	})
}

func update(t *testing.T, s store.Store, fn func(store.RW) error, opts ...store.Option) {
	t.Helper()
	if err := s.Update(t.Context(), fn, opts...); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func view(t *testing.T, s store.Store, fn func(store.R) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatalf("view: %v", err)
	}
}

// get reads a value, "-" for none.
func get(t *testing.T, s store.Store, key string) string {
	t.Helper()
	text := "-"
	view(t, s, func(r store.R) error {
		v, err := r.Get([]byte(key))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		text = string(v)
		return err
	})
	return text
}

// list scans and returns the entries as key=value, or as keys for a KeysOnly scan.
func list(r store.R, prefix, from []byte, o store.ScanOptions) ([]string, error) {
	var got []string
	err := r.Scan(prefix, from, o, func(k, v []byte) (bool, error) {
		if o.KeysOnly {
			if v != nil {
				return false, fmt.Errorf("a KeysOnly scan gives the value %q", v)
			}
			got = append(got, string(k))
			return true, nil
		}
		got = append(got, string(k)+"="+string(v))
		return true, nil
	})
	return got, err
}

func sameList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// canceled is a context that is over.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
