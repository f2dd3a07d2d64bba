package auth

import (
	"slices"
	"strings"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxScopes bounds the scopes of one token.
const maxScopes = 32

// family is a scope family with its actions; family:* is always a scope too.
type family struct {
	name    string
	actions []string
}

var families = []family{
	{"packs", []string{"read", "call", "install"}},
	{"vault", []string{"read", "write"}},
	{"sessions", []string{"read", "write"}},
	{"providers", []string{"read", "call", "write"}},
	{"mcp", nil},
}

// knownScopes lists every scope that a token may carry, admin and * first.
func knownScopes() []string {
	out := []string{"admin", "*"}
	for _, f := range families {
		for _, a := range append(f.actions[:len(f.actions):len(f.actions)], "*") {
			out = append(out, f.name+":"+a)
		}
	}
	return out
}

// grantable checks the scopes that by wants to give away and returns them without repeats.
func grantable(by Caller, scopes []string) ([]string, error) {
	if len(scopes) == 0 || len(scopes) > maxScopes {
		return nil, wire.Invalid("scopes must name 1 to %d scopes: %s", maxScopes, strings.Join(knownScopes(), ", "))
	}
	known := knownScopes()
	var out []string
	for _, s := range scopes {
		switch {
		case !slices.Contains(known, s):
			return nil, wire.Invalid("%.64q is not a scope; use one of %s", s, strings.Join(known, ", "))
		case !by.May(s):
			return nil, wire.Errorf(wire.Forbidden, "your token lacks the scope %s and so cannot give it", s)
		case !slices.Contains(out, s):
			out = append(out, s)
		}
	}
	return out, nil
}
