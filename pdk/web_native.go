//go:build !wasip1

package pdk

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of a native request, which are the defaults of the real host.
const (
	nativeTimeout  = 30 * time.Second
	nativeMaxBytes = 32 << 20
	nativeInline   = 4 << 20
)

func setting(name string) (string, bool) {
	h := native.Load()
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.Settings[name]
	return v, ok
}

// sendHTTP makes the request without any of the real host's guards.
func (h *Host) sendHTTP(r wire.HTTPRequest) (wire.HTTPResponse, error) {
	body, contentType, err := h.bodyOf(r)
	if err != nil {
		return wire.HTTPResponse{}, err
	}
	req, err := http.NewRequest(cmp.Or(r.Method, http.MethodGet), r.URL, bytes.NewReader(body))
	if err != nil {
		return wire.HTTPResponse{}, wire.Invalid("the request cannot be made: %s", err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if err := h.authorize(req, r); err != nil {
		return wire.HTTPResponse{}, err
	}
	client := http.Client{Transport: h.HTTP, Timeout: cmp.Or(time.Duration(r.TimeoutMS)*time.Millisecond, nativeTimeout)}
	resp, err := client.Do(req)
	if err != nil {
		return wire.HTTPResponse{}, wire.Failed("%s cannot be reached", req.URL.Host)
	}
	defer resp.Body.Close()
	return h.readHTTP(r, resp)
}

func (h *Host) readHTTP(r wire.HTTPRequest, resp *http.Response) (wire.HTTPResponse, error) {
	limit := cmp.Or(r.MaxBytes, nativeMaxBytes)
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return wire.HTTPResponse{}, wire.Failed("the answer broke off")
	}
	out := wire.HTTPResponse{Status: resp.StatusCode, Headers: map[string][]string{}, URL: resp.Request.URL.String()}
	maps.Copy(out.Headers, resp.Header)
	if out.Truncated = int64(len(data)) > limit; out.Truncated {
		data = data[:limit]
	}
	out.Size = int64(len(data))
	if !r.AsBlob && len(data) <= nativeInline && utf8.Valid(data) {
		out.Body = string(data)
		return out, nil
	}
	out.Blob = &wire.BlobRef{ID: int64(h.keep(data)), Size: out.Size}
	return out, nil
}

func (h *Host) bodyOf(r wire.HTTPRequest) (body []byte, contentType string, err error) {
	switch {
	case r.Body != nil:
		return []byte(*r.Body), "", nil
	case r.BodyBlob != nil:
		return h.blobs[uint64(r.BodyBlob.ID)], "", nil
	case r.Form == nil:
		return nil, "", nil
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range r.Form {
		header := textproto.MIMEHeader{}
		disposition := multipart.FileContentDisposition(p.Name, p.Filename)
		if p.Filename == "" {
			disposition = strings.TrimSuffix(disposition, `; filename=""`)
		}
		header.Set("Content-Disposition", disposition)
		if p.ContentType != "" {
			header.Set("Content-Type", p.ContentType)
		}
		part, err := w.CreatePart(header)
		if err != nil {
			return nil, "", err
		}
		data := []byte{}
		if p.Text != nil {
			data = []byte(*p.Text)
		} else if p.Blob != nil {
			data = h.blobs[uint64(p.Blob.ID)]
		}
		if _, err := part.Write(data); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

var vaultPlaceholder = regexp.MustCompile(`\$\{vault:([^}]*)\}`)

// authorize puts headers and credentials into the request.
func (h *Host) authorize(req *http.Request, r wire.HTTPRequest) error {
	for name, value := range r.Headers {
		for _, m := range vaultPlaceholder.FindAllStringSubmatch(value, -1) {
			secret, err := h.secret(m[1])
			if err != nil {
				return err
			}
			value = strings.ReplaceAll(value, m[0], secret)
		}
		req.Header.Set(name, value)
	}
	for _, a := range r.Auth {
		secret, err := h.secret(a.Credential)
		if err != nil {
			return err
		}
		how, name, _ := strings.Cut(a.As, ":")
		switch how {
		case "bearer":
			req.Header.Set("Authorization", "Bearer "+secret)
		case "basic":
			user, password, _ := strings.Cut(secret, ":")
			req.SetBasicAuth(user, password)
		case "header":
			req.Header.Set(name, secret)
		case "query":
			q := req.URL.Query()
			q.Set(name, secret)
			req.URL.RawQuery = q.Encode()
		default:
			return wire.Invalid("as is %q: use bearer, basic, header:NAME or query:NAME", a.As)
		}
	}
	return nil
}

func (h *Host) secret(name string) (string, error) {
	s, ok := h.Secrets[name]
	if !ok {
		return "", wire.Invalid("credential %s not in the vault", name)
	}
	return s, nil
}

func (h *Host) look(l wire.LookRequest) (wire.Credential, error) {
	_, err := h.secret(l.Name)
	return wire.Credential{Name: l.Name, Type: "api_key", HostPattern: "*"}, err
}

func (h *Host) sign(r wire.SignRequest) (wire.Signature, error) {
	secret, err := h.secret(r.Credential)
	if err != nil {
		return wire.Signature{}, err
	}
	key, id := []byte(secret), ""
	if r.IDSecret {
		var digits string
		id, digits, _ = strings.Cut(secret, ":")
		if key, err = hex.DecodeString(digits); err != nil || id == "" {
			return wire.Signature{}, wire.Invalid("credential %s is not of the form <id>:<hex secret>", r.Credential)
		}
	}
	mac := hmac.New(sha256.New, key)
	if r.Alg == wire.HMACSHA256 {
		mac.Write([]byte(r.Data))
		return wire.Signature{Hex: hex.EncodeToString(mac.Sum(nil))}, nil
	}
	header := map[string]any{}
	if len(r.Header) > 0 {
		if err := json.Unmarshal(r.Header, &header); err != nil {
			return wire.Signature{}, wire.Invalid("header is not an object")
		}
	}
	header["alg"], header["typ"] = "HS256", "JWT"
	if id != "" {
		header["kid"] = id
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return wire.Signature{}, err
	}
	text := base64.RawURLEncoding.EncodeToString(raw) + "." + base64.RawURLEncoding.EncodeToString(r.Claims)
	mac.Write([]byte(text))
	return wire.Signature{JWT: text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))}, nil
}
