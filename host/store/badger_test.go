package store_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/store/storetest"
)

// crashDir makes the test binary the victim of TestKill.
var crashDir = flag.String("crash-dir", "", "write to the store in this folder until killed")

func open(t testing.TB, dir string) store.Store {
	t.Helper()
	s, err := store.OpenBadger(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBadger(t *testing.T) {
	storetest.Suite(t, func(t *testing.T, dir string) store.Store { return open(t, dir) })
}

func TestMemory(t *testing.T) {
	storetest.Suite(t, func(*testing.T, string) store.Store { return store.NewMemory() })
}

// TestReopen keeps what was written through a close, an empty value too.
func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	err := s.Update(t.Context(), func(rw store.RW) error { return rw.Put([]byte("empty"), nil, 0) })
	if err == nil {
		err = s.Append(t.Context(), store.Row{Key: []byte("row"), Value: make([]byte, 1<<20)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	err = s.View(t.Context(), func(r store.R) error {
		if v, err := r.Get([]byte("empty")); err != nil || len(v) != 0 {
			t.Errorf("empty: %q, %v", v, err)
		}
		v, err := r.Get([]byte("row"))
		if len(v) != 1<<20 {
			t.Errorf("row: %d bytes", len(v))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	_, err := store.OpenBadger(dir, slog.New(slog.DiscardHandler))
	want := fmt.Sprintf("store: %s is in use by process %d; stop that one, or choose another data folder", dir, os.Getpid())
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestKill kills a process that writes, with SIGKILL, and looks for everything that it was told to be written.
func TestKill(t *testing.T) {
	if *crashDir != "" {
		writeUntilKilled(*crashDir)
	}
	dir := t.TempDir()
	for round, acknowledgements := range []int{1, 200, 2000} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$", "-crash-dir="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var keys []string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			keys = append(keys, lines.Text())
			if len(keys) == acknowledgements {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
		if len(keys) < acknowledgements {
			t.Fatalf("round %d: the child ended after %d writes", round, len(keys))
		}
		expectKeys(t, dir, keys)
	}
}

// expectKeys opens the store that a killed process left.
func expectKeys(t *testing.T, dir string, keys []string) {
	t.Helper()
	s := open(t, dir)
	defer s.Close()
	err := s.View(t.Context(), func(r store.R) error {
		for _, key := range keys {
			v, err := r.Get([]byte(key))
			if err != nil || !strings.HasPrefix(string(v), key) {
				t.Errorf("%s was acknowledged: %d bytes, %v", key, len(v), err)
			}
			if _, err := r.Get([]byte("index/" + key)); err != nil {
				t.Errorf("%s lost the other half of its transaction: %v", key, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d acknowledged writes are there", len(keys))
}

// writeUntilKilled prints the key of each write after its acknowledgement. Some values are large, to be kept apart.
func writeUntilKilled(dir string) {
	s, err := store.OpenBadger(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var out sync.Mutex
	for writer := range 8 {
		go func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d/%d/%d", os.Getpid(), writer, i)
				if err := writeOne(s, key, writer, i); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				out.Lock()
				fmt.Println(key)
				out.Unlock()
			}
		}()
	}
	select {}
}

func writeOne(s store.Store, key string, writer, i int) error {
	value := []byte(key + strings.Repeat(".", 500))
	if i%50 == 49 {
		value = append(value, make([]byte, 100<<10)...)
	}
	if writer%2 == 0 {
		return s.Append(context.Background(), store.Row{Key: []byte(key), Value: value}, store.Row{Key: []byte("index/" + key)})
	}
	var opts []store.Option
	if writer == 1 {
		opts = append(opts, store.Synced)
	}
	return s.Update(context.Background(), func(rw store.RW) error {
		if err := rw.Put([]byte(key), value, 0); err != nil {
			return err
		}
		return rw.Put([]byte("index/"+key), nil, 0)
	}, opts...)
}
