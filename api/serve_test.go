package api

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// serveRaw serves h and returns its address, the function that ends it, and what Serve returned.
func serveRaw(t *testing.T, h http.Handler, o ServeOptions) (url string, stop func(), done chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	done = make(chan error, 1)
	go func() { done <- Serve(ctx, l, h, o) }()
	t.Cleanup(cancel)
	return "http://" + l.Addr().String(), cancel, done
}

func TestServeLetsRequestsEnd(t *testing.T) {
	inside, goOn := make(chan struct{}), make(chan struct{})
	url, stop, done := serveRaw(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(inside)
		<-goOn
		if r.Context().Err() != nil {
			t.Error("the request was cancelled within the grace")
		}
		_, _ = io.WriteString(w, "done")
	}), ServeOptions{Grace: serveTimeout, MaxConnections: 4})
	got := make(chan string, 1)
	go func() {
		resp, err := http.Get(url)
		if err != nil {
			got <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		got <- string(b)
	}()
	<-inside
	stop()
	for { // until the listener is closed, the end has not begun
		conn, err := net.DialTimeout("tcp", url[len("http://"):], time.Second)
		if err != nil {
			break
		}
		conn.Close()
	}
	close(goOn)
	if text := <-got; text != "done" {
		t.Errorf("the running request got %q", text)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServeCancelsWhatOutlivesTheGrace(t *testing.T) {
	inside, cancelled := make(chan struct{}), make(chan struct{})
	url, stop, done := serveRaw(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(inside)
		<-r.Context().Done()
		close(cancelled)
	}), ServeOptions{Grace: 10 * time.Millisecond, MaxConnections: 4})
	go func() {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
		}
	}()
	<-inside
	stop()
	<-cancelled
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServeHoldsBackConnections(t *testing.T) {
	release := make(chan struct{})
	url, _, _ := serveRaw(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
		}
	}), ServeOptions{Grace: time.Second, MaxConnections: 1})
	dial := func(path string) net.Conn {
		conn, err := net.Dial("tcp", url[len("http://"):])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	first, second := dial("/wait"), dial("/")
	defer first.Close()
	defer second.Close()
	if err := second.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := second.Read(make([]byte, 1)); err == nil {
		t.Errorf("a second connection got %d bytes beside the only one allowed", n)
	}
	close(release)
	if err := second.SetReadDeadline(time.Now().Add(serveTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Read(make([]byte, 1)); err != nil {
		t.Errorf("after the first ended: %v", err)
	}
}
