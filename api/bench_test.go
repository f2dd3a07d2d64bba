package api

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/hosttest"
	"github.com/gantry-packs/gantry/plugins"
)

// BenchmarkHTTP asks a whole service, core packs and all, over HTTP on the loopback. The client's share is in the figures.
func BenchmarkHTTP(b *testing.B) {
	url, token := serveCore(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	b.Cleanup(client.CloseIdleConnections)
	ask := func(method, path string, body []byte) error {
		req, err := http.NewRequest(method, url+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", jsonType)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			b.Errorf("%s: %s", path, resp.Status)
		}
		return nil
	}
	health := func() error { return ask("GET", "/healthz", nil) }
	list := func() error { return ask("POST", "/api/v1/packs/artifact.list", []byte(`{"limit":10}`)) }
	b.Run("healthz", func(b *testing.B) { oneByOne(b, health) })
	b.Run("call", func(b *testing.B) { oneByOne(b, list) })
	b.Run("call-16-clients", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
		done := hosttest.MeasureCPU(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := list(); err != nil {
					b.Error(err)
					return
				}
			}
		})
		done()
	})
}

func oneByOne(b *testing.B, do func() error) {
	b.ReportAllocs()
	done := hosttest.MeasureCPU(b)
	for b.Loop() {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	done()
}

// serveCore serves the core packs and answers the URL with a token that may call them.
func serveCore(b *testing.B) (url, token string) {
	b.Helper()
	if plugins.CoreDigest() == "" {
		b.Skip("run `make build` first: core.wasm is not there")
	}
	cfg, err := config.FromEnv(func(name string) (string, bool) {
		v, ok := map[string]string{"GANTRY_DATA_DIR": b.TempDir(), "GANTRY_ADMIN_PASSWORD": adminPassword}[name]
		return v, ok
	})
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	h, err := host.Open(b.Context(), cfg, host.Core{FS: plugins.FS(), Module: plugins.Core, Digest: plugins.CoreDigest()}, log)
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Warm(b.Context(), func(string) {}); err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, token, err = h.Auth.Mint(b.Context(), auth.Caller{Subject: "admin", Scopes: []string{"admin"}},
		auth.TokenRequest{Name: "bench", Subject: "bench", Scopes: []string{"packs:call"}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, l, New(h, "v0.0.0-test"), ServeOptions{Grace: cfg.ShutdownGrace, MaxConnections: cfg.MaxConnections, Log: log})
	}()
	b.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	})
	return "http://" + l.Addr().String(), token
}
