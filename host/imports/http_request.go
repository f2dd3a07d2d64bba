package imports

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of what a module may put into a request.
const (
	maxHeaders     = 64
	maxHeaderBytes = 32 << 10 // names and values together
	maxFormParts   = 256
	maxPartName    = 1 << 10 // bytes of a part's name, file name or type
)

const userAgent = "gantry/1.0"

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead}

// ours are the headers that belong to the connection, or that follow from the URL and the body.
var ours = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Upgrade", "Expect",
	"Proxy-Authorization", "Proxy-Authenticate", "Accept-Encoding",
}

// harmless are the headers that go along to another host. Any other may hold a key in its value, whatever its name.
var harmless = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent", "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}

// outgoing is a request on its way. Secrets stay apart from the rest, so that they can be left behind.
type outgoing struct {
	method  string
	url     *url.URL
	header  http.Header
	body    [][]byte // sent one after the other; blobs are not copied
	timeout time.Duration

	secretHeader http.Header
	secretQuery  map[string]string
}

// newOutgoing checks everything about r that needs neither its URL nor its credentials.
func newOutgoing(c *engine.Call, r wire.HTTPRequest) (*outgoing, error) {
	o := &outgoing{
		method: cmp.Or(r.Method, http.MethodGet), header: http.Header{}, secretHeader: http.Header{}, secretQuery: map[string]string{},
		timeout: defaultRequestTime,
	}
	if !slices.Contains(methods, o.method) {
		return nil, wire.Invalid("method is %q: use one of %s", cut(o.method), strings.Join(methods, ", "))
	}
	if r.TimeoutMS < 0 || r.MaxBytes < 0 {
		return nil, wire.Invalid("timeout_ms and max_bytes must not be negative")
	}
	if r.TimeoutMS > 0 {
		o.timeout = time.Duration(min(r.TimeoutMS, int64(time.Hour/time.Millisecond))) * time.Millisecond
	}
	if err := checkHeaders(r.Headers); err != nil {
		return nil, err
	}
	o.header.Set("User-Agent", userAgent)
	for name, value := range r.Headers {
		o.header.Set(name, value)
	}
	if err := o.setBody(c, r); err != nil {
		return nil, err
	}
	if o.body != nil && (o.method == http.MethodGet || o.method == http.MethodHead) {
		return nil, wire.Invalid("a %s request has no body", o.method)
	}
	return o, nil
}

func checkHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return wire.Invalid("%d headers are too many: at most %d", len(headers), maxHeaders)
	}
	total := 0
	seen := map[string]bool{}
	for name, value := range headers {
		total += len(name) + len(value)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !isToken(name):
			return wire.Invalid("%.40q is not the name of a header", name)
		case slices.Contains(ours, canonical):
			return wire.Invalid("the header %s is set by the service: leave it out", canonical)
		case seen[canonical]:
			return wire.Invalid("the header %s is there twice", canonical)
		case !isHeaderValue(value):
			return wire.Invalid("the header %s has a line break or another control character in its value", canonical)
		}
		seen[canonical] = true
	}
	if total > maxHeaderBytes {
		return wire.Invalid("the headers have %d bytes: at most %d", total, maxHeaderBytes)
	}
	return nil
}

// isToken says whether s is what RFC 9110 calls a token.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func isHeaderValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// setBody finds the bytes that are to be sent.
func (o *outgoing) setBody(c *engine.Call, r wire.HTTPRequest) error {
	given := 0
	for _, is := range []bool{r.Body != nil, r.BodyBlob != nil, r.Form != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return wire.Invalid("body, body_blob and form exclude each other: give one")
	case r.Body != nil:
		o.body = [][]byte{[]byte(*r.Body)}
	case r.BodyBlob != nil:
		data, err := blobOf(c, r.BodyBlob)
		o.body = [][]byte{data}
		return err
	case r.Form != nil:
		return o.setForm(c, r.Form)
	}
	return nil
}

