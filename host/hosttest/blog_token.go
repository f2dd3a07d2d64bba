package hosttest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// blogMaxAge is how old a token may be, whatever it says of its own end.
const blogMaxAge = 5 * time.Minute

// blogAudience is Ghost's own pattern.
var blogAudience = regexp.MustCompile(`/?admin/?$`)

// authenticate checks an Authorization header in the order in which Ghost does and returns the id of the key.
// It reads JWTs by itself: a second reading of the format, apart from the code under test.
func (b *Blog) authenticate(header string, now time.Time) (id string, refused *blogRefusal) {
	if header == "" {
		return "", &blogRefusal{http.StatusForbidden, "NoPermissionError", "Authorization failed", "Unable to determine the authenticated user or integration. Check that cookies are being passed through if using session authentication.", ""}
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Ghost") || token == "" {
		return "", unauthorized(`Authorization header format is "Authorization: Ghost [token]"`, "INVALID_AUTH_HEADER")
	}
	parts := strings.Split(token, ".")
	var head struct{ Alg, Kid string }
	if len(parts) != 3 || !unpackPart(parts[0], &head) {
		return "", &blogRefusal{http.StatusBadRequest, "BadRequestError", "Invalid token", "", "INVALID_JWT"}
	}
	if head.Kid == "" {
		return "", &blogRefusal{http.StatusBadRequest, "BadRequestError", "Admin API kid missing.", "", "MISSING_ADMIN_API_KID"}
	}
	fault, known := b.keys[head.Kid]
	if !known {
		return "", unauthorized("Unknown Admin API Key", "UNKNOWN_ADMIN_API_KEY")
	}
	if why := wrongToken(parts, head.Alg, b.keySecret(fault), now); why != "" {
		return "", unauthorized("Invalid token: "+why, "INVALID_JWT")
	}
	return head.Kid, nil
}

func unauthorized(message, code string) *blogRefusal {
	return &blogRefusal{http.StatusUnauthorized, "UnauthorizedError", message, "", code}
}

// wrongToken says what is wrong with a token's signature and claims, "" if nothing is.
func wrongToken(parts []string, alg, secret string, now time.Time) string {
	key, err := hex.DecodeString(secret)
	if err != nil {
		return "secret is not hex"
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(parts[0] + "." + parts[1]))
	given, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || alg == "HS256" && !hmac.Equal(given, mac.Sum(nil)) {
		return "invalid signature"
	}
	var claims struct {
		Aud      string
		Iat, Exp *int64
	}
	switch {
	case alg != "HS256":
		return "invalid algorithm"
	case !unpackPart(parts[1], &claims):
		return "jwt malformed"
	case claims.Exp != nil && now.Unix() >= *claims.Exp:
		return "jwt expired"
	case !blogAudience.MatchString(claims.Aud):
		return `jwt audience invalid. expected: /\/?admin\/?$/`
	case claims.Iat == nil:
		return "iat required when maxAge is specified"
	case now.Sub(time.Unix(*claims.Iat, 0)) >= blogMaxAge:
		return "maxAge exceeded"
	}
	return ""
}

// unpackPart reads one of the first two parts of a JWT.
func unpackPart(part string, v any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(raw, v) == nil
}
