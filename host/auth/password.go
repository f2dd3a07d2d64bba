package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of one password hash: OWASP's argon2id setting, about 40 ms of one core and 19 MiB while it runs.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16 // bytes
	argonKey     = 32 // bytes
)

// maxArgonMemory and maxArgonTime bound what a stored hash may ask for.
const (
	maxArgonMemory = 256 << 10 // KiB
	maxArgonTime   = 16
)

var phcEncoding = base64.RawStdEncoding

// hasher lets at most one hash run for each CPU, so that a flood of logins costs time and not memory.
type hasher struct{ slots chan struct{} }

func newHasher() hasher { return hasher{slots: make(chan struct{}, runtime.NumCPU())} }

// enter waits for a slot; leave gives it back.
func (h hasher) enter(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h hasher) leave() { <-h.slots }

// phc is a parsed PHC string: $argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>.
type phc struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

// hashPassword returns the PHC string of a password under a new salt.
func hashPassword(password string) string {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		phcEncoding.EncodeToString(salt), phcEncoding.EncodeToString(key))
}

func parsePHC(s string) (phc, error) {
	var p phc
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, errors.New("not an argon2id hash")
	}
	n, err := fmt.Sscanf(parts[3]+"\n", "m=%d,t=%d,p=%d\n", &p.memory, &p.time, &p.threads)
	if err != nil || n != 3 || p.memory == 0 || p.memory > maxArgonMemory || p.time == 0 || p.time > maxArgonTime || p.threads == 0 {
		return p, errors.New("the hash has unusable argon2id parameters")
	}
	if p.salt, err = phcEncoding.DecodeString(parts[4]); err != nil {
		return p, errors.New("the hash has a malformed salt")
	}
	if p.key, err = phcEncoding.DecodeString(parts[5]); err != nil || len(p.key) != argonKey {
		return p, errors.New("the hash has a malformed key")
	}
	return p, nil
}

// matches does the same work whether or not the password is right.
func (p phc) matches(password string) bool {
	got := argon2.IDKey([]byte(password), p.salt, p.time, p.memory, p.threads, uint32(len(p.key)))
	return subtle.ConstantTimeCompare(got, p.key) == 1
}

// newPassword makes a password of 140 random bits that a person can read out: seven groups of four from a-z and 2-7.
func newPassword() string {
	raw := make([]byte, 18)
	_, _ = rand.Read(raw) // never fails
	s := strings.ToLower(base32.StdEncoding.EncodeToString(raw))[:28]
	groups := make([]string, 0, 7)
	for len(s) > 0 {
		groups = append(groups, s[:4])
		s = s[4:]
	}
	return strings.Join(groups, "-")
}
