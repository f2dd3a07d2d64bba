package imports

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// What http_send adds to a request: compare with the plain client of the same run.
func BenchmarkSend(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		body := strings.Repeat("text ", size/5)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		b.Cleanup(server.Close)
		w := newWeb(b, nil)
		name := fmt.Sprintf("%d KiB", size>>10)
		b.Run("plain client/"+name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{}}
			for b.Loop() {
				resp, err := client.Get(server.URL)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAll(resp.Body); err != nil {
					b.Fatal(err)
				}
				_ = resp.Body.Close()
			}
		})
		b.Run("http_send/"+name, func(b *testing.B) {
			for b.Loop() {
				w.mustSend(wire.HTTPRequest{URL: server.URL})
			}
		})
		b.Run("http_send with a credential/"+name, func(b *testing.B) {
			for b.Loop() {
				w.mustSend(wire.HTTPRequest{URL: server.URL, Auth: []wire.HTTPAuth{{Credential: "key", As: "bearer"}}})
			}
		})
	}
}
