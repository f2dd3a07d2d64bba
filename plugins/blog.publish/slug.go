package blogpublish

import (
	"strings"
	"unicode"
)

// coverSuffix ends the name of a post's image.
const coverSuffix = "-cover"

// maxSlug is the length of the longest slug, in bytes, all of which are ASCII: the artifact store keeps 80 of a name, and
// the cover's name must keep its end.
const maxSlug = 80 - len(coverSuffix)

// latin gives the plain letters for the common ones with marks: each word is the plain spelling, then what is spelt so.
const latin = `a àáâãäåāăą ae æ c çćĉċč d ďđð e èéêëēĕėęě g ĝğġģ h ĥħ i ìíîïĩīĭįı j ĵ k ķ l ĺļľłŀ n ñńņňŋ o òóôõöøōŏő oe œ ` +
	`r ŕŗř s śŝşšș ss ß t ţťŧț th þ u ùúûüũūŭůűų w ŵ y ýÿŷ z źżž`

// slugify makes a file name of a title: lower-case letters, digits and single hyphens, "post" if nothing is left.
func slugify(title string) string {
	plain := plainLetters()
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case plain[r] != "":
			b.WriteString(plain[r])
		case r == '\'', r == '’', unicode.Is(unicode.Mn, r): // it's is its; a combining mark belongs to its letter
		case b.Len() > 0 && b.String()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
	}
	slug := b.String()
	if len(slug) > maxSlug {
		end := strings.LastIndexByte(slug[:maxSlug+1], '-') // rather a word less than half a word
		if end < maxSlug/2 {
			end = maxSlug
		}
		slug = slug[:end]
	}
	if slug = strings.Trim(slug, "-"); slug == "" {
		return "post"
	}
	return slug
}

func plainLetters() map[rune]string {
	words := strings.Fields(latin)
	plain := make(map[rune]string, len(latin))
	for i := 0; i+1 < len(words); i += 2 {
		for _, r := range words[i+1] {
			plain[r] = words[i]
		}
	}
	return plain
}
