package auth

import (
	"regexp"
	"strings"
	"testing"
)

func TestHashAndMatch(t *testing.T) {
	h := hashPassword("päss wörd")
	if !strings.HasPrefix(h, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(h, "wörd") {
		t.Fatalf("not a PHC string of the right cost: %s", h)
	}
	p, err := parsePHC(h)
	if err != nil {
		t.Fatal(err)
	}
	if !p.matches("päss wörd") || p.matches("pass word") || p.matches("") {
		t.Error("the hash matches the wrong passwords")
	}
	if hashPassword("päss wörd") == h {
		t.Error("two hashes share a salt")
	}
}

func TestParsePHCRefuses(t *testing.T) {
	good := "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	if _, err := parsePHC(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"algorithm":     {"argon2id", "argon2i"},
		"version":       {"v=19", "v=16"},
		"no memory":     {"m=19456", "m=0"},
		"memory bomb":   {"m=19456", "m=4294967295"},
		"time bomb":     {"t=2", "t=100000"},
		"no threads":    {"p=1", "p=0"},
		"trailing":      {"p=1$", "p=1,x=2$"},
		"salt":          {"AAAAAAAAAAAAAAAAAAAAAA$", "!$"},
		"short key":     {"$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "$AAAA"},
		"missing parts": {"$v=19", ""},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if _, err := parsePHC(bad); bad == good || err == nil {
			t.Errorf("%s: %s was taken", name, bad)
		}
	}
}

func TestNewPassword(t *testing.T) {
	a, b := newPassword(), newPassword()
	if !regexp.MustCompile(`^([a-z2-7]{4}-){6}[a-z2-7]{4}$`).MatchString(a) || a == b {
		t.Errorf("got %s and %s", a, b)
	}
}
