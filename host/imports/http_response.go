package imports

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// packedMargin is how much longer than its content a packed body may be, in bytes: one that unpacks to nothing must end too.
const packedMargin = 1 << 20

// receive reads an answer up to the limit and masks it before anything else sees it.
func receive(c *engine.Call, resp *http.Response, r wire.HTTPRequest, u *url.URL) (wire.HTTPResponse, error) {
	limit := int(min(cmp.Or(r.MaxBytes, defaultBody), maxBody))
	data, truncated, err := readBody(c.Secrets, resp, limit)
	if err != nil {
		return wire.HTTPResponse{}, err
	}
	out := wire.HTTPResponse{
		Status: resp.StatusCode, Headers: answerHeaders(c.Secrets, resp.Header), Size: int64(len(data)), Truncated: truncated,
		URL: u.String(),
	}
	if tells(c.Secrets, u) {
		out.URL = u.Scheme + "://" + u.Host + "/" + vault.Mask
	}
	if !r.AsBlob && len(data) <= maxInline && utf8.Valid(data) {
		out.Body = string(data)
		return out, nil
	}
	ref, err := c.Blobs.Add(data)
	if err != nil {
		return wire.HTTPResponse{}, err
	}
	out.Blob = &ref
	return out, nil
}

// readBody returns at most limit bytes of the unpacked and masked body. It reads on a little, so that a secret that lies across
// the limit is seen whole: whoever chooses the limit could otherwise read it out from its beginning.
func readBody(m *vault.Masker, resp *http.Response, limit int) (data []byte, truncated bool, err error) {
	body := resp.Body.(io.Reader)
	margin := m.Longest()
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") && resp.ContentLength != 0 && resp.Request.Method != http.MethodHead {
		z, err := gzip.NewReader(io.LimitReader(body, int64(limit+margin+packedMargin)))
		if errors.Is(err, io.EOF) {
			return nil, false, nil // nothing, said to be packed
		}
		if err != nil {
			return nil, false, errUnpack
		}
		defer z.Close()
		body = z
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	}
	data, err = io.ReadAll(io.LimitReader(body, int64(limit+margin+1)))
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return nil, false, errUnpack
	}
	if err != nil {
		return nil, false, err
	}
	cutOff := len(data) > limit+margin
	truncated = len(data) > limit
	data = m.Mask(data)
	if cutOff {
		data = data[:max(0, len(data)-margin-1)] // what of a secret may stand at the end, unseen
	}
	if truncated {
		data = wholeRunes(data[:min(len(data), limit)])
	}
	return data, truncated, nil
}

var errUnpack = wire.Failed("the answer says that it is packed with gzip, but it cannot be unpacked")

// wholeRunes drops the part of a character that a cut has left at the end of a text.
func wholeRunes(data []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if b := data[len(data)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-n:]) {
				return data[:len(data)-n]
			}
			break
		}
	}
	return data
}

// answerHeaders are the headers as the module may see them, cut at a limit in the order of their names.
func answerHeaders(m *vault.Masker, h http.Header) map[string][]string {
	out := map[string][]string{}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if name == "Set-Cookie" {
				cookie, _, _ := strings.Cut(value, "=")
				value = cookie + "=" + vault.Mask
			}
			value = strings.ToValidUTF8(m.MaskString(value), "\uFFFD")
			if total += len(name) + len(value); total > maxAnswerHeader {
				return out
			}
			out[m.MaskString(name)] = append(out[m.MaskString(name)], value)
		}
	}
	return out
}

// failure says why no answer came: never where a name led to, and nothing of what was sent.
func failure(ctx, rctx context.Context, o *outgoing, err error) error {
	var (
		known     *wire.Error
		untrusted *tls.CertificateVerificationError
		host      = cut(o.url.Host)
	)
	if refused := egress.AsWire(err); refused != nil {
		return refused
	}
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return ctx.Err()
	case rctx.Err() != nil:
		return wire.Errorf(wire.Timeout, "%s did not answer within %v", host, o.timeout)
	case errors.As(err, &untrusted):
		return wire.Failed("%s cannot be reached: its certificate is not valid for it", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return wire.Failed("%s cannot be reached: it refuses connections", host)
	}
	return wire.Failed("%s cannot be reached, or its answer broke off", host)
}
