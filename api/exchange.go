package api

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// A reader who takes longer than writePatience for writePiece bytes of an answer is cut off: it would hold a connection and
// an answer of many megabytes for ever.
const (
	writePiece    = 256 << 10
	writePatience = 30 * time.Second
)

// exchange is one request on its way through the door: the writer of its answer, and what is known of it so far. The door
// makes the log line, the audit row and the metrics of it.
type exchange struct {
	http.ResponseWriter
	control *http.ResponseController

	id      string // request id
	remote  string // the caller's address without the port
	started time.Time

	route   string      // pattern of the route; "" when none fits
	action  string      // the audit row's
	pack    string      // that the path names
	caller  auth.Caller // zero until the token is checked
	signed  bool        // no token, but a signed URL
	audited bool        // a part further in writes the audit row

	status int // 0 until the answer begins
	size   int64
	err    *wire.Error // what the caller was told
}

type exchangeKey struct{}

// exchangeOf is the request's exchange; every request that reaches a handler has one.
func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// with returns r carrying x.
func (x *exchange) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader notes the status.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write gives the reader time for every piece anew.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	written := 0
	for {
		piece := b[written:min(len(b), written+writePiece)]
		x.allowWrite()
		n, err := x.ResponseWriter.Write(piece)
		written += n
		x.size += int64(n)
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// allowWrite gives the connection time for the next piece; it is the network's clock that counts here.
func (x *exchange) allowWrite() {
	_ = x.control.SetWriteDeadline(time.Now().Add(writePatience)) // a writer without deadlines is a test's
}

// hostOf is the host part of an address such as http.Request.RemoteAddr.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
