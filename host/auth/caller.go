// Package auth says who calls and what they may do: passwords, JWTs, minted tokens and scopes.
package auth

import "strings"

// Caller is who makes a call: the subject that owns what the call makes, and the scopes of its token.
type Caller struct {
	Subject string   // owner of artifacts, jobs, sessions and memory
	Client  string   // the program that holds the token; may be empty
	Scopes  []string // family:action, family:*, * or admin
	TokenID string   // jti of the token
}

// Admin says whether the caller may do everything and sees everybody's things.
func (c Caller) Admin() bool { return c.May("admin") }

// May says whether one of the caller's scopes covers scope ("packs:call", "vault:read" …). "admin" covers all.
func (c Caller) May(scope string) bool {
	family, _, _ := strings.Cut(scope, ":")
	for _, s := range c.Scopes {
		if s == "admin" || s == scope {
			return true
		}
		if scope != "admin" && (s == "*" || s == "*:*" || s == family+":*") {
			return true
		}
	}
	return false
}

// Owns says whether the caller may see a thing that owner made.
func (c Caller) Owns(owner string) bool { return c.Subject == owner || c.Admin() }
