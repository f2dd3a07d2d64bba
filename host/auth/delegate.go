package auth

import "time"

// DelegateTTL is how long a token of [Service.Delegate] lasts.
const DelegateTTL = 2 * time.Minute

// Delegate makes a token with which the service calls itself for a caller, who has been authenticated just now: the same
// subject, client and scopes. It has no record, so what can be revoked is the caller's own token; this one is soon over.
func (s *Service) Delegate(c Caller) (string, error) {
	c.TokenID = newTokenID()
	return sign(s.key, newClaims(c, s.now(), DelegateTTL))
}
