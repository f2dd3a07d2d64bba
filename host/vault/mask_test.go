package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func masker(secrets ...string) *Masker {
	m := NewMasker()
	for _, s := range secrets {
		m.Add([]byte(s))
	}
	return m
}

const oddSecret = `pä"ss\wörd <&>/+?=%` + "\ttab"

func TestMask(t *testing.T) {
	quoted := func(s string) string { raw, _ := json.Marshal(s); return string(raw[1 : len(raw)-1]) }
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	login := `{"username":"ann@example.com","password":"hunter2hunter2"}`
	pem := "-----BEGIN KEY-----\nAAAAB3NzaC1yc2EAAAADAQABAAABAQ\nZm9vYmFyYmF6cXV4cXV1eGNvcmdl\n-----END KEY-----\n"
	for _, c := range []struct{ secret, text, want string }{
		{"s3cret", "", ""},
		{"s3cret", "nothing here", "nothing here"},
		{"s3cret", "a s3cret and s3crets3cret.", "a [masked] and [masked]."},
		{"s3cret", "S3CRET s3cre", "S3CRET s3cre"},
		{"abcd", "abababcdabcd", "abab[masked]"},
		{"abab", "xababab", "x[masked]ab"},
		{"abc", "abc", "abc"},
		{"s3cret-key", b64("s3cret-key") + " " + strings.TrimRight(b64("s3cret-key"), "="), "[masked]== [masked]"},
		{"s3cret-key", "Basic " + b64("u:s3cret-key"), "Basic dT[masked]"},
		{"s3cret-key", "Basic " + b64("us:s3cret-key"), "Basic dXM6[masked]=="},
		{"s3cret-key", "Basic " + b64("use:s3cret-key"), "Basic dXNlO[masked]="},
		{"s3cret-key", "Basic " + b64("s3cret-key:"), "Basic [masked]o="},
		{"??>>~~\xff\xfe", base64.URLEncoding.EncodeToString([]byte("??>>~~\xff\xfe")), "[masked]="},
		{"s3cret", hex.EncodeToString([]byte("s3cret")) + fmt.Sprintf("%X", "s3cret"), "[masked]"},
		{oddSecret, `{"x":"` + quoted(oddSecret) + `"}`, `{"x":"[masked]"}`},
		{oddSecret, quoted(`{"x":"` + quoted(oddSecret) + `"}`), `{\"x\":\"[masked]\"}`},
		{oddSecret, `"` + `p\u00e4\"ss\\w\u00f6rd <&>\/+?=%\ttab` + `"`, `"[masked]"`},
		{oddSecret, "?q=" + url.QueryEscape(oddSecret) + "&r", "?q=[masked]&r"},
		{oddSecret, "/" + strings.ToLower(url.PathEscape(oddSecret)) + "/", "/[masked]/"},
		{oddSecret, "https://u:" + strings.TrimPrefix(url.UserPassword("", oddSecret).String(), ":") + "@h", "https://u:[masked]@h"},
		{"it's (a) *key*!", "?q=it's%20(a)%20*key*!", "?q=[masked]"},
		{oddSecret, "<p>" + html.EscapeString(oddSecret), "<p>[masked]"},
		{"binary\xff\x00", "{\"x\":\"binary\\ufffd\\u0000\"} binary\uFFFD\x00", "{\"x\":\"[masked]\"} [masked]"},
		{"line-with-end\n", "x line-with-end y", "x [masked] y"},
		{"app-id:5ecre7", "app-id: 5ecre7 app-id:5ecre7", "app-id: [masked] [masked]"},
		{"app-id:abc", "app-id abc", "app-id abc"},
		{login, "ann@example.com has hunter2hunter2, " + b64("ann@example.com:hunter2hunter2"), "ann@example.com has [masked], YW5uQGV4YW1wbGUuY29tO[masked]"},
		{login, login, "[masked]"},
		{pem, pem, "[masked]"},
		{pem, strings.ReplaceAll(pem, "\n", `\n`), "[masked]"},
		{pem, "-----BEGIN KEY-----\r\nAAAAB3NzaC1yc2EAAAADAQABAAABAQ\r\n", "-----BEGIN KEY-----\r\n[masked]\r\n"},
	} {
		m := masker(c.secret)
		if got := m.MaskString(c.text); got != c.want {
			t.Errorf("%q in %q\ngot  %q\nwant %q", c.secret, c.text, got, c.want)
		}
		if got := m.MaskString(c.want); got != c.want {
			t.Errorf("masking %q again gives %q", c.want, got)
		}
	}
}

