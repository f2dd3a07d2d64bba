package hosttest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// errHungUp says that the server closed the connection without an answer.
var errHungUp = errors.New("the connection ended without an answer")

// rawRequest is what no well-behaved client sends. The head is written, then body; the connection's write side is closed if
// hangUp is set; then the answer is awaited, while the body may still be on its way.
type rawRequest struct {
	method, path, token string
	headers             []string
	body                io.Reader // nil: nothing follows the head
	hangUp              bool
}

// send makes the request on a connection of its own. errHungUp is an answer that some tests allow; a hang fails.
func (r rawRequest) send(t *testing.T, url string) (Answer, error) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(requestLimit)); err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		r.write(conn)
	}()
	defer func() { conn.Close(); <-written }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("%s %s: neither an answer nor an end within %s", r.method, r.path, requestLimit)
		}
		return Answer{}, fmt.Errorf("%w: %v", errHungUp, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: in the middle of one: %v", errHungUp, err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// write ignores errors: a server that has seen enough may close, and its answer is what counts.
func (r rawRequest) write(conn net.Conn) {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: test\r\nConnection: close\r\n", r.method, r.path)
	if r.token != "" {
		head += "Authorization: Bearer " + r.token + "\r\n"
	}
	for _, h := range r.headers {
		head += h + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return
	}
	if r.body != nil {
		if c, ok := r.body.(io.Closer); ok {
			defer c.Close()
		}
		if _, err := io.Copy(conn, r.body); err != nil {
			return
		}
	}
	if tcp, ok := conn.(*net.TCPConn); ok && r.hangUp {
		_ = tcp.CloseWrite()
	}
}

// chunked wraps a body in HTTP's chunked encoding.
func chunked(body io.Reader) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := body.Read(buf)
			if n > 0 {
				if _, werr := fmt.Fprintf(pw, "%x\r\n%s\r\n", n, buf[:n]); werr != nil {
					return
				}
			}
			if err != nil {
				_, _ = io.WriteString(pw, "0\r\n\r\n")
				_ = pw.Close()
				return
			}
		}
	}()
	return pr
}

// endless is a reader of spaces, which JSON allows before a value for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
