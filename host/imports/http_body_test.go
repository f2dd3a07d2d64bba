package imports

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// repeated serves a piece of gzip over and over, as one body.
func repeated(piece []byte, times int) (h http.HandlerFunc, sent *int) {
	sent = new(int)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for range times {
			n, err := w.Write(piece)
			if *sent += n; err != nil {
				return
			}
		}
	}, sent
}

func TestBodies(t *testing.T) {
	w := newWeb(t, nil)
	text := strings.Repeat("ä", 1000)
	body := []byte(text)
	encoding := "gzip"
	server, all := upstream(t, func(rw http.ResponseWriter, _ *http.Request) {
		if encoding != "" {
			rw.Header().Set("Content-Encoding", encoding)
		}
		_, _ = rw.Write(body)
	})
	body = packed(t, body)
	resp := w.mustSend(wire.HTTPRequest{URL: server.URL})
	if resp.Body != text || resp.Truncated || resp.Headers["Content-Encoding"] != nil || (*all)[0].header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("packed: %d bytes, %v", resp.Size, resp.Headers)
	}
	if resp = w.mustSend(wire.HTTPRequest{URL: server.URL, MaxBytes: 1001}); resp.Body != text[:1000] || !resp.Truncated || resp.Size != 1000 {
		t.Errorf("cut within a character: %d bytes, truncated %v", resp.Size, resp.Truncated)
	}
	if resp = w.mustSend(wire.HTTPRequest{URL: server.URL, MaxBytes: 2000}); resp.Truncated || resp.Size != 2000 {
		t.Errorf("just fits: %d bytes, truncated %v", resp.Size, resp.Truncated)
	}
	body = body[:len(body)-9]
	w.refused(wire.HTTPRequest{URL: server.URL}, wire.HandlerFailed, "broke off")
	body = []byte("not gzip at all")
	w.refused(wire.HTTPRequest{URL: server.URL}, wire.HandlerFailed, "cannot be unpacked")
	if resp = w.mustSend(wire.HTTPRequest{URL: server.URL, Method: "HEAD"}); resp.Status != 200 || resp.Size != 0 {
		t.Errorf("HEAD: %+v", resp)
	}
	encoding, body = "", []byte("\xff\xfe\x00binary")
	if resp = w.mustSend(wire.HTTPRequest{URL: server.URL}); resp.Blob == nil || resp.Blob.Size != 9 || resp.Body != "" {
		t.Errorf("binary: %+v", resp)
	}
	body = bytes.Repeat([]byte("a"), maxInline+1)
	if resp = w.mustSend(wire.HTTPRequest{URL: server.URL}); resp.Blob == nil || resp.Size != maxInline+1 {
		t.Errorf("long text: %d bytes, inline %v", resp.Size, resp.Blob == nil)
	}
}

// 10 GiB of zeros in 10 MB of gzip.
func TestGzipBomb(t *testing.T) {
	w := newWeb(t, nil)
	piece := packed(t, make([]byte, 64<<20))
	bomb, sent := repeated(piece, 160)
	server := httptest.NewServer(bomb)
	resp := w.mustSend(wire.HTTPRequest{URL: server.URL, MaxBytes: 1 << 20})
	server.Close() // waits for the handler
	if !resp.Truncated || resp.Size != 1<<20 {
		t.Errorf("%d bytes, truncated %v", resp.Size, resp.Truncated)
	}
	if *sent >= len(piece)*160 {
		t.Errorf("all %d bytes of the bomb were taken", *sent)
	}
	// And one that unpacks to nothing, for ever.
	empty, _ := repeated(bytes.Repeat(packed(t, nil), 1000), 1000)
	server = httptest.NewServer(empty)
	defer server.Close()
	w.refused(wire.HTTPRequest{URL: server.URL, MaxBytes: 1 << 20}, wire.HandlerFailed, "broke off")
}

// Who chooses where an answer is cut must not see a secret cut in two.
func TestSecretAcrossTheLimit(t *testing.T) {
	w := newWeb(t, nil)
	server, _ := upstream(t, func(rw http.ResponseWriter, r *http.Request) {
		echo := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		fmt.Fprint(rw, "1234567 "+strings.Repeat(echo+" ", 50)+strings.Repeat("x", 5000))
	})
	for limit := range 120 {
		resp := w.mustSend(wire.HTTPRequest{URL: server.URL, MaxBytes: int64(limit) + 1, Auth: []wire.HTTPAuth{{Credential: "key", As: "bearer"}}})
		if strings.Contains(resp.Body, apiKey[:3]) || resp.Size > int64(limit)+1 || !resp.Truncated {
			t.Errorf("limit %d: %q", limit+1, resp.Body)
		}
	}
}

func TestTimeout(t *testing.T) {
	w := newWeb(t, nil)
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			_, _ = io.WriteString(rw, "some")
			rw.(http.Flusher).Flush()
		}
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	defer server.Close()
	defer close(gone)
	for _, path := range []string{"/", "/slow"} {
		began := time.Now()
		w.refused(wire.HTTPRequest{URL: server.URL + path, TimeoutMS: 30}, wire.Timeout, "30ms")
		if time.Since(began) > 20*time.Second {
			t.Error("the timeout was not kept")
		}
	}
	unused := httptest.NewServer(nil)
	unused.Close()
	w.refused(wire.HTTPRequest{URL: unused.URL}, wire.HandlerFailed, "refuses connections")
}
