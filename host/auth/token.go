package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// The lifetimes of minted tokens and the length of the names in them, in bytes.
const (
	DefaultTokenTTL = 30 * 24 * time.Hour
	MaxTokenTTL     = 366 * 24 * time.Hour
	maxName         = 128
)

// TokenRequest asks for a token. Subject defaults to the minter's own, TTL ("24h", "30d") to 30 days.
type TokenRequest struct {
	Name    string   `json:"name"`
	Subject string   `json:"subject,omitempty"`
	Client  string   `json:"client,omitempty"`
	Scopes  []string `json:"scopes"`
	TTL     string   `json:"ttl,omitempty"`
}

// Token is the record of a minted token, without its signature. ID is its jti; times are RFC 3339 in whole seconds.
type Token struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Subject   string    `json:"subject"`
	Client    string    `json:"client,omitempty"`
	Scopes    []string  `json:"scopes"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Mint makes a token that by hands to a program, and returns its record and the token itself, which is kept nowhere.
// Nobody can give scopes that they lack (forbidden), nor mint for another subject without being admin.
func (s *Service) Mint(ctx context.Context, by Caller, r TokenRequest) (Token, string, error) {
	t, ttl, err := s.newToken(by, r)
	if err != nil {
		return Token{}, "", err
	}
	c := newClaims(Caller{Subject: t.Subject, Client: t.Client, Scopes: t.Scopes, TokenID: t.ID}, t.CreatedAt, ttl)
	c.Recorded = true
	signed, err := sign(s.key, c)
	if err != nil {
		return Token{}, "", err
	}
	err = s.store.Update(ctx, func(rw store.RW) error { return s.tokens.Put(rw, t.ID, t, ttl) }, store.Synced)
	if err != nil {
		return Token{}, "", fmt.Errorf("keeping a token's record: %w", err)
	}
	return t, signed, nil
}

func (s *Service) newToken(by Caller, r TokenRequest) (Token, time.Duration, error) {
	ttl, err := parseTTL(r.TTL)
	if err != nil {
		return Token{}, 0, err
	}
	scopes, err := grantable(by, r.Scopes)
	if err != nil {
		return Token{}, 0, err
	}
	if strings.TrimSpace(r.Name) == "" {
		return Token{}, 0, wire.Invalid("name is empty: say which program the token is for")
	}
	if !printable(r.Name) || !printable(r.Subject) || !printable(r.Client) {
		return Token{}, 0, wire.Invalid("name, subject and client must each be at most %d bytes of printable text", maxName)
	}
	if r.Subject == "" {
		r.Subject = by.Subject
	}
	if !by.Owns(r.Subject) {
		return Token{}, 0, wire.Errorf(wire.Forbidden, "only an admin can mint a token for another subject; leave subject out")
	}
	now := s.now().UTC().Truncate(time.Second)
	return Token{ID: newTokenID(), Name: r.Name, Subject: r.Subject, Client: r.Client, Scopes: scopes, CreatedBy: by.Subject,
		CreatedAt: now, ExpiresAt: now.Add(ttl)}, ttl, nil
}

// Tokens lists the minted tokens that have neither expired nor been revoked, newest first.
func (s *Service) Tokens(ctx context.Context) ([]Token, error) {
	out := []Token{}
	now := s.now()
	err := s.store.View(ctx, func(r store.R) error {
		return s.tokens.Scan(r, "", store.ScanOptions{}, func(_ string, t Token) (bool, error) {
			if t.ExpiresAt.After(now) {
				out = append(out, t)
			}
			return true, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing tokens: %w", err)
	}
	slices.SortStableFunc(out, func(a, b Token) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out, nil
}

// Revoke ends a minted token at once and for good; an unknown id is token_not_found.
func (s *Service) Revoke(ctx context.Context, id string) error {
	err := s.store.Update(ctx, func(rw store.RW) error {
		if _, err := s.tokens.Get(rw, id); err != nil {
			return err
		}
		return s.tokens.Delete(rw, id)
	}, store.Synced)
	if errors.Is(err, store.ErrNotFound) {
		return wire.Errorf(wire.TokenNotFound, "no token with this id; list the tokens to see their ids")
	}
	if err != nil {
		return fmt.Errorf("revoking a token: %w", err)
	}
	return nil
}

// recorded says whether a minted token still has its record.
func (s *Service) recorded(ctx context.Context, id string) (bool, error) {
	err := s.store.View(ctx, func(r store.R) error {
		_, err := s.tokens.Get(r, id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking up a token's record: %w", err)
	}
	return true, nil
}

// parseTTL reads "30d" or a Go duration from one second to MaxTokenTTL; empty is DefaultTokenTTL.
func parseTTL(s string) (time.Duration, error) {
	if s == "" {
		return DefaultTokenTTL, nil
	}
	var ttl time.Duration
	var err error
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16) // at most 65,535 days: no overflow below
		ttl = time.Duration(n) * 24 * time.Hour
	} else {
		ttl, err = time.ParseDuration(s)
	}
	if err != nil || ttl < time.Second || ttl > MaxTokenTTL {
		return 0, wire.Invalid(`ttl must be a duration such as "24h" or "30d", from 1s to %dd`, MaxTokenTTL/(24*time.Hour))
	}
	return ttl.Truncate(time.Second), nil
}

func printable(s string) bool {
	if len(s) > maxName || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