func blobOf(c *engine.Call, ref *wire.BlobRef) ([]byte, error) {
	data, ok := c.Blobs.Get(ref.ID)
	if !ok {
		return nil, wire.Invalid("no blob %d in this call", ref.ID)
	}
	return data, nil
}

// setForm writes a multipart form around its parts.
func (o *outgoing) setForm(c *engine.Call, parts []wire.FormPart) error {
	if len(parts) > maxFormParts {
		return wire.Invalid("%d parts of a form are too many: at most %d", len(parts), maxFormParts)
	}
	boundary := rand.Text() // nothing that a part could hold by accident or by intent
	for _, p := range parts {
		head, err := partHead(p)
		if err != nil {
			return err
		}
		var data []byte
		switch {
		case (p.Text == nil) == (p.Blob == nil):
			return wire.Invalid("the form's part %q takes exactly one of text and blob", cut(p.Name))
		case p.Text != nil:
			data = []byte(*p.Text)
		default:
			if data, err = blobOf(c, p.Blob); err != nil {
				return err
			}
		}
		o.body = append(o.body, []byte("--"+boundary+"\r\n"+head+"\r\n"), data, []byte("\r\n"))
	}
	o.body = append(o.body, []byte("--"+boundary+"--\r\n"))
	o.header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	return nil
}

// quoted escapes a name as browsers do.
var quoted = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

func partHead(p wire.FormPart) (string, error) {
	if p.Name == "" || max(len(p.Name), len(p.Filename), len(p.ContentType)) > maxPartName {
		return "", wire.Invalid("a part of a form needs a name; name, filename and content_type have at most %d bytes", maxPartName)
	}
	head := `Content-Disposition: form-data; name="` + quoted.Replace(p.Name) + `"`
	if p.Filename != "" {
		head += `; filename="` + quoted.Replace(p.Filename) + `"`
	}
	head += "\r\n"
	if p.ContentType != "" {
		if _, _, err := mime.ParseMediaType(p.ContentType); err != nil || !isHeaderValue(p.ContentType) {
			return "", wire.Invalid("content_type of the form's part %q is not a MIME type such as image/png", cut(p.Name))
		}
		head += "Content-Type: " + p.ContentType + "\r\n"
	}
	return head, nil
}

// request is o as it goes over the wire, secrets and all.
func (o *outgoing) request(ctx context.Context) (*http.Request, error) {
	u := *o.url
	for name, value := range o.secretQuery {
		u.RawQuery = withParameter(u.RawQuery, name, value)
	}
	req, err := http.NewRequestWithContext(ctx, o.method, u.String(), http.NoBody)
	if err != nil {
		return nil, wire.Invalid("url and method make no request")
	}
	for name, values := range o.header {
		req.Header[name] = values
	}
	for name, values := range o.secretHeader {
		req.Header[name] = values
	}
	req.Header.Set("Accept-Encoding", "gzip") // set by us, so that the transport leaves unpacking, and its limit, to us
	if o.body != nil {
		for _, part := range o.body {
			req.ContentLength += int64(len(part))
		}
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(o.reader()), nil }
		if req.ContentLength > 0 {
			req.Body, _ = req.GetBody()
		}
	}
	return req, nil
}

func (o *outgoing) reader() io.Reader {
	readers := make([]io.Reader, len(o.body))
	for i, part := range o.body {
		readers[i] = bytes.NewReader(part)
	}
	return io.MultiReader(readers...)
}

// withParameter sets a parameter of a raw query and leaves the others as they are.
func withParameter(raw, name, value string) string {
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); pair != "" && (err != nil || key != name) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
}

// dropCredentials leaves everything behind that was meant for the former host. It never comes back, not even when a later
// redirect leads there again: by then another host has chosen the address.
func (o *outgoing) dropCredentials() {
	clear(o.secretHeader)
	clear(o.secretQuery)
	for name := range o.header {
		if !slices.Contains(harmless, name) {
			delete(o.header, name)
		}
	}
}

func (o *outgoing) dropBody() {
	o.body = nil
	o.header.Del("Content-Type")
}
