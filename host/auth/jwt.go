package auth

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gantry-packs/gantry/host/auth/keyfile"
)

// issuer is the iss claim of every token; keyName is the signing key's file in the data dir.
const (
	issuer  = "gantry"
	keyName = "jwt.key"
)

// LoginTTL is how long a login lasts. No token without a record lives longer, since nothing can revoke it but a new
// admin password.
const LoginTTL = 12 * time.Hour

// maxBearer bounds a token before it is looked into.
const maxBearer = 8 << 10

// claims are what a token says. Recorded tokens count only while the store has their record, see [Service.Mint].
type claims struct {
	jwt.RegisteredClaims
	Client   string   `json:"client,omitempty"`
	Scopes   []string `json:"scopes"`
	Recorded bool     `json:"rec,omitempty"`
}

// newClaims fills the claims that every token has. Times are whole seconds, as JWT has them.
func newClaims(c Caller, now time.Time, ttl time.Duration) claims {
	return claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Subject: c.Subject, ID: c.TokenID,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
		},
		Client: c.Client, Scopes: c.Scopes,
	}
}

func newTokenID() string { return strings.ToLower(rand.Text()) }

func sign(key []byte, c claims) (string, error) {
	s, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(key)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return s, nil
}

// newParser accepts HS256 and our issuer alone and wants an expiry.
func newParser(now func() time.Time) *jwt.Parser {
	return jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer),
		jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithTimeFunc(now))
}

// verify checks the signature and the claims that every token must have.
func (s *Service) verify(bearer string) (claims, error) {
	var c claims
	if len(bearer) > maxBearer {
		return c, errors.New("the token is too long")
	}
	_, err := s.parser.ParseWithClaims(bearer, &c, func(*jwt.Token) (any, error) { return s.key, nil })
	if err != nil {
		return c, err
	}
	if c.Subject == "" || c.ID == "" || c.IssuedAt == nil {
		return c, errors.New("the token lacks sub, jti or iat")
	}
	return c, nil
}

// LocalToken signs a token with the key in dir: whoever may read the data dir may act as anybody, for at most LoginTTL.
// It needs a dir that a server has been started on.
func LocalToken(dir, subject string, scopes []string, ttl time.Duration, now time.Time) (string, error) {
	if subject == "" || ttl <= 0 || ttl > LoginTTL {
		return "", fmt.Errorf("a local token needs a subject and a lifetime of at most %s", LoginTTL)
	}
	key, err := keyfile.Load(filepath.Join(dir, keyName))
	if err != nil {
		return "", err
	}
	return sign(key, newClaims(Caller{Subject: subject, Client: "local", Scopes: scopes, TokenID: newTokenID()}, now, ttl))
}