// TestSeveralSecrets: where secrets lie across each other, nothing of either is left.
func TestSeveralSecrets(t *testing.T) {
	m := masker("abcdef", "defghi", "cdef", "abcdefghijkl")
	for text, want := range map[string]string{
		"xabcdefghiy": "x[masked]y", "abcdefghijklm": "[masked]m", "ab cdef defghi": "ab [masked] [masked]", "abcdefdefghi": "[masked]",
	} {
		if got := m.MaskString(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
	m.Wipe()
	if !m.Empty() || m.MaskString("abcdef") != "abcdef" {
		t.Error("Wipe leaves something")
	}
}

func TestMaskerEdges(t *testing.T) {
	var none *Masker
	none.Add([]byte("secret"))
	none.Wipe()
	text := []byte("a secret")
	if got := none.Mask(text); &got[0] != &text[0] || none.MaskString("secret") != "secret" || !none.Empty() {
		t.Error("a nil masker masks")
	}
	m := masker("abc", "")
	if !m.Empty() || m.Longest() != 0 {
		t.Error("a short secret is masked")
	}
	kept := []byte("secret")
	m.Add(kept)
	clear(kept)
	if got := m.Mask(text); string(got) != "a [masked]" || string(text) != "a secret" || m.Longest() < len("secret")*2 {
		t.Errorf("got %q from %q, longest %d", got, text, m.Longest())
	}
	if clean := []byte("nothing"); &m.Mask(clean)[0] != &clean[0] {
		t.Error("a clean text is copied")
	}
	n := len(m.needles)
	m.Add([]byte("secret"))
	if len(m.needles) != n {
		t.Error("a secret is known twice")
	}
}

func TestMaskerConcurrency(t *testing.T) {
	m := NewMasker()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			secret := fmt.Sprint("secret-number-", i)
			m.Add([]byte(secret))
			for range 100 {
				if got := m.MaskString("x " + secret); got != "x [masked]" && !strings.HasPrefix(got, "x [masked]") {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzMask hides a secret in a text in every encoding: no needle is left outside of the masks, and what isn't secret stays.
func FuzzMask(f *testing.F) {
	f.Add("s3cret", "ann:pass", "before ", " after", uint8(0))
	f.Add(oddSecret, "x[masked]y", "\\", "\"", uint8(3))
	f.Add("aaaa", "aaaaaa", "aaa", "a", uint8(7))
	f.Add("\x112Y\x1e\xaa7;\x01\x1e\"*ۯ", "", "0", "000", uint8(123))
	f.Add("00000\xfa", "", "0", "000", uint8(147))
	f.Fuzz(func(t *testing.T, one, two, before, after string, how uint8) {
		m := masker(one, two)
		text := before + encode(one, how) + after + two + before
		got := m.MaskString(text)
		for _, n := range m.needles {
			for piece := range strings.SplitSeq(got, Mask) {
				if strings.Contains(piece, string(n.text)) {
					t.Errorf("%q is left in %q of %q", n.text, got, text)
				}
			}
		}
		if len(strings.ToValidUTF8(one, "")) >= 6 && !strings.Contains(got, Mask) {
			t.Errorf("%q as %d is not found in %q", one, how, text)
		}
		if m.Empty() && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func encode(s string, how uint8) string {
	switch how % 8 {
	case 1:
		return base64.StdEncoding.EncodeToString([]byte("u:" + s + "\n"))
	case 2:
		return base64.RawURLEncoding.EncodeToString([]byte(s))
	case 3:
		raw, _ := json.Marshal(s)
		return string(raw)
	case 4:
		return hex.EncodeToString([]byte(s))
	case 5:
		return url.QueryEscape(s)
	case 6:
		return url.PathEscape(s)
	case 7:
		return fmt.Sprintf("%X", s)
	}
	return s
}

// BenchmarkMask masks a large output for one secret that is in it once, and a hostile one.
func BenchmarkMask(b *testing.B) {
	const size = 48 << 20
	b64 := []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("some bytes of a picture \x00\x01\x02\xfe\xff"), size/40))[:size*9/10])
	words := bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog, sk_live. "), size/54)
	for name, c := range map[string]struct {
		secret string
		text   []byte
	}{
		"base64":  {"sk_live_0123456789abcdefghij", append(b64, "sk_live_0123456789abcdefghij"...)},
		"words":   {"sk_live_0123456789abcdefghij", append(words, "sk_live_0123456789abcdefghij"...)},
		"hostile": {strings.Repeat("a", MaxPlaintext-1) + "b", bytes.Repeat([]byte("a"), size)},
	} {
		b.Run(name, func(b *testing.B) {
			m := masker(c.secret)
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				m.Mask(c.text)
			}
		})
	}
}

func BenchmarkMaskerAdd(b *testing.B) {
	for b.Loop() {
		masker("sk_live_0123456789abcdefghij")
	}
}
