package auth

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

var root = Caller{Subject: "admin", Scopes: []string{"admin"}}

func TestMintAndRevoke(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "x")
	token, signed, err := s.Mint(t.Context(), root, TokenRequest{Name: "ci", Subject: "ann", Client: "bot", Scopes: []string{"packs:*", "packs:*", "mcp:*"}, TTL: "24h"})
	if err != nil {
		t.Fatal(err)
	}
	w.advance(time.Second)
	s, _ = w.start(t, "y") // a new admin password leaves minted tokens alone
	c, err := s.Authenticate(t.Context(), signed)
	if err != nil || c.Subject != "ann" || c.Client != "bot" || c.TokenID != token.ID || !slices.Equal(c.Scopes, []string{"packs:*", "mcp:*"}) {
		t.Fatalf("got %+v, %v", c, err)
	}
	list, err := s.Tokens(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != token.ID || list[0].CreatedBy != "admin" {
		t.Fatalf("got %+v, %v", list, err)
	}
	if err := s.Revoke(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 { // at once, and after a restart
		_, err = s.Authenticate(t.Context(), signed)
		wantCode(t, err, wire.Unauthorized)
		s, _ = w.start(t, "y")
	}
	wantCode(t, s.Revoke(t.Context(), token.ID), wire.TokenNotFound)
	wantCode(t, s.Revoke(t.Context(), "../admin/password"), wire.TokenNotFound)
}

func TestTokensExpire(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "x")
	_, signed, err := s.Mint(t.Context(), root, TokenRequest{Name: "brief", Scopes: []string{"mcp:*"}, TTL: "1s"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Mint(t.Context(), root, TokenRequest{Name: "long", Scopes: []string{"mcp:*"}}); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Second)
	_, err = s.Authenticate(t.Context(), signed)
	wantCode(t, err, wire.Unauthorized)
	list, err := s.Tokens(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "long" || list[0].ExpiresAt.Sub(list[0].CreatedAt) != DefaultTokenTTL {
		t.Fatalf("got %+v, %v", list, err)
	}
}

func TestMintRefuses(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(t, "x")
	ann := Caller{Subject: "ann", Scopes: []string{"packs:*", "vault:read"}}
	some := []string{"packs:call"}
	for name, c := range map[string]struct {
		by   Caller
		r    TokenRequest
		code wire.Code
	}{
		"no name":              {root, TokenRequest{Scopes: some}, wire.InvalidInput},
		"blank name":           {root, TokenRequest{Name: "  ", Scopes: some}, wire.InvalidInput},
		"long name":            {root, TokenRequest{Name: strings.Repeat("a", 129), Scopes: some}, wire.InvalidInput},
		"newline in a name":    {root, TokenRequest{Name: "a\nb", Scopes: some}, wire.InvalidInput},
		"escape in a subject":  {root, TokenRequest{Name: "a", Subject: "\x1b[2J", Scopes: some}, wire.InvalidInput},
		"broken UTF-8":         {root, TokenRequest{Name: "a", Client: "\xff", Scopes: some}, wire.InvalidInput},
		"no scopes":            {root, TokenRequest{Name: "a"}, wire.InvalidInput},
		"unknown family":       {root, TokenRequest{Name: "a", Scopes: []string{"pack:call"}}, wire.InvalidInput},
		"unknown action":       {root, TokenRequest{Name: "a", Scopes: []string{"packs:delete"}}, wire.InvalidInput},
		"action of another":    {root, TokenRequest{Name: "a", Scopes: []string{"mcp:read"}}, wire.InvalidInput},
		"too many scopes":      {root, TokenRequest{Name: "a", Scopes: slices.Repeat(some, 33)}, wire.InvalidInput},
		"scope that it lacks":  {ann, TokenRequest{Name: "a", Scopes: []string{"vault:write"}}, wire.Forbidden},
		"wider scope":          {ann, TokenRequest{Name: "a", Scopes: []string{"vault:*"}}, wire.Forbidden},
		"widest scope":         {ann, TokenRequest{Name: "a", Scopes: []string{"*"}}, wire.Forbidden},
		"admin":                {ann, TokenRequest{Name: "a", Scopes: []string{"admin"}}, wire.Forbidden},
		"admin by star":        {Caller{Subject: "ann", Scopes: []string{"*"}}, TokenRequest{Name: "a", Scopes: []string{"admin"}}, wire.Forbidden},
		"for somebody else":    {ann, TokenRequest{Name: "a", Subject: "bob", Scopes: some}, wire.Forbidden},
		"for ever":             {root, TokenRequest{Name: "a", Scopes: some, TTL: "367d"}, wire.InvalidInput},
		"overflowing lifetime": {root, TokenRequest{Name: "a", Scopes: some, TTL: "99999999999999999999d"}, wire.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			_, signed, err := s.Mint(t.Context(), c.by, c.r)
			wantCode(t, err, c.code)
			if signed != "" {
				t.Error("a refused token was signed")
			}
		})
	}
	if list, err := s.Tokens(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("left behind: %v, %v", list, err)
	}
	if _, _, err := s.Mint(t.Context(), ann, TokenRequest{Name: "a", Scopes: []string{"packs:*", "packs:read", "vault:read"}}); err != nil {
		t.Fatalf("a minter can give what it has: %v", err)
	}
}

func TestParseTTL(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"": DefaultTokenTTL, "24h": 24 * time.Hour, "30d": 30 * 24 * time.Hour, "366d": MaxTokenTTL, "1s": time.Second,
		"1h30m": 90 * time.Minute, "1.5s": time.Second,
		"0": 0, "0d": 0, "-1h": 0, "-1d": 0, "+1d": 0, "1.5d": 0, "d": 0, "1": 0, "999ms": 0, "8785h": 0, "65536d": 0, "1 d": 0, "∞": 0,
	} {
		got, err := parseTTL(in)
		if got != want || (want == 0) != (err != nil) {
			t.Errorf("%q: got %s, %v", in, got, err)
		}
	}
}
