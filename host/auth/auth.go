package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gantry-packs/gantry/host/auth/keyfile"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxPassword bounds a password, in bytes.
const maxPassword = 1024

// adminID is the one record of the bucket auth/admin.
const adminID = "password"

// Config is what the service needs. An empty AdminPassword keeps the one of the last start, or makes one.
type Config struct {
	Store         store.Store
	Dir           string // holds jwt.key
	AdminUsername string
	AdminPassword config.Secret
	Now           func() time.Time
}

// Service checks passwords and tokens. It is safe for concurrent use.
type Service struct {
	store    store.Store
	tokens   store.Bucket[Token]
	admin    store.Bucket[admin]
	key      []byte
	parser   *jwt.Parser
	now      func() time.Time
	username string
	password phc
	since    time.Time // when the password was set
	hasher   hasher
	byAddr   *limiter
	byName   *limiter
}

// admin is the stored password of the one user.
type admin struct {
	Hash string    `json:"hash"` // PHC string
	Set  time.Time `json:"set"`
}

// Open makes what is missing: the signing key and, when none is configured, the admin's password. firstPassword is set
// only when it was made just now; nothing but its hash is kept, so this is the one time to show it.
func Open(ctx context.Context, c Config) (s *Service, firstPassword string, err error) {
	key, err := keyfile.Ensure(filepath.Join(c.Dir, keyName))
	if err != nil {
		return nil, "", err
	}
	s = &Service{
		store: c.Store, tokens: store.NewBucket[Token]("auth/token"), admin: store.NewBucket[admin]("auth/admin"),
		key: key, parser: newParser(c.Now), now: c.Now, username: c.AdminUsername,
		hasher: newHasher(), byAddr: newLimiter(c.Now), byName: newLimiter(c.Now),
	}
	firstPassword, err = s.openAdmin(ctx, c.AdminPassword.Reveal())
	if err != nil {
		return nil, "", fmt.Errorf("opening the admin account: %w", err)
	}
	return s, firstPassword, nil
}

// openAdmin loads the admin's password and replaces it when another one is configured.
func (s *Service) openAdmin(ctx context.Context, configured string) (made string, err error) {
	if len(configured) > maxPassword {
		return "", fmt.Errorf("the admin password is longer than %d bytes", maxPassword)
	}
	var a admin
	err = s.store.View(ctx, func(r store.R) (err error) {
		a, err = s.admin.Get(r, adminID)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		if configured == "" {
			made = newPassword()
			configured = made
		}
		return made, s.setPassword(ctx, configured)
	case err != nil:
		return "", err
	}
	if s.password, err = parsePHC(a.Hash); err != nil {
		return "", err
	}
	s.since = a.Set
	if configured != "" && !s.password.matches(configured) {
		return "", s.setPassword(ctx, configured)
	}
	return "", nil
}

func (s *Service) setPassword(ctx context.Context, password string) error {
	a := admin{Hash: hashPassword(password), Set: s.now().UTC()}
	err := s.store.Update(ctx, func(rw store.RW) error { return s.admin.Put(rw, adminID, a, 0) }, store.Synced)
	if err != nil {
		return fmt.Errorf("keeping the password's hash: %w", err)
	}
	s.since = a.Set
	s.password, err = parsePHC(a.Hash)
	return err
}

// Login answers a token of LoginTTL with the scope admin. A wrong name and a wrong password cost the same time and read
// the same (unauthorized). After 10 failures in a minute from an address, or for a name, it is rate_limited.
func (s *Service) Login(ctx context.Context, username, password, remote string) (string, error) {
	name, addr := sha256.Sum256([]byte(username)), addressKey(remote)
	if err := limited(max(s.byAddr.wait(addr), s.byName.wait(string(name[:])))); err != nil {
		return "", err
	}
	if err := s.hasher.enter(ctx); err != nil {
		return "", err
	}
	defer s.hasher.leave()
	waitAddr, undoAddr := s.byAddr.take(addr)
	waitName, undoName := s.byName.take(string(name[:]))
	if err := limited(max(waitAddr, waitName)); err != nil {
		undoAddr()
		undoName()
		return "", err
	}
	want := sha256.Sum256([]byte(s.username))
	named := subtle.ConstantTimeCompare(name[:], want[:]) == 1
	// The hash is worked out for an unknown name too, so that the time tells nothing.
	if ok := len(password) <= maxPassword && s.password.matches(password); !ok || !named {
		return "", wire.Errorf(wire.Unauthorized, "user name or password is wrong")
	}
	undoAddr()
	undoName()
	c := newClaims(Caller{Subject: s.username, Scopes: []string{"admin"}, TokenID: newTokenID()}, s.now(), LoginTTL)
	return sign(s.key, c)
}

func limited(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return wire.Errorf(wire.RateLimited, "too many failed logins; try again in %d seconds", int(math.Ceil(wait.Seconds())))
}

// Authenticate says who holds a token (the bare token, without the word Bearer). Whatever is wrong with it is
// unauthorized; a revoked one is refused from the moment that Revoke returned, and a login made before the admin's
// password changed counts no more.
func (s *Service) Authenticate(ctx context.Context, bearer string) (Caller, error) {
	c, err := s.verify(bearer)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return Caller{}, wire.Errorf(wire.Unauthorized, "the token has expired; log in again or have a new one minted").Because(err)
	case err != nil:
		return Caller{}, wire.Errorf(wire.Unauthorized, "the bearer token is not valid; log in to get one").Because(err)
	}
	if !c.Recorded && c.IssuedAt.Before(s.since.Truncate(time.Second)) {
		return Caller{}, wire.Errorf(wire.Unauthorized, "the admin's password has changed since this login; log in again")
	}
	if c.Recorded {
		ok, err := s.recorded(ctx, c.ID)
		if err != nil {
			return Caller{}, err
		}
		if !ok {
			return Caller{}, wire.Errorf(wire.Unauthorized, "the token was revoked; have a new one minted")
		}
	}
	return Caller{Subject: c.Subject, Client: c.Client, Scopes: c.Scopes, TokenID: c.ID}, nil
}
