package artifact

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var keyShape = regexp.MustCompile(`^a\.b/[a-z2-7]{16}-[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?\.[a-z0-9]{1,10}$`)

func TestSplitName(t *testing.T) {
	for in, want := range map[string][2]string{
		"report.pdf":                    {"report", "pdf"},
		"My  Photo (1).JPG":             {"my-photo-1", "jpg"},
		"../../etc/passwd":              {"passwd", ""},
		`C:\temp\..\a.txt`:              {"a", "txt"},
		"..":                            {"artifact", ""},
		"...":                           {"artifact", ""},
		"":                              {"artifact", ""},
		"/":                             {"artifact", ""},
		".gitignore":                    {"gitignore", ""},
		"a.tar.gz":                      {"a-tar", "gz"},
		"Größe Ñandú ﬁle.md":            {"gro-e-nandu-file", "md"},
		"日本語.txt":                       {"artifact", "txt"},
		"v1.2 final":                    {"v1-2-final", ""},
		"x.verylongextension":           {"x-verylongextension", ""},
		"x.p\u200bng":                   {"x-p-ng", ""},
		"--a--b--":                      {"a-b", ""},
		"%2e%2e%2f":                     {"2e-2e-2f", ""},
		strings.Repeat("a", 90) + ".md": {strings.Repeat("a", 80), "md"},
		strings.Repeat("ab ", 40):       {strings.TrimSuffix(strings.Repeat("ab-", 27)[:80], "-"), ""},
	} {
		slug, ext := splitName(in)
		if slug != want[0] || ext != want[1] {
			t.Errorf("%q: got %q and %q, want %q", in, slug, ext, want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("../../x.png")
	f.Add("\x00\xff.e")
	f.Add("ß.İ")
	s := newWorld(f).open(f)
	f.Fuzz(func(t *testing.T, name string) {
		if checkName(name) != nil {
			return
		}
		if !utf8.ValidString(name) || len(name) > maxName {
			t.Fatalf("%q was taken", name)
		}
		e, err := s.newEntry(Put{Pack: "a.b", Owner: "ann", Name: name}, nil)
		if err != nil || !keyShape.MatchString(e.Key) {
			t.Fatalf("%q became %q, %v", name, e.Key, err)
		}
	})
}

func TestCheckName(t *testing.T) {
	for _, bad := range []string{"a\x00b", "a\r\nb", "\x7f", "\xff", "\u0085", strings.Repeat("a", maxName+1)} {
		if checkName(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, bad := range []string{"", ".", "..", "a/b", "a..b", "A", "a b", "-a", ".a", strings.Repeat("a", maxPack+1)} {
		if checkPack(bad) == nil {
			t.Errorf("pack %q was taken", bad)
		}
	}
	for _, good := range []string{"upload", "stock.search", "fs.read", "a.b.c.d"} {
		if err := checkPack(good); err != nil {
			t.Error(err)
		}
	}
}

func TestContentType(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range []struct{ given, ext, head, want string }{
		{"", "png", "", "image/png"},
		{"", "md", "<html>", "text/markdown; charset=utf-8"},
		{"", "", string(png), "image/png"},
		{"", "weird", "hello", "text/plain; charset=utf-8"},
		{"", "weird", "\x00\x01", "application/octet-stream"},
		{"", "", "", "text/plain; charset=utf-8"},
		{"IMAGE/WebP", "png", "", "image/webp"},
		{`text/html;charset="utf-8"`, "png", "", "text/html; charset=utf-8"},
		{"text/html\r\nSet-Cookie: a=b", "", "", ""},
		{"text/html; a=\"b\r\nX: y\"", "", "", ""},
		{"text", "", "", ""},
		{"/", "", "", ""},
		{"text/", "", "", ""},
		{"text/html; charset", "", "", ""},
		{"text/html; a=b; a=c", "", "", ""},
		{"text/" + strings.Repeat("x", 300), "", "", ""},
	} {
		got, err := contentTypeOf(c.given, c.ext, []byte(c.head))
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q, %q: got %q, %v", c.given, c.ext, got, err)
		}
		if strings.ContainsAny(got, "\r\n") {
			t.Errorf("%q breaks a header", got)
		}
	}
	for in, want := range map[string]string{"image/jpeg": "jpg", "text/plain; charset=utf-8": "txt", "audio/mpeg": "mp3", "x/unknown": "bin"} {
		if got := extensionOf(in); got != want {
			t.Errorf("%s: got %s", in, got)
		}
	}
}
