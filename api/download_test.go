package api

import (
	"mime"
	"strings"
	"testing"
	"testing/quick"
)

func TestActiveTypesAreInert(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "packs:*")
	const script = `<html><script>alert(1)</script></html>`
	for name, c := range map[string]struct{ kind, how string }{
		"a.html": {"text/html", "attachment"}, "b.svg": {"image/svg+xml", "attachment"}, "c.xhtml": {"application/xhtml+xml", "attachment"},
		"d.xml": {"text/xml", "attachment"}, "e.js": {"text/javascript", "attachment"}, "f.pdf": {"application/pdf", "attachment"},
		"g.txt": {"TEXT/HTML; charset=utf-8", "attachment"}, "h": {"", "attachment"}, "i.swf": {"application/x-shockwave-flash", "attachment"},
		"j.png": {"image/png", "inline"}, "k.txt": {"text/plain", "inline"}, "l.bin": {"application/octet-stream", "attachment"},
	} {
		entry := s.upload(ada, name, c.kind, script)
		for _, a := range []answer{s.want(200, "", "GET", entry.URL, "", ""), s.want(206, "", "GET", entry.URL, "", "", "Range: bytes=0-1,3-4")} {
			h := a.header
			if !strings.HasPrefix(h.Get("Content-Disposition"), c.how+"; filename=") || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") ||
				h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s (%s) as %s: %v", name, c.kind, h.Get("Content-Type"), h)
			}
		}
	}
}

func TestRanges(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "packs:*")
	path := artifactPath + s.upload(ada, "a.txt", "", "0123456789").Key
	etag := s.want(200, "", "GET", path, ada, "").header.Get("ETag")
	for header, want := range map[string]struct {
		status int
		body   string
	}{
		"Range: bytes=2-4":                {206, "234"},
		"Range: bytes=-3":                 {206, "789"},
		"Range: bytes=7-":                 {206, "789"},
		"Range: bytes=0-99":               {206, "0123456789"},
		"Range: lines=1-2":                {416, ""},
		"Range: bytes=10-":                {416, ""},
		"Range: bytes=4-2":                {416, ""},
		"Range: bytes=99999999999999999-": {416, ""},
		"Range: bytes=x":                  {416, ""},
		"Range: bytes=0-9,0-9,0-9":        {200, "0123456789"},
		"If-None-Match: " + etag:          {304, ""},
		`If-None-Match: "x"`:              {200, "0123456789"},
	} {
		a := s.do("GET", path, ada, "", header)
		if a.status != want.status || want.status < 300 && string(a.body) != want.body {
			t.Errorf("%s: %d %q", header, a.status, a.body)
		}
		if a.status == 416 && (a.code() != "range_not_satisfiable" || a.header.Get("Content-Type") != jsonType || a.header.Get("Content-Disposition") != "") {
			t.Errorf("%s: %v %s", header, a.header, a.body)
		}
	}
	if a := s.want(416, "range_not_satisfiable", "GET", path, ada, "", "Range: bytes=10-"); a.header.Get("Content-Range") != "bytes */10" {
		t.Errorf("Content-Range of 416: %q", a.header.Get("Content-Range"))
	}
	empty := artifactPath + s.upload(ada, "empty.txt", "", "").Key
	s.want(200, "", "GET", empty, ada, "")
	if a := s.do("GET", empty, ada, "", "Range: bytes=0-1"); a.status != 200 && a.status != 416 {
		t.Errorf("a range of nothing: %d", a.status)
	}
}

func TestWantsEntry(t *testing.T) {
	for _, c := range []struct {
		accept, own string
		want        bool
	}{
		{"", "image/png", false},
		{"*/*", "image/png", false},
		{"application/json", "image/png", true},
		{"application/json", "application/json", true},
		{"application/json;q=0", "image/png", false},
		{"application/json, */*", "image/png", false},
		{"application/json, text/plain, */*", "image/png", false},
		{"application/json, */*;q=0.8", "image/png", true},
		{"image/png;q=0.5, application/json", "image/png", true},
		{"image/png, application/json", "image/png", false},
		{"image/*, application/json;q=0.9", "image/png", false},
		{"image/*, application/json;q=0.9", "text/plain", true},
		{"application/json;q=x", "image/png", false},
		{"application/*", "image/png", false},
		{",,;,", "image/png", false},
	} {
		if got := wantsEntry([]string{c.accept}, c.own); got != c.want {
			t.Errorf("Accept %q for %s: %v", c.accept, c.own, got)
		}
	}
}

func TestEntryByAccept(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "packs:*")
	entry := s.upload(ada, "data.json", "", `{"a":1}`)
	a := s.want(200, "", "GET", artifactPath+entry.Key, ada, "", "Accept: application/json")
	if a.field(t, "key") != entry.Key {
		t.Errorf("entry: %s", a.body)
	}
	s.want(200, "", "GET", a.field(t, "url").(string), "", "")
}

func TestDispositionCannotBeBrokenOutOf(t *testing.T) {
	safe := func(name string) bool {
		d := disposition("attachment", name)
		if strings.ContainsAny(d, "\r\n\x00") || !strings.HasPrefix(d, "attachment") {
			return false
		}
		how, parameters, err := mime.ParseMediaType(d)
		return err == nil && how == "attachment" && len(parameters) <= 1
	}
	for _, name := range []string{"a\"; filename=b.exe", "a\r\nX-Evil: 1", "ü.png", "a;b", "", "\x00"} {
		if !safe(name) {
			t.Errorf("%q: %q", name, disposition("attachment", name))
		}
	}
	if err := quick.Check(safe, nil); err != nil {
		t.Error(err)
	}
}
