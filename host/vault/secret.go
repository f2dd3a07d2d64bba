package vault

import (
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// The types of credentials.
const (
	TypeAPIKey = "api_key"
	TypeSSH    = "ssh-git"
	TypeLogin  = "login"
)

const typeSSHAlias = "ssh"

func canonicalType(t string) string {
	if t == typeSSHAlias {
		return TypeSSH
	}
	return t
}

// fitsType says whether a credential's type is among those asked for; none asked for is any.
func fitsType(have string, types []string) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return canonicalType(t) == have })
}

func checkPlaintext(kind string, plain []byte) error {
	if kind != TypeAPIKey && kind != TypeSSH && kind != TypeLogin {
		return wire.Invalid("type must be %s, %s or %s", TypeAPIKey, TypeSSH, TypeLogin)
	}
	if len(plain) < MinPlaintext || len(plain) > MaxPlaintext {
		return wire.Invalid("plaintext must be %d bytes to %d KiB", MinPlaintext, MaxPlaintext>>10)
	}
	if kind != TypeLogin {
		return nil
	}
	if l, ok := parseLogin(plain); !ok || l.Username == "" || len(l.Password) < MinPlaintext {
		return wire.Invalid(`the plaintext of a login must be {"username": "...", "password": "..."} and nothing else, `+
			"the password of at least %d bytes", MinPlaintext)
	}
	return nil
}

type login struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

func parseLogin(plain []byte) (l login, ok bool) {
	err := json.Unmarshal(plain, &l, json.RejectUnknownMembers(true))
	return l, err == nil
}

// Secret is a credential's value on its way to where it is used. Every way to format, marshal or log it gives a mask. The
// value sits behind a function: fmt asks no method of what lies in an unexported field, and follows pointers for verbs
// that don't fit, but of a function it prints no more than an address.
type Secret struct {
	held func() held
}

type held struct {
	kind  string
	value []byte
}

func newSecret(kind string, value []byte) Secret {
	return Secret{func() held { return held{kind: kind, value: value} }}
}

func (s Secret) get() held {
	if s.held == nil {
		return held{}
	}
	return s.held()
}

// Reveal returns the value itself, not a copy: Wipe zeroes it.
func (s Secret) Reveal() []byte { return s.get().value }

// Type is the credential's type.
func (s Secret) Type() string { return s.get().kind }

// Login takes a login apart; ok is false for a credential of another type.
func (s Secret) Login() (username, password string, ok bool) {
	if s.Type() != TypeLogin {
		return "", "", false
	}
	l, ok := parseLogin(s.Reveal())
	return l.Username, l.Password, ok
}

// Wipe zeroes the value, as far as Go lets: copies that were made of it stay.
func (s Secret) Wipe() { clear(s.Reveal()) }

// String masks the value.
func (s Secret) String() string { return Mask }

// GoString masks the value for %#v.
func (s Secret) GoString() string { return "vault.Secret(" + Mask + ")" }

// Format masks the value for every verb.
func (s Secret) Format(f fmt.State, verb rune) {
	text := Mask
	if verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText masks the value for encoders of text, XML and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// MarshalJSON masks the value.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Mask + `"`), nil }

// LogValue masks the value for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(Mask) }
