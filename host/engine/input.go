package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
	"github.com/gantry-packs/gantry/registry/schema"
)

// The input fields that speak to the service and never reach a pack.
const (
	fieldSession       = "_session_id"
	fieldWebhookURL    = "webhook_url"
	fieldWebhookSecret = "webhook_secret"
)

var reserved = []string{fieldSession, fieldWebhookURL, fieldWebhookSecret}

// prepare checks raw against the pack's input_schema and returns what the pack will read: raw itself, or a copy without the
// service's own fields and with base64 fields turned into blob handles.
func prepare(c *Call, raw []byte) ([]byte, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	v, err := schema.Decode(raw)
	if err != nil {
		return nil, err
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, wire.Invalid("the input must be a JSON object such as {\"name\": \"value\"}")
	}
	dropped, err := takeReserved(c.Pack, fields)
	if err != nil {
		return nil, err
	}
	if err := c.Pack.Input.Validate(v); err != nil {
		return nil, wire.Invalid("%v", err)
	}
	if c.Pack.Allows(registry.PermVault) {
		c.Input = fields
	}
	if !dropped && !c.Pack.Input.Base64() {
		return raw, nil
	}
	return rewrite(raw, reserved, c.Pack.Input.Base64At, func(path []string, v jsontext.Value) ([]byte, error) {
		return toBlob(c.Blobs, path, v)
	})
}

// takeReserved removes the service's own fields and says whether there were any.
func takeReserved(p *registry.Pack, fields map[string]any) (bool, error) {
	if _, ok := fields[fieldSession]; ok && p.Session.Mode != "" && p.Session.Mode != "none" {
		return false, wire.Errorf(wire.SessionUnavailable, "no session has this %s", fieldSession)
	}
	found := false
	for _, name := range reserved {
		if _, ok := fields[name]; !ok {
			continue
		}
		if name != fieldSession && !p.Async {
			return false, wire.Invalid("%s works with async packs only; %s answers at once", name, p.Name)
		}
		delete(fields, name)
		found = true
	}
	return found, nil
}

// toBlob decodes a base64 string and answers its handle; what isn't a string stays (the schema has allowed it).
func toBlob(blobs *Blobs, path []string, v jsontext.Value) ([]byte, error) {
	if v.Kind() != '"' {
		return v, nil
	}
	text := []byte(v[1 : len(v)-1])
	if bytes.IndexByte(text, '\\') >= 0 {
		var err error
		if text, err = jsontext.AppendUnquote(nil, v); err != nil {
			return nil, wire.Invalid("%s: %v", strings.Join(path, "."), err)
		}
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(data, text)
	if err != nil {
		return nil, wire.Invalid("%s: not base64 (%v): use the standard alphabet with padding", strings.Join(path, "."), err)
	}
	ref, err := blobs.Add(data[:n])
	if err != nil {
		return nil, wire.Invalid("%s: %s", strings.Join(path, "."), wire.As(err).Message)
	}
	return json.Marshal(ref)
}

// deliver checks what the pack answered and returns it as the caller will see it, blobs as base64.
func deliver(c *Call, output []byte) ([]byte, error) {
	v, err := schema.Decode(output)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidOutput, "%s answered something that is not JSON: %v", c.Pack.Name, wire.As(err).Message)
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, wire.Errorf(wire.InvalidOutput, "%s answered something that is not a JSON object", c.Pack.Name)
	}
	if output, err = c.maskJSON(output); err != nil {
		return nil, err
	}
	if c.Pack.Output.Base64() {
		if output, err = fillBlobs(c, output); err != nil {
			return nil, err
		}
	}
	if c.Pack.Output.Base64() || !c.Secrets.Empty() {
		if v, err = schema.Decode(output); err != nil {
			return nil, wire.Errorf(wire.InvalidOutput, "%s answered something that cannot be told without its secrets", c.Pack.Name).Because(err)
		}
	}
	if err := c.Pack.Output.Validate(v); err != nil {
		return nil, wire.Errorf(wire.InvalidOutput, "%s answered what its output_schema does not allow: %v", c.Pack.Name, err)
	}
	return output, nil
}

// fillBlobs puts the bytes of blobs where the output names them; what isn't a handle stays, the schema will judge it.
// A few bytes of output can name a large blob many times, so what is put in has a limit of its own.
func fillBlobs(c *Call, output []byte) ([]byte, error) {
	room := MaxBlobBytes
	return rewrite(output, nil, c.Pack.Output.Base64At, func(path []string, v jsontext.Value) ([]byte, error) {
		var ref wire.BlobRef
		if v.Kind() != '{' || json.Unmarshal(v, &ref) != nil || ref.ID == 0 {
			return v, nil
		}
		data, ok := c.Blobs.Get(ref.ID)
		if !ok {
			return nil, wire.Errorf(wire.InvalidOutput, "%s: no blob %d in this call", strings.Join(path, "."), ref.ID)
		}
		if room -= len(data); room < 0 {
			return nil, wire.Errorf(wire.InvalidOutput, "%s: the blobs in the output exceed %d MiB", strings.Join(path, "."), MaxBlobBytes>>20)
		}
		data = c.Secrets.Mask(data)
		out := make([]byte, 0, base64.StdEncoding.EncodedLen(len(data))+2)
		out = append(out, '"')
		out = base64.StdEncoding.AppendEncode(out, data)
		return append(out, '"'), nil
	})
}
