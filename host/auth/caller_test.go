package auth

import "testing"

func TestMay(t *testing.T) {
	for _, c := range []struct {
		scopes []string
		ask    string
		want   bool
	}{
		{nil, "packs:call", false},
		{[]string{"packs:call"}, "packs:call", true},
		{[]string{"packs:call"}, "packs:read", false},
		{[]string{"packs:call"}, "packs:*", false},
		{[]string{"packs:*"}, "packs:call", true},
		{[]string{"packs:*"}, "packs:install", true},
		{[]string{"packs:*"}, "packs:*", true},
		{[]string{"packs:*"}, "vault:read", false},
		{[]string{"packs:*"}, "*", false},
		{[]string{"packs"}, "packs:call", false},
		{[]string{"packs:"}, "packs:call", false},
		{[]string{"pack:*"}, "packs:call", false},
		{[]string{"PACKS:CALL"}, "packs:call", false},
		{[]string{""}, "packs:call", false},
		{[]string{""}, "admin", false},
		{[]string{"*"}, "packs:call", true},
		{[]string{"*"}, "mcp:*", true},
		{[]string{"*"}, "admin", false},
		{[]string{"*:*"}, "vault:write", true},
		{[]string{"*:*"}, "admin", false},
		{[]string{"admin:*"}, "admin", false},
		{[]string{"admin"}, "admin", true},
		{[]string{"admin"}, "providers:write", true},
		{[]string{"vault:read", "sessions:*"}, "sessions:write", true},
		{[]string{"vault:read", "sessions:*"}, "vault:write", false},
	} {
		if got := (Caller{Scopes: c.scopes}).May(c.ask); got != c.want {
			t.Errorf("%q may %s: got %v", c.scopes, c.ask, got)
		}
	}
}

func TestOwns(t *testing.T) {
	ann := Caller{Subject: "ann", Scopes: []string{"*"}}
	if !ann.Owns("ann") || ann.Owns("bob") || ann.Admin() {
		t.Error("a subject owns its own things and no others")
	}
	if root := (Caller{Subject: "root", Scopes: []string{"admin"}}); !root.Owns("ann") || !root.Admin() {
		t.Error("an admin sees everybody's things")
	}
}
