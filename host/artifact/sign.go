package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// urlKeyName is the file of the key that URLs are signed with.
const urlKeyName = "artifact-url.key"

// urlPath is where the HTTP door serves a key.
func urlPath(key string) string {
	segments := strings.Split(key, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return "/api/v1/artifacts/" + strings.Join(segments, "/")
}

// signer signs the right to GET one key until a time.
type signer struct{ key []byte }

// query is what a URL of key needs to be good until t: exp=<unix seconds>&sig=<hex>.
func (s signer) query(key string, t time.Time) string {
	exp := strconv.FormatInt(t.Unix(), 10)
	return "exp=" + exp + "&sig=" + hex.EncodeToString(s.sum(key, exp))
}

// check refuses a signature that isn't ours or whose time is over (forbidden).
func (s signer) check(key, exp, sig string, now time.Time) error {
	got, err := hex.DecodeString(sig)
	if err != nil || !hmac.Equal(got, s.sum(key, exp)) {
		return wire.Errorf(wire.Forbidden, "the link's signature is wrong; use the url of a fresh artifact entry as it is")
	}
	// The signature is ours, so exp is as query wrote it.
	if t, err := strconv.ParseInt(exp, 10, 64); err != nil || now.Unix() >= t {
		return wire.Errorf(wire.Forbidden, "the link has expired; ask for the artifact's entry to get a fresh url")
	}
	return nil
}

// sum covers the method too, so that no link can ever mean another action. Neither the method nor a genuine exp holds a
// newline, so two different triples never read the same.
func (s signer) sum(key, exp string) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(http.MethodGet + "\n" + exp + "\n" + key))
	return m.Sum(nil)
}
