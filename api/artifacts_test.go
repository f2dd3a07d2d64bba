package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// form is a multipart body with one part, and its Content-Type header.
func form(t *testing.T, field, name, contentType, content string) (body, header string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	h := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition(field, name)}}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	part, err := w.CreatePart(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

// upload stores a file and returns its entry.
func (s *service) upload(token, name, contentType, content string) wire.Artifact {
	s.t.Helper()
	body, header := form(s.t, "file", name, contentType, content)
	a := s.want(201, "", "POST", "/api/v1/artifacts", token, body, header)
	var entry wire.Artifact
	if err := json.Unmarshal(a.body, &entry); err != nil {
		s.t.Fatal(err)
	}
	return entry
}

const artifactPath = "/api/v1/artifacts/"

func TestArtifactLife(t *testing.T) {
	s := start(t)
	ada, bob, admin := s.token("ada", "packs:*"), s.token("bob", "packs:*"), s.admin()
	entry := s.upload(ada, "notes.txt", "", "hello world")
	if entry.Pack != "upload" || entry.Size != 11 || !strings.HasPrefix(entry.Key, "upload/") {
		t.Errorf("entry: %+v", entry)
	}
	path := artifactPath + entry.Key
	for who, token := range map[string]string{"owner": ada, "admin": admin} {
		if a := s.want(200, "", "GET", path, token, ""); string(a.body) != "hello world" {
			t.Errorf("the %s got %q", who, a.body)
		}
	}
	s.want(404, wire.ArtifactNotFound, "GET", path, bob, "")
	s.want(404, wire.ArtifactNotFound, "DELETE", path, bob, "")
	if a := s.want(200, "", "GET", "/api/v1/artifacts", bob, ""); string(a.body) != `{"artifacts":[]}` {
		t.Errorf("bob sees %s", a.body)
	}
	if a := s.do("HEAD", path, ada, ""); a.status != 200 || a.header.Get("Content-Length") != "11" || len(a.body) != 0 {
		t.Errorf("HEAD: %d %v", a.status, a.header)
	}
	s.want(403, wire.Forbidden, "DELETE", path, s.token("ada", "packs:read"), "")
	s.want(204, "", "DELETE", path, ada, "")
	s.want(404, wire.ArtifactNotFound, "GET", path, ada, "")
	s.want(403, wire.Forbidden, "DELETE", path+"?"+signature(t, entry.URL), s.token("x", "packs:read"), "")
	s.want(401, wire.Unauthorized, "DELETE", path+"?"+signature(t, entry.URL), "", "") // a link is for reading
}

func signature(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u.RawQuery
}

func TestArtifactPages(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "packs:*")
	var keys []string
	for i := range 5 {
		keys = append(keys, s.upload(ada, fmt.Sprintf("f%d.txt", i), "", "x").Key)
	}
	cursor, seen := "", []string{}
	for range 3 {
		var page artifactPage
		if err := json.Unmarshal(s.want(200, "", "GET", "/api/v1/artifacts?limit=2&pack=upload&cursor="+url.QueryEscape(cursor), ada, "").body, &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Artifacts {
			seen = append(seen, e.Key)
		}
		cursor = page.NextCursor
	}
	if cursor != "" || len(seen) != 5 || seen[0] != keys[4] || seen[4] != keys[0] {
		t.Errorf("three pages of two: %v, stored %v, cursor %q", seen, keys, cursor)
	}
	for _, q := range []string{"limit=0", "limit=-1", "limit=1001", "limit=x", "limit=1e3", "limit=99999999999999999999", "cursor=x", "pack=../x"} {
		s.want(400, wire.InvalidInput, "GET", "/api/v1/artifacts?"+q, ada, "")
	}
}

func TestSignedURL(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "packs:*")
	entry, other := s.upload(ada, "a.txt", "", "bytes of a"), s.upload(ada, "b.txt", "", "bytes of b")
	if a := s.want(200, "", "GET", entry.URL, "", ""); string(a.body) != "bytes of a" {
		t.Errorf("signed: %q", a.body)
	}
	if a := s.want(200, "", "GET", entry.URL, "", "", "Accept: application/json"); string(a.body) != "bytes of a" {
		t.Errorf("a signed URL must not give an entry, which has a fresh URL: %s", a.body)
	}
	u, err := url.Parse(entry.URL)
	if err != nil {
		t.Fatal(err)
	}
	exp, sig := u.Query().Get("exp"), u.Query().Get("sig")
	flipped := "0" + sig[1:]
	if flipped == sig {
		flipped = "1" + sig[1:]
	}
	for name, link := range map[string]string{
		"other key":     artifactPath + other.Key + "?" + u.RawQuery,
		"no such key":   artifactPath + "upload/none.txt?" + u.RawQuery,
		"later":         u.Path + "?exp=9" + exp + "&sig=" + sig,
		"exp signed":    u.Path + "?exp=%2B" + exp + "&sig=" + sig,
		"no exp":        u.Path + "?sig=" + sig,
		"flipped":       u.Path + "?exp=" + exp + "&sig=" + flipped,
		"empty":         u.Path + "?exp=" + exp + "&sig=",
		"cut":           u.Path + "?exp=" + exp + "&sig=" + sig[:len(sig)-2],
		"twice, wrong":  u.Path + "?exp=" + exp + "&sig=" + flipped + "&sig=" + sig,
		"not hex":       u.Path + "?exp=" + exp + "&sig=zz",
		"newline in it": u.Path + "?exp=" + exp + "%0A&sig=" + sig,
	} {
		if a := s.do("GET", link, "", ""); a.status != 403 || a.code() != "forbidden" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	s.want(401, wire.Unauthorized, "GET", u.Path+"?exp="+exp, "", "")
	s.want(404, wire.ArtifactNotFound, "GET", entry.URL, s.token("bob", "packs:read"), "") // a token counts before the link
	s.want(401, wire.Unauthorized, "GET", entry.URL, "rubbish", "")
	s.want(401, wire.Unauthorized, "GET", "/api/v1/artifacts?"+u.RawQuery, "", "")
	if strings.Contains(s.log.String(), sig) {
		t.Error("the log holds a signature")
	}
}

func TestUploadRefusals(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "packs:*")
	body, kind := form(t, "document", "a.txt", "", "x")
	a := s.want(400, wire.InvalidInput, "POST", "/api/v1/artifacts", ada, body, kind)
	if !strings.Contains(string(a.body), "file") {
		t.Errorf("it must say which field is missing: %s", a.body)
	}
	s.want(400, wire.InvalidInput, "POST", "/api/v1/artifacts", ada, "", "Content-Type: multipart/form-data")
	s.want(400, wire.InvalidInput, "POST", "/api/v1/artifacts", ada, "", "Content-Type: multipart/form-data; boundary=b")
	s.want(400, wire.InvalidInput, "POST", "/api/v1/artifacts", ada, strings.Repeat("--b\r\n\r\n\r\n", 1000)+"--b--", "Content-Type: multipart/form-data; boundary=b")
	body, kind = form(t, "file", "a.txt", "no type at all", "x")
	s.want(400, wire.InvalidInput, "POST", "/api/v1/artifacts", ada, body, kind)
	body, kind = form(t, "file", "a.txt", "", "the whole file")
	s.want(400, wire.InvalidInput, "POST", "/api/v1/artifacts", ada, body[:len(body)-30], kind) // the closing boundary is missing
	got := s.raw(head("POST", "/api/v1/artifacts", ada) + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1073741824\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 413 ") {
		t.Errorf("1 GiB announced: %.200q", got)
	}
	body, kind = form(t, "file", "big.bin", "", strings.Repeat("x", artifact.MaxSize+1))
	s.want(413, wire.BodyTooLarge, "POST", "/api/v1/artifacts", ada, body, kind)
	if a := s.want(200, "", "GET", "/api/v1/artifacts", ada, ""); string(a.body) != `{"artifacts":[]}` {
		t.Errorf("a refused upload was kept: %s", a.body)
	}
	failed := 0
	for _, row := range s.rows() {
		if row.Action == "artifact.upload" && row.Status == "error" && row.Subject == "ada" {
			failed++
		}
	}
	if failed != 8 {
		t.Errorf("%d audit rows of 8 refused uploads", failed)
	}
}
