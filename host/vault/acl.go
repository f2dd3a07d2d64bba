package vault

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// wildcard stands for anything, alone and not as a part of a name.
const wildcard = "*"

// Rule lets a subject with a client use a credential. Each is a name or *; a caller without a client is fit by * alone.
type Rule struct {
	Subject string `json:"subject"`
	Client  string `json:"client"`
}

// permits says whether a rule names the caller. Scopes don't count, admin neither: an admin may add a rule instead, which
// is seen.
func permits(acl []Rule, c auth.Caller) bool {
	if c.Subject == "" {
		return false
	}
	return slices.ContainsFunc(acl, func(r Rule) bool { return covers(r.Subject, c.Subject) && covers(r.Client, c.Client) })
}

func covers(rule, name string) bool { return rule == wildcard || rule != "" && rule == name }

// checkACL returns a copy of the rules that is never nil.
func checkACL(rules []Rule) ([]Rule, error) {
	if len(rules) > MaxRules {
		return nil, wire.Invalid("acl has %d rules, at most %d are allowed: use %s, or several credentials", len(rules), MaxRules, wildcard)
	}
	for i, r := range rules {
		if !ruleField(r.Subject) || !ruleField(r.Client) {
			return nil, wire.Invalid("acl[%d]: subject and client must each be a name of at most %d bytes of printable text, or %s for any",
				i, maxRuleField, wildcard)
		}
	}
	return append([]Rule{}, rules...), nil
}

// ruleField refuses what would look like a pattern but match nobody.
func ruleField(s string) bool {
	if s == wildcard {
		return true
	}
	return s != "" && len(s) <= maxRuleField && utf8.ValidString(s) && !strings.Contains(s, wildcard) &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
