package auth

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// world is what survives a restart of the service.
type world struct {
	*clock
	store store.Store
	dir   string
}

func newWorld(t testing.TB) *world {
	s := store.NewMemory()
	t.Cleanup(func() { s.Close() })
	return &world{clock: newClock(), store: s, dir: t.TempDir()}
}

// start opens the service on the world, as a restart does.
func (w *world) start(t testing.TB, password config.Secret) (*Service, string) {
	t.Helper()
	s, first, err := Open(context.Background(), Config{Store: w.store, Dir: w.dir, AdminUsername: "admin", AdminPassword: password, Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	return s, first
}

func wantCode(t testing.TB, err error, code wire.Code) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

func login(t testing.TB, s *Service, password string) string {
	t.Helper()
	token, err := s.Login(t.Context(), "admin", password, "192.0.2.1:1")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestFirstStartMakesAPassword(t *testing.T) {
	w := newWorld(t)
	s, first := w.start(t, "")
	if first == "" {
		t.Fatal("no password was made")
	}
	c, err := s.Authenticate(t.Context(), login(t, s, first))
	if err != nil || c.Subject != "admin" || !c.Admin() || c.TokenID == "" {
		t.Fatalf("got %+v, %v", c, err)
	}
	s, second := w.start(t, "")
	if second != "" {
		t.Fatal("a second start made another password")
	}
	login(t, s, first)
	err = w.store.View(t.Context(), func(r store.R) error {
		return r.Scan(nil, nil, store.ScanOptions{}, func(k, v []byte) (bool, error) {
			if strings.Contains(string(k)+string(v), first) {
				t.Errorf("%s keeps the password itself", k)
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfiguredPasswordWins(t *testing.T) {
	w := newWorld(t)
	s, first := w.start(t, "one")
	if first != "" {
		t.Fatal("a password was made beside the configured one")
	}
	old := login(t, s, "one")
	s, _ = w.start(t, "one")
	if _, err := s.Authenticate(t.Context(), old); err != nil {
		t.Fatalf("a restart ended a login: %v", err)
	}
	w.advance(time.Second)
	s, _ = w.start(t, "two")
	_, err := s.Login(t.Context(), "admin", "one", "")
	wantCode(t, err, wire.Unauthorized)
	_, err = s.Authenticate(t.Context(), old)
	wantCode(t, err, wire.Unauthorized)
	login(t, s, "two")
	s, _ = w.start(t, "") // no longer configured: the last one stays
	login(t, s, "two")
}

func TestLoginRefuses(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "right")
	for name, c := range map[string][2]string{
		"wrong password": {"admin", "wrong"},
		"unknown user":   {"root", "right"},
		"other case":     {"Admin", "right"},
		"empty":          {"", ""},
		"NUL":            {"admin\x00", "right"},
		"long password":  {"admin", strings.Repeat("a", 1<<20)},
	} {
		_, err := s.Login(t.Context(), c[0], c[1], "192.0.2.1")
		wantCode(t, err, wire.Unauthorized)
		if !strings.Contains(err.Error(), "user name or password") {
			t.Errorf("%s: the message tells which: %v", name, err)
		}
	}
}

func TestLoginLimitOfAnAddress(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "right")
	for i := range loginFailures {
		login(t, s, "right") // successes don't count
		_, err := s.Login(t.Context(), fmt.Sprint("user", i), "wrong", "192.0.2.1:99")
		wantCode(t, err, wire.Unauthorized)
	}
	_, err := s.Login(t.Context(), "admin", "right", "192.0.2.1:1")
	wantCode(t, err, wire.RateLimited)
	if !strings.Contains(err.Error(), "60 seconds") {
		t.Errorf("the message doesn't say when: %v", err)
	}
	if _, err := s.Login(t.Context(), "admin", "right", "192.0.2.2:1"); err != nil {
		t.Fatalf("another address is refused: %v", err)
	}
	w.advance(loginWindow)
	login(t, s, "right")
}

func TestLoginLimitOfAName(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "right")
	for _, name := range []string{"admin", "nobody"} { // the limit must not tell which name exists
		for i := range loginFailures {
			_, err := s.Login(t.Context(), name, "wrong", fmt.Sprintf("192.0.2.%d:1", i))
			wantCode(t, err, wire.Unauthorized)
		}
		_, err := s.Login(t.Context(), name, "right", "198.51.100.1:1")
		wantCode(t, err, wire.RateLimited)
	}
}

func TestLoginStopsWaitingWithItsCaller(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "right")
	for range cap(s.hasher.slots) {
		s.hasher.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Login(ctx, "admin", "right", "192.0.2.1"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestOpenRefusesALooseKey(t *testing.T) {
	w := newWorld(t)
	w.start(t, "x")
	chmod(t, filepath.Join(w.dir, keyName), 0o644)
	_, _, err := Open(t.Context(), Config{Store: w.store, Dir: w.dir, AdminUsername: "admin", Now: w.now})
	if err == nil || !strings.Contains(err.Error(), keyName) {
		t.Fatalf("got %v", err)
	}
	if _, err := LocalToken(w.dir, "admin", []string{"admin"}, time.Minute, w.now()); err == nil {
		t.Fatal("a local token was signed with it")
	}
}
