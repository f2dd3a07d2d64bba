package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The shortest encoded text and the shortest line that are masked, in bytes: shorter ones turn up by chance, and would damage
// what a call says.
const (
	minEncoded = 6
	minLine    = 16
)

// needlesOf lists the texts by which a secret is known.
func needlesOf(secret []byte) []needle {
	var list []needle
	for _, part := range partsOf(secret) {
		list = append(list, needle{text: bytes.Clone(part)})
		for _, text := range encodingsOf(part) {
			if len(text) >= minEncoded && text != string(part) {
				list = append(list, needle{text: []byte(text)})
			}
		}
		list = append(list, base64Of(part)...)
	}
	for line := range bytes.Lines(secret) {
		line = bytes.TrimSpace(line)
		if len(line) >= minLine && len(line) < len(secret) && !bytes.HasPrefix(line, []byte("-----")) {
			list = append(list, needle{text: bytes.Clone(line)})
		}
	}
	return list
}

// partsOf are the secret, itself without the white space around it, and what is secret in it by itself.
func partsOf(secret []byte) [][]byte {
	parts := [][]byte{secret}
	add := func(p []byte) {
		if len(p) >= MinPlaintext && len(p) < len(secret) {
			parts = append(parts, p)
		}
	}
	trimmed := bytes.TrimSpace(secret)
	add(trimmed)
	if l, ok := parseLogin(secret); ok {
		add([]byte(l.Password))
	} else if _, after, found := bytes.Cut(trimmed, []byte(":")); found && !bytes.ContainsRune(trimmed, '\n') {
		add(after)
	}
	return parts
}

// encodingsOf are the texts that a secret becomes in JSON (also JSON inside of JSON), URLs, HTML and hex.
func encodingsOf(part []byte) []string {
	text := string(part)
	list := []string{hex.EncodeToString(part), strings.ToUpper(hex.EncodeToString(part))}
	form := url.QueryEscape(text)
	component := componentMarks.Replace(form)
	for _, escaped := range []string{
		form, strings.ReplaceAll(form, "+", "%20"), component, url.PathEscape(text),
		strings.TrimPrefix(url.UserPassword("", text).String(), ":"),
	} {
		list = append(list, escaped, percent.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	list = append(list, html.EscapeString(text))
	if !utf8.Valid(part) {
		if text = string([]rune(text)); len(strings.ReplaceAll(text, replacement, "")) < minEncoded {
			return list
		}
		list = append(list, text)
		for _, escaped := range jsonOf(text) { // as encoding/json does: that character escaped, all others not
			list = append(list, strings.ReplaceAll(escaped, replacement, `\ufffd`))
		}
	}
	for _, escaped := range jsonOf(text) {
		list = append(list, escaped)
		list = append(list, jsonOf(escaped)...)
	}
	return list
}

// replacement is what becomes of each byte that is no UTF-8 when a secret passes through JSON.
const replacement = "\uFFFD"

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// componentMarks makes what JavaScript's encodeURIComponent leaves as it is.
var componentMarks = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// jsonOf are the ways in which encoders write a text in JSON, without the quotes: plain, with the marks of HTML escaped,
// with all but ASCII escaped, and with slashes escaped too.
func jsonOf(text string) []string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return nil
	}
	plain := string(quoted[1 : len(quoted)-1])
	marks := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(plain)
	ascii := asciiOf(plain)
	return []string{plain, marks, ascii, strings.ReplaceAll(plain, "/", `\/`), strings.ReplaceAll(ascii, "/", `\/`)}
}

func asciiOf(text string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(digits[u>>shift&15])
			}
		}
	}
	return b.String()
}

// base64Of are the characters that a secret becomes in base64 that holds it at any of the three alignments, as in the
// Authorization header of user:password. The characters that it shares with a neighbour are left to the edges.
func base64Of(part []byte) []needle {
	const bitsOfByte, bitsOfChar, bytesOfGroup = 8, 6, 3
	var list []needle
	for shift := range bytesOfGroup {
		padded := append(make([]byte, shift), part...)
		first := (shift*bitsOfByte + bitsOfChar - 1) / bitsOfChar
		last := len(padded) * bitsOfByte / bitsOfChar
		if last-first < minEncoded {
			continue
		}
		std := base64.RawStdEncoding.EncodeToString(padded)[first:last]
		n := needle{text: []byte(std), left: shift > 0, right: len(padded)%bytesOfGroup > 0}
		list = append(list, n)
		if text := base64.RawURLEncoding.EncodeToString(padded)[first:last]; text != std {
			list = append(list, needle{text: []byte(text), left: n.left, right: n.right})
		}
	}
	return list
}
