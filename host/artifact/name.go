package artifact

import (
	"crypto/rand"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// The parts of a key: maxName and maxPack bound what callers give, in bytes; slug and random are what stands in the key.
const (
	maxName   = 1024
	maxPack   = 128
	maxSlug   = 80
	randomLen = 16 // base32 digits: 80 bits, never twice
)

// emptySlug stands for a name without any letter or digit that a key can hold.
const emptySlug = "artifact"

var (
	packName  = regexp.MustCompile(`^[a-z0-9_][a-z0-9_-]*(\.[a-z0-9_-]+)*$`)
	extension = regexp.MustCompile(`^[a-z0-9]{1,10}$`)
)

func newID() string { return strings.ToLower(rand.Text()[:randomLen]) }

func checkPack(pack string) error {
	if len(pack) > maxPack || !packName.MatchString(pack) {
		return wire.Invalid("%.64q is not a pack name", pack)
	}
	return nil
}

func checkName(name string) error {
	if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return wire.Invalid("the artifact's name must be at most %d bytes of UTF-8 without control characters", maxName)
	}
	return nil
}

// splitName makes a slug and an extension ("" if it has none) of any name. Folders in it are dropped.
func splitName(name string) (slug, ext string) {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		if e := strings.ToLower(name[i+1:]); extension.MatchString(e) {
			name, ext = name[:i], e
		}
	}
	return slugOf(name), ext
}

// slugOf keeps a-z and 0-9, takes the accents off other Latin letters and turns the rest into single hyphens.
func slugOf(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(s) {
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r): // an accent that NFKD has split off
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	slug := strings.Trim(b.String()[:min(b.Len(), maxSlug)], "-")
	if slug == "" {
		return emptySlug
	}
	return slug
}
