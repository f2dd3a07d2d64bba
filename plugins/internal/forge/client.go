// Package forge is what the packs forge.* share: a client for the eight things they ask of a code-hosting platform.
//
// It speaks GitHub's REST API. A base address that ends in /api/v1 is Gitea's or Forgejo's, which is GitHub's with differences;
// each stands where it matters. The address is the operator's (GANTRY_FORGE_API_URL), never the caller's.
//
// Whatever goes wrong is handler_failed, a missing input too, for the catalog says so of these packs; only a credential that
// the vault won't give is invalid_input, and a forge that doesn't answer in time is timeout.
package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/gantry-packs/gantry/pdk"
)

const (
	baseSetting       = "GANTRY_FORGE_API_URL"
	defaultBase       = "https://api.github.com"
	defaultCredential = "forge-token"
	apiVersion        = "2022-11-28"
	userAgent         = "gantry"

	maxAnswer = 8 << 20 // bytes of a page that is read: 30 issues with bodies of GitHub's longest are a quarter of it
	timeoutMS = 30_000  // of one request
)

// Client asks one forge in the name of one credential.
type Client struct {
	base       string // without a slash at its end
	credential string // "" asks as nobody
	gitea      bool
}

// Writer is a client that asks with a credential, by default forge-token.
func Writer(credential string) Client {
	base, _ := pdk.Setting(baseSetting)
	if base == "" {
		base = defaultBase
	}
	base = strings.TrimRight(base, "/")
	if credential == "" {
		credential = defaultCredential
	}
	return Client{base: base, credential: credential, gitea: strings.HasSuffix(base, "/api/v1")}
}

// Reader is a client for what everybody may read: without a named credential it asks with forge-token if the caller has one,
// else as nobody. Any other trouble with it is left to the request itself to tell.
func Reader(credential string) Client {
	c := Writer(credential)
	if credential == "" {
		_, err := pdk.Look(defaultCredential)
		var e *pdk.Error
		if errors.As(err, &e) && e.Code == pdk.InvalidInput {
			c.credential = ""
		}
	}
	return c
}

// request is one question; body nil is a GET. what says in an error what was not found.
type request struct {
	path  string
	query url.Values
	body  any
	what  string
}

// answer is a 2xx answer's JSON, numbers as they were written.
type answer struct {
	value any
	resp  pdk.HTTPResponse
}

// ask sends a request. POST must be answered 201: another 2xx is what a redirect made of it.
func (c Client) ask(r request) (answer, error) {
	out := pdk.HTTPRequest{Method: "GET", URL: c.base + r.path, TimeoutMS: timeoutMS, MaxBytes: maxAnswer, Headers: map[string]string{
		"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": apiVersion, "User-Agent": userAgent,
	}}
	if len(r.query) > 0 {
		out.URL += "?" + r.query.Encode()
	}
	if r.body != nil {
		raw, err := json.Marshal(r.body)
		if err != nil {
			return answer{}, err
		}
		text := string(raw)
		out.Method, out.Body, out.Headers["Content-Type"] = "POST", &text, "application/json"
	}
	if c.credential != "" {
		out.Auth = []pdk.HTTPAuth{{Credential: c.credential, As: "bearer"}}
	}
	resp, err := pdk.Send(out)
	if err != nil {
		return answer{}, err
	}
	raw, err := pdk.ResponseBytes(resp)
	if err != nil {
		return answer{}, err
	}
	switch {
	case resp.Status < 200 || resp.Status > 299:
		return answer{}, c.problem(resp, raw, r.what)
	case resp.Truncated:
		return answer{}, pdk.Failed("the forge's answer is over %d MiB: ask for less", maxAnswer>>20)
	}
	v, err := decode(raw)
	if err == nil && r.body != nil && resp.Status != 201 {
		err = pdk.Failed("the forge answered %d where 201 says that something was made: %s may have moved; ask with its new name",
			resp.Status, r.what)
	}
	return answer{v, resp}, err
}

// decode reads one JSON value. What passes through to the caller is written anew, so that no trick of the forge's spelling does.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")) {
			return nil, pdk.Failed("the forge answered a page of HTML, not JSON: %s must be the address of its API, such as "+
				"https://api.github.com, https://HOST/api/v3 (GitHub Enterprise) or https://HOST/api/v1 (Gitea, Forgejo)", baseSetting)
		}
		return nil, pdk.Failed("the forge's answer is not whole JSON: try again; if it stays so, see what %s points to", baseSetting)
	}
	return v, nil
}

// more says whether there is a page after this one. The address of the next page is made here: a Link header is not followed.
func (a answer) more() bool { return strings.Contains(header(a.resp, "Link"), `rel="next"`) }

// Object is a thing of the forge as it describes it.
type Object map[string]any

// object reads the answer as an object that has the given fields: number and id are whole numbers, others texts.
func (a answer) object(fields ...string) (Object, error) {
	v, ok := a.value.(map[string]any)
	if !ok {
		return nil, unexpected("an object")
	}
	for _, name := range fields {
		switch value := v[name].(type) {
		case json.Number:
			_, err := value.Int64()
			ok = err == nil && (name == "number" || name == "id")
		case string:
			ok = name != "number" && name != "id"
		default:
			ok = false
		}
		if !ok {
			return nil, unexpected("a " + name)
		}
	}
	return v, nil
}

// list reads v as an array of objects.
func list(v any) ([]Object, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, unexpected("an array")
	}
	objects := make([]Object, len(items))
	for i, item := range items {
		if objects[i], ok = item.(map[string]any); !ok {
			return nil, unexpected("an array of objects")
		}
	}
	return objects, nil
}

func unexpected(wanted string) error {
	return pdk.Failed("the forge's answer is JSON without %s that belongs there: see what %s points to", wanted, baseSetting)
}

// at follows names into nested objects and returns the text there, "" if there is none.
func (o Object) at(names ...string) string {
	var v any = map[string]any(o)
	for _, name := range names {
		inner, _ := v.(map[string]any)
		v = inner[name]
	}
	text, _ := v.(string)
	return text
}

// header is a response header, whatever its case.
func header(resp pdk.HTTPResponse, name string) string {
	for key, values := range resp.Headers {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}
