package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// forge signs any claims with any method and key.
func forge(t testing.TB, m jwt.SigningMethod, key any, c map[string]any) string {
	t.Helper()
	s, err := jwt.NewWithClaims(m, jwt.MapClaims(c)).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// good are claims that pass; but returns them with some changed, nil removing one.
func good(now time.Time) map[string]any {
	return map[string]any{"iss": "gantry", "sub": "ann", "jti": "j", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "scopes": []string{"admin"}}
}

func but(c map[string]any, changes map[string]any) map[string]any {
	for k, v := range changes {
		if v == nil {
			delete(c, k)
		} else {
			c[k] = v
		}
	}
	return c
}

func TestAuthenticateRefusesForgeries(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "x")
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, _ := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	hs, now := jwt.SigningMethodHS256, w.now()
	ours := func(changes map[string]any) string { return forge(t, hs, s.key, but(good(now), changes)) }
	if _, err := s.Authenticate(t.Context(), ours(nil)); err != nil {
		t.Fatalf("the base of all these forgeries is refused: %v", err)
	}
	valid := ours(nil)
	for name, token := range map[string]string{
		"empty":               "",
		"words":               "let me in",
		"dots":                "..",
		"with its scheme":     "Bearer " + valid,
		"alg none":            forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(now)),
		"no signature":        valid[:strings.LastIndexByte(valid, '.')+1],
		"other key":           forge(t, hs, make([]byte, 32), good(now)),
		"HS512":               forge(t, jwt.SigningMethodHS512, s.key, good(now)),
		"RS256":               forge(t, jwt.SigningMethodRS256, rsaKey, good(now)),
		"HS256 of an RSA key": forge(t, hs, publicPEM, good(now)),
		"no exp":              ours(map[string]any{"exp": nil}),
		"exp as text":         ours(map[string]any{"exp": "never"}),
		"expired":             ours(map[string]any{"exp": now.Unix()}),
		"not yet":             ours(map[string]any{"nbf": now.Add(time.Hour).Unix()}),
		"other issuer":        ours(map[string]any{"iss": "elsewhere"}),
		"no issuer":           ours(map[string]any{"iss": nil}),
		"no subject":          ours(map[string]any{"sub": nil}),
		"no id":               ours(map[string]any{"jti": nil}),
		"no iat":              ours(map[string]any{"iat": nil}),
		"scopes as text":      ours(map[string]any{"scopes": "admin"}),
		"record that isn't":   ours(map[string]any{"rec": true}),
		"before the password": ours(map[string]any{"iat": now.Add(-time.Second).Unix()}),
		"too long":            ours(map[string]any{"sub": strings.Repeat("a", maxBearer)}),
		"changed payload":     changePayload(t, valid),
	} {
		_, err := s.Authenticate(t.Context(), token)
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != wire.Unauthorized {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// changePayload makes ann root and keeps the signature.
func changePayload(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	c["sub"] = "root"
	raw, _ = json.Marshal(c)
	parts[1] = base64.RawURLEncoding.EncodeToString(raw)
	return strings.Join(parts, ".")
}

func TestLoginExpires(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "x")
	token := login(t, s, "x")
	w.advance(LoginTTL - time.Second)
	if _, err := s.Authenticate(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Second)
	_, err := s.Authenticate(t.Context(), token)
	wantCode(t, err, wire.Unauthorized)
}

func TestLocalToken(t *testing.T) {
	w := newWorld(t)
	if _, err := LocalToken(w.dir, "admin", []string{"admin"}, time.Minute, w.now()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a key: %v", err)
	}
	s, _ := w.start(t, "x")
	token, err := LocalToken(w.dir, "ann", []string{"packs:call"}, time.Minute, w.now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Authenticate(t.Context(), token)
	if err != nil || c.Subject != "ann" || c.Client != "local" || c.Admin() || !c.May("packs:call") {
		t.Fatalf("got %+v, %v", c, err)
	}
	w.advance(time.Minute)
	_, err = s.Authenticate(t.Context(), token)
	wantCode(t, err, wire.Unauthorized)
	for _, ttl := range []time.Duration{0, -time.Second, LoginTTL + 1} {
		if _, err := LocalToken(w.dir, "ann", nil, ttl, w.now()); err == nil {
			t.Errorf("a local token of %s was signed", ttl)
		}
	}
	if _, err := LocalToken(w.dir, "", nil, time.Minute, w.now()); err == nil {
		t.Error("a local token of nobody was signed")
	}
}

func FuzzAuthenticate(f *testing.F) {
	w := newWorld(f)
	s, _ := w.start(f, "x")
	valid := forge(f, jwt.SigningMethodHS256, s.key, good(w.now()))
	f.Add(valid)
	f.Add(valid[:len(valid)-1])
	f.Add(forge(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(w.now())))
	f.Add("eyJhbGciOiJIUzI1NiJ9.e30.")
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		c, err := s.Authenticate(t.Context(), token)
		if token == valid {
			return
		}
		wantCode(t, err, wire.Unauthorized)
		if c.Subject != "" || c.Scopes != nil {
			t.Fatalf("a refused token named a caller: %+v", c)
		}
	})
}
