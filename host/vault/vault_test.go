package vault

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

const value = "s3cr3t-Value/with+signs=and more"

var ann = auth.Caller{Subject: "ann", Client: "cli"}

// fixture is a vault on a store that outlives it.
type fixture struct {
	*Vault
	store store.Store
	dir   string
	now   time.Time
}

func open(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{store: store.NewMemory(), dir: t.TempDir(), now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	t.Cleanup(func() { _ = f.store.Close() })
	f.reopen(t)
	return f
}

func (f *fixture) config() Config {
	return Config{Store: f.store, Dir: f.dir, Now: func() time.Time { return f.now }, Log: slog.New(slog.DiscardHandler)}
}

// reopen starts over with what the store has, as after a crash.
func (f *fixture) reopen(t testing.TB) {
	t.Helper()
	v, err := Open(t.Context(), f.config())
	if err != nil {
		t.Fatal(err)
	}
	f.Vault = v
}

func (f *fixture) create(t testing.TB, n New) Credential {
	t.Helper()
	if n.Name == "" {
		n.Name = "key"
	}
	if n.Type == "" {
		n.Type = TypeAPIKey
	}
	if n.HostPattern == "" {
		n.HostPattern = "api.example.com"
	}
	if n.Plaintext == nil {
		n.Plaintext = []byte(value)
	}
	c, err := f.Create(t.Context(), ann, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (f *fixture) take(t testing.TB, name string) (string, error) {
	t.Helper()
	s, err := f.Take(t.Context(), Ask{Caller: ann, Pack: "http.fetch", Name: name, Host: "api.example.com:443"})
	return string(s.Reveal()), err
}

func (f *fixture) wantValue(t testing.TB, name, want string) {
	t.Helper()
	if got, err := f.take(t, name); got != want || err != nil {
		t.Fatalf("%s: got %q, %v; want %q", name, got, err, want)
	}
}

func wantCode(t testing.TB, err error, code wire.Code) *wire.Error {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return e
}

func TestLifeOfACredential(t *testing.T) {
	f := open(t)
	made := f.create(t, New{HostPattern: "API.Example.com."})
	want := []Rule{{"ann", "*"}}
	if made.HostPattern != "api.example.com" || !slices.Equal(made.ACL, want) || made.LastUsedAt != nil || len(made.Fingerprint) != 12 || made.ID == "" {
		t.Errorf("made %+v", made)
	}
	f.wantValue(t, "key", value)
	f.now = f.now.Add(time.Minute)
	turned, err := f.Rotate(t.Context(), "key", []byte("another value"))
	if err != nil || turned.Fingerprint == made.Fingerprint || turned.ID != made.ID || !turned.UpdatedAt.Equal(f.now) || turned.CreatedAt.Equal(f.now) {
		t.Errorf("rotated %+v, %v", turned, err)
	}
	if turned.LastUsedAt == nil || !turned.LastUsedAt.Equal(made.CreatedAt) {
		t.Errorf("last used %v", turned.LastUsedAt)
	}
	f.reopen(t)
	f.wantValue(t, "key", "another value")
	if back, err := f.Rotate(t.Context(), "key", []byte(value)); err != nil || back.Fingerprint != made.Fingerprint {
		t.Errorf("the same value has the fingerprint %s, then %s, %v", made.Fingerprint, back.Fingerprint, err)
	}
	if err := f.Delete(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	_, err = f.take(t, "key")
	wantCode(t, err, wire.InvalidInput)
	for what, err := range map[string]error{
		"get":    second(f.Get(t.Context(), "key")),
		"rotate": second(f.Rotate(t.Context(), "key", []byte(value))),
		"acl":    second(f.SetACL(t.Context(), "key", nil)),
		"delete": f.Delete(t.Context(), "key"),
	} {
		if wire.As(err).Code != wire.CredentialNotFound {
			t.Errorf("%s of a deleted credential: %v", what, err)
		}
	}
	if again := f.create(t, New{}); again.Fingerprint == made.Fingerprint || again.LastUsedAt != nil {
		t.Errorf("a new credential of the old name: %+v", again)
	}
}

func second[T any](_ T, err error) error { return err }

func TestCreateRefuses(t *testing.T) {
	f := open(t)
	f.create(t, New{Name: "taken"})
	good := New{Name: "k", Type: TypeAPIKey, HostPattern: "h.example", Plaintext: []byte(value)}
	for what, edit := range map[string]func(*New){
		"name empty":       func(n *New) { n.Name = "" },
		"name of capitals": func(n *New) { n.Name = "Key" },
		"name with slash":  func(n *New) { n.Name = "a/b" },
		"name with line":   func(n *New) { n.Name = "a\n" },
		"name too long":    func(n *New) { n.Name = strings.Repeat("a", 65) },
		"type":             func(n *New) { n.Type = "token" },
		"no host":          func(n *New) { n.HostPattern = "" },
		"bad host":         func(n *New) { n.HostPattern = "https://h" },
		"short":            func(n *New) { n.Plaintext = []byte("abc") },
		"long":             func(n *New) { n.Plaintext = make([]byte, MaxPlaintext+1) },
		"login as text":    func(n *New) { n.Type = TypeLogin },
		"login with more":  func(n *New) { n.Type, n.Plaintext = TypeLogin, []byte(`{"username":"u","password":"pass","x":1}`) },
		"login twice": func(n *New) {
			n.Type, n.Plaintext = TypeLogin, []byte(`{"username":"u","password":"pass","password":"q"}`)
		},
		"login short":      func(n *New) { n.Type, n.Plaintext = TypeLogin, []byte(`{"username":"u","password":"abc"}`) },
		"login nobody":     func(n *New) { n.Type, n.Plaintext = TypeLogin, []byte(`{"username":"","password":"abcd"}`) },
		"rule empty":       func(n *New) { n.ACL = []Rule{{}} },
		"rule no client":   func(n *New) { n.ACL = []Rule{{"ann", ""}} },
		"rule half wild":   func(n *New) { n.ACL = []Rule{{"an*", "*"}} },
		"rule unprintable": func(n *New) { n.ACL = []Rule{{"a\n", "*"}} },
		"rules too many":   func(n *New) { n.ACL = make([]Rule, MaxRules+1) },
	} {
		n := good
		edit(&n)
		_, err := f.Create(t.Context(), ann, n)
		if e := wire.As(err); e == nil || e.Code != wire.InvalidInput || strings.Contains(e.Message, value) {
			t.Errorf("%s: %v", what, err)
		}
	}
	good.Name = "taken"
	wantCode(t, second(f.Create(t.Context(), ann, good)), wire.Conflict)
	for _, subject := range []string{"", "*"} {
		good.Name = "k"
		wantCode(t, second(f.Create(t.Context(), auth.Caller{Subject: subject}, good)), wire.InvalidInput)
	}
	if list, err := f.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d credentials, %v", len(list), err)
	}
}

func TestTypes(t *testing.T) {
	f := open(t)
	f.create(t, New{Name: "ssh", Type: "ssh"})
	f.create(t, New{Name: "login", Type: TypeLogin, Plaintext: []byte(`{"username":"ann","password":"p\u00e4ss"}`)})
	f.create(t, New{Name: "long", Plaintext: []byte(strings.Repeat("x", MaxPlaintext))})
	for _, c := range []struct {
		name  string
		types []string
		ok    bool
	}{
		{"ssh", nil, true}, {"ssh", []string{"ssh"}, true}, {"ssh", []string{TypeSSH}, true}, {"ssh", []string{TypeAPIKey, TypeLogin}, false},
		{"login", []string{TypeAPIKey, TypeLogin}, true}, {"login", []string{TypeAPIKey}, false}, {"long", []string{TypeAPIKey}, true},
	} {
		s, err := f.Take(t.Context(), Ask{Caller: ann, Name: c.name, Host: "api.example.com", Types: c.types})
		if (err == nil) != c.ok || c.ok && s.Type() == "" {
			t.Errorf("%s as %q: %v", c.name, c.types, err)
		}
		if err != nil && !strings.Contains(string(wantCode(t, err, wire.InvalidInput).Details), `"reason":"type"`) {
			t.Errorf("details %s", wire.As(err).Details)
		}
		if user, password, ok := s.Login(); ok != (err == nil && c.name == "login") || ok && user+"/"+password != "ann/päss" {
			t.Errorf("%s: login %q %q %t", c.name, user, password, ok)
		}
	}
}

func TestACL(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	admin := auth.Caller{Subject: "root", Client: "cli", Scopes: []string{"admin"}}
	for i, c := range []struct {
		rules []Rule
		who   auth.Caller
		ok    bool
	}{
		{[]Rule{{"ann", "*"}}, ann, true},
		{[]Rule{{"ann", "*"}}, auth.Caller{Subject: "ann"}, true},
		{[]Rule{{"ann", "*"}}, auth.Caller{Subject: "ann2", Client: "cli"}, false},
		{[]Rule{{"ann", "*"}}, auth.Caller{Subject: "Ann", Client: "cli"}, false},
		{[]Rule{{"ann", "*"}}, auth.Caller{Subject: "*", Client: "*"}, false},
		{[]Rule{{"ann", "*"}}, admin, false},
		{[]Rule{{"ann", "web"}}, ann, false},
		{[]Rule{{"ann", "web"}}, auth.Caller{Subject: "ann"}, false},
		{[]Rule{{"ann", "web"}, {"*", "cli"}}, ann, true},
		{[]Rule{{"bob", "cli"}, {"ann", "web"}}, ann, false},
		{[]Rule{{"*", "*"}}, admin, true},
		{[]Rule{{"*", "*"}}, auth.Caller{Client: "cli"}, false},
		{[]Rule{{"*", "cli"}}, auth.Caller{Subject: "x"}, false},
		{nil, ann, false},
	} {
		if _, err := f.SetACL(t.Context(), "key", c.rules); err != nil {
			t.Fatal(err)
		}
		s, err := f.Take(t.Context(), Ask{Caller: c.who, Name: "key", Host: "api.example.com"})
		_, lookErr := f.Look(t.Context(), c.who, "key")
		if (err == nil) != c.ok || (lookErr == nil) != c.ok || c.ok != (string(s.Reveal()) == value) {
			t.Errorf("%d: %v, look %v", i, err, lookErr)
		}
	}
	// Who isn't named can't tell a credential from none, whatever else they get wrong.
	for _, host := range []string{"api.example.com", "else.example.com"} {
		_, denied := f.Take(t.Context(), Ask{Caller: ann, Name: "key", Host: host, Types: []string{TypeSSH}})
		_, absent := f.Take(t.Context(), Ask{Caller: ann, Name: "yek", Host: host})
		a, b := wantCode(t, denied, wire.InvalidInput), wantCode(t, absent, wire.InvalidInput)
		if strings.ReplaceAll(b.Message+string(b.Details), "yek", "key") != a.Message+string(a.Details) {
			t.Errorf("%s %s\n%s %s", a.Message, a.Details, b.Message, b.Details)
		}
	}
}

// FuzzACL compares with a reading of the rules of its own.
func FuzzACL(f *testing.F) {
	f.Add("ann", "*", "bob", "cli", "ann", "cli")
	f.Add("*", "*", "", "", "", "")
	f.Fuzz(func(t *testing.T, s1, c1, s2, c2, subject, client string) {
		rules := []Rule{{s1, c1}, {s2, c2}}
		if _, err := checkACL(rules); err != nil {
			return
		}
		fits := func(r Rule) bool {
			return (r.Subject == "*" || r.Subject == subject) && (r.Client == "*" || r.Client == client)
		}
		want := subject != "" && (fits(rules[0]) || fits(rules[1]))
		if got := permits(rules, auth.Caller{Subject: subject, Client: client, Scopes: []string{"admin"}}); got != want {
			t.Errorf("%q for %q/%q: %t", rules, subject, client, got)
		}
	})
}

func TestBadNamesAreNotRepeated(t *testing.T) {
	f := open(t)
	pasted := "sk_LIVE_0123456789"
	for _, err := range []error{second(f.take(t, pasted)), second(f.Look(t.Context(), ann, pasted)), second(f.Get(t.Context(), pasted))} {
		if err == nil || strings.Contains(err.Error(), pasted) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPreload(t *testing.T) {
	f := open(t)
	n := New{Name: "stock-key", Type: TypeAPIKey, HostPattern: "api.example.com", Plaintext: []byte(value)}
	load := func(host, plain string) Credential {
		t.Helper()
		f.now = f.now.Add(time.Hour)
		n.HostPattern, n.Plaintext = host, []byte(plain)
		if err := f.Preload(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		c, err := f.Get(t.Context(), "stock-key")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := load("api.example.com", value)
	if !slices.Equal(first.ACL, []Rule{{"*", "*"}}) {
		t.Errorf("ACL %v", first.ACL)
	}
	if again := load("api.example.com", value); !again.UpdatedAt.Equal(first.UpdatedAt) {
		t.Error("the same value was written again")
	}
	if _, err := f.SetACL(t.Context(), "stock-key", []Rule{{"ann", "*"}}); err != nil {
		t.Fatal(err)
	}
	moved := load("api.example.com:443", "another value")
	if moved.HostPattern != "api.example.com:443" || !slices.Equal(moved.ACL, []Rule{{"ann", "*"}}) || moved.ID != first.ID {
		t.Errorf("got %+v", moved)
	}
	f.wantValue(t, "stock-key", "another value")
	n.Plaintext = nil
	wantCode(t, f.Preload(t.Context(), n), wire.InvalidInput)
}

func TestFull(t *testing.T) {
	f := open(t)
	err := f.store.Update(t.Context(), func(rw store.RW) error {
		for i := range MaxCredentials - 1 {
			if err := f.credentials.Put(rw, fmt.Sprint(i), record{}, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.create(t, New{})
	_, err = f.Create(t.Context(), ann, New{Name: "more", Type: TypeAPIKey, HostPattern: "h", Plaintext: []byte(value)})
	wantCode(t, err, wire.InvalidInput)
}

// TestConcurrency takes a value while it, its ACL and the keys change: each taking gives a whole value or a refusal.
func TestConcurrency(t *testing.T) {
	f := open(t)
	f.create(t, New{Plaintext: []byte("value-0")})
	stop := make(chan struct{})
	var takers, changers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got, err := f.take(t, "key"); err != nil || !strings.HasPrefix(got, "value-") {
					t.Errorf("got %q, %v", got, err)
					return
				}
			}
		})
	}
	changers.Go(func() {
		for i := range 50 {
			if _, err := f.Rotate(t.Context(), "key", fmt.Appendf(nil, "value-%d", i)); err != nil {
				t.Error(err)
			}
		}
	})
	changers.Go(func() {
		for range 50 {
			if _, err := f.SetACL(t.Context(), "key", []Rule{{"ann", "*"}}); err != nil {
				t.Error(err)
			}
		}
	})
	changers.Go(func() {
		for range 20 {
			if _, err := f.RotateKeys(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	made := make([]bool, 8)
	for i := range made {
		changers.Go(func() {
			_, err := f.Create(t.Context(), ann, New{Name: "one", Type: TypeAPIKey, HostPattern: "*", Plaintext: []byte(value)})
			made[i] = err == nil
		})
	}
	changers.Wait()
	close(stop)
	takers.Wait()
	f.wantValue(t, "key", "value-49")
	if n := len(slices.DeleteFunc(made, func(ok bool) bool { return !ok })); n != 1 {
		t.Errorf("one name was made %d times", n)
	}
}

func TestClosed(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	f.Close()
	for what, err := range map[string]error{
		"take":   second(f.take(t, "key")),
		"create": second(f.Create(t.Context(), ann, New{Name: "k", Type: TypeAPIKey, HostPattern: "h", Plaintext: []byte(value)})),
		"rotate": second(f.Rotate(t.Context(), "key", []byte(value))),
		"keys":   second(f.RotateKeys(t.Context())),
		"rekey":  f.Rekey(t.Context(), "file://"+t.TempDir()+"/k"),
		"doctor": second(f.Doctor(t.Context())),
		"load":   f.Preload(t.Context(), New{Name: "key", Type: TypeAPIKey, HostPattern: "h", Plaintext: []byte(value)}),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
