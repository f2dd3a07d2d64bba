package api

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/host/vault"
	"github.com/gantry-packs/gantry/pdk/wire"
)

const (
	credentials = "/api/v1/vault/credentials"
	hunter      = "hunter2-4711-0815" // whatever is secret in these tests
)

// silent fails if the secret, as it is or encoded, is in an answer, the log or an audit row.
func (s *service) silent(answers ...answer) {
	s.t.Helper()
	rows, err := json.Marshal(s.rows())
	if err != nil {
		s.t.Fatal(err)
	}
	texts := map[string]string{"the log": s.log.String(), "the audit rows": string(rows)}
	for i, a := range answers {
		texts[fmt.Sprintf("answer %d", i)] = string(a.body) + fmt.Sprint(a.header)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(hunter))
	for where, text := range texts {
		for _, form := range []string{hunter, hunter[:10], encoded[:12], hex.EncodeToString([]byte(hunter))} {
			if strings.Contains(text, form) {
				s.t.Errorf("%s holds %q: %s", where, form, text)
			}
		}
	}
	for _, row := range s.rows() {
		if strings.HasPrefix(row.Action, "vault.") && (row.InputSHA256 != "" || row.Pack != "") {
			s.t.Errorf("a digest of a secret helps to guess it, and a credential is no pack: %+v", row)
		}
	}
}

func TestCredentialLife(t *testing.T) {
	s := start(t)
	ada := s.token("ada", "vault:read", "vault:write")
	made := s.want(201, "", "POST", credentials, ada, `{"name":"key","type":"api_key","host_pattern":"api.example.com","plaintext":"`+hunter+`"}`)
	for _, name := range []string{"id", "fingerprint", "created_at", "updated_at"} {
		if v, _ := made.field(t, name).(string); v == "" {
			t.Errorf("no %s in %s", name, made.body)
		}
	}
	if acl, _ := json.Marshal(made.field(t, "acl")); string(acl) != `[{"client":"*","subject":"ada"}]` {
		t.Errorf("an acl that is left out: %s", acl)
	}
	shown := s.want(200, "", "GET", credentials+"/key", ada, "")
	if string(shown.body) != string(made.body) || shown.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s, %v", shown.body, shown.header)
	}
	listed := s.want(200, "", "GET", credentials, ada, "")
	if string(listed.body) != `{"credentials":[`+string(made.body)+`]}` {
		t.Errorf("%s", listed.body)
	}
	again := s.want(409, wire.Conflict, "POST", credentials, ada, `{"name":"key","type":"api_key","host_pattern":"*","plaintext":"`+hunter+`"}`)
	b64 := base64.StdEncoding.EncodeToString([]byte(hunter + "!"))
	rotated := s.want(200, "", "PUT", credentials+"/key", ada, `{"plaintext_b64":"`+b64+`"}`)
	if rotated.field(t, "fingerprint") == made.field(t, "fingerprint") || rotated.field(t, "id") != made.field(t, "id") {
		t.Errorf("rotated: %s", rotated.body)
	}
	if got := s.take("ada", "api.example.com"); got != hunter+"!" {
		t.Errorf("the value in force is %q", got)
	}
	s.want(200, "", "PUT", credentials+"/key/acl", ada, `{"acl":[{"subject":"bob","client":"*"}]}`)
	if got := s.take("ada", "api.example.com"); got != "" {
		t.Error("ada may use what is bob's alone")
	}
	s.take("bob", "evil.example.org")
	usage := s.want(200, "", "GET", credentials+"/key/usage?limit=2", ada, "")
	var page usagePage
	if err := json.Unmarshal(usage.body, &page); err != nil || len(page.Usage) != 2 || page.NextCursor == "" ||
		page.Usage[0].Result != "no_match" || page.Usage[1].Result != "denied" || page.Usage[1].Subject != "ada" {
		t.Errorf("%s (%v)", usage.body, err)
	}
	rest := s.want(200, "", "GET", credentials+"/key/usage?cursor="+url.QueryEscape(page.NextCursor), ada, "")
	if err := json.Unmarshal(rest.body, &page); err != nil || len(page.Usage) != 1 || page.Usage[0].Result != "allowed" {
		t.Errorf("%s (%v)", rest.body, err)
	}
	s.want(204, "", "DELETE", credentials+"/key", ada, "")
	if got := s.want(200, "", "GET", credentials, ada, ""); string(got.body) != `{"credentials":[]}` {
		t.Errorf("%s", got.body)
	}
	var actions []string
	for _, row := range s.rows() {
		actions = append(actions, row.Action+" "+row.Status+" "+row.Subject)
	}
	want := "vault.delete ok ada,vault.acl ok ada,vault.rotate ok ada,vault.create error ada,vault.create ok ada"
	if got := strings.Join(actions, ","); got != want {
		t.Errorf("rows %s", got)
	}
	s.silent(made, shown, listed, again, rotated, usage, rest)
}

// take uses the credential as a pack of a subject would.
func (s *service) take(subject, host string) string {
	secret, err := s.host.Vault.Take(context.Background(), vault.Ask{
		Caller: auth.Caller{Subject: subject}, Pack: "http.fetch", Name: "key", Host: host, Types: []string{vault.TypeAPIKey},
	})
	if err != nil {
		return ""
	}
	return string(secret.Reveal())
}

func TestUnknownCredential(t *testing.T) {
	s := start(t)
	admin := s.admin()
	for _, name := range []string{"none", "%e2%80%8b", "NONE", strings.Repeat("a", 4000), hunter} {
		path := credentials + "/" + name
		s.want(404, wire.CredentialNotFound, "GET", path, admin, "")
		s.want(404, wire.CredentialNotFound, "PUT", path, admin, `{"plaintext":"`+hunter+`"}`)
		s.want(404, wire.CredentialNotFound, "PUT", path+"/acl", admin, `{"acl":[]}`)
		s.want(404, wire.CredentialNotFound, "GET", path+"/usage", admin, "")
		s.want(404, wire.CredentialNotFound, "DELETE", path, admin, "")
	}
	s.want(404, wire.NotFound, "GET", credentials+"/", admin, "")
	s.want(404, wire.NotFound, "GET", credentials+"/a%2fb", admin, "")
	s.silent()
}

func TestBadCredentials(t *testing.T) {
	s := start(t)
	admin := s.admin()
	rest := `"name":"key","type":"api_key","host_pattern":"*"`
	long := strings.Repeat("a", maxVaultBody)
	var answers []answer
	for name, c := range map[string]struct {
		body   string
		status int
		code   wire.Code
	}{
		"nothing":             {``, 400, wire.InvalidJSON},
		"an array":            {`["` + hunter + `"]`, 400, wire.InvalidInput},
		"a text":              {`"` + hunter + `"`, 400, wire.InvalidInput},
		"cut off":             {`{` + rest + `,"plaintext":"` + hunter, 400, wire.InvalidJSON},
		"trailing":            {`{` + rest + `,"plaintext":"` + hunter + `"}` + hunter, 400, wire.InvalidJSON},
		"not UTF-8":           {`{` + rest + `,"plaintext":"` + hunter + "\xff" + `"}`, 400, wire.InvalidJSON},
		"twice":               {`{` + rest + `,"plaintext":"` + hunter + `","plaintext":"` + hunter + `"}`, 400, wire.InvalidJSON},
		"no secret":           {`{` + rest + `}`, 400, wire.InvalidInput},
		"null":                {`{` + rest + `,"plaintext":null}`, 400, wire.InvalidInput},
		"both":                {`{` + rest + `,"plaintext":"` + hunter + `","plaintext_b64":"aHVudGVyMg=="}`, 400, wire.InvalidInput},
		"a number":            {`{` + rest + `,"plaintext":471108154711}`, 400, wire.InvalidInput},
		"an object":           {`{` + rest + `,"plaintext":{"password":"` + hunter + `"}}`, 400, wire.InvalidInput},
		"a list":              {`{` + rest + `,"plaintext":["` + hunter + `"]}`, 400, wire.InvalidInput},
		"bad base64":          {`{` + rest + `,"plaintext_b64":"` + hunter + `"}`, 400, wire.InvalidInput},
		"base64 with a break": {`{` + rest + `,"plaintext_b64":"aHVu\u0000dGVyMg=="}`, 400, wire.InvalidInput},
		"too short":           {`{` + rest + `,"plaintext":"abc"}`, 400, wire.InvalidInput},
		"too long":            {`{` + rest + `,"plaintext":"` + strings.Repeat("a", vault.MaxPlaintext+1) + `"}`, 400, wire.InvalidInput},
		"unknown field":       {`{` + rest + `,"plaintext":"` + hunter + `","secret":true}`, 400, wire.InvalidInput},
		"the secret as name":  {`{"name":"` + hunter + `/","type":"api_key","host_pattern":"*","plaintext":"` + hunter + `"}`, 400, wire.InvalidInput},
		"the secret as type":  {`{"name":"key","type":"` + hunter + `","host_pattern":"*","plaintext":"` + hunter + `"}`, 400, wire.InvalidInput},
		"the secret as host":  {`{"name":"key","type":"api_key","host_pattern":"` + hunter + `/x","plaintext":"` + hunter + `"}`, 400, wire.InvalidInput},
		"no host pattern":     {`{"name":"key","type":"api_key","plaintext":"` + hunter + `"}`, 400, wire.InvalidInput},
		"acl is an object":    {`{` + rest + `,"plaintext":"` + hunter + `","acl":{}}`, 400, wire.InvalidInput},
		"acl without client":  {`{` + rest + `,"plaintext":"` + hunter + `","acl":[{"subject":"a"}]}`, 400, wire.InvalidInput},
		"acl with more":       {`{` + rest + `,"plaintext":"` + hunter + `","acl":[{"subject":"a","client":"*","admin":true}]}`, 400, wire.InvalidInput},
		"acl with a null":     {`{` + rest + `,"plaintext":"` + hunter + `","acl":[null]}`, 400, wire.InvalidInput},
		"over the limit":      {`{` + rest + `,"plaintext":"` + long + `"}`, 413, wire.BodyTooLarge},
	} {
		a := s.do("POST", credentials, admin, c.body)
		if a.status != c.status || a.code() != string(c.code) {
			t.Errorf("%s: %d %.300s; want %d %s", name, a.status, a.body, c.status, c.code)
		}
		answers = append(answers, a)
	}
	answers = append(answers, s.want(415, wire.UnsupportedMedia, "POST", credentials, admin, "plaintext="+hunter, "Content-Type: application/x-www-form-urlencoded"))
	if got := s.want(200, "", "GET", credentials, admin, ""); string(got.body) != `{"credentials":[]}` {
		t.Errorf("something was kept: %s", got.body)
	}
	s.silent(answers...)
	if strings.Contains(s.log.String(), "471108154711") {
		t.Error("the log holds a secret that was sent as a number")
	}
}

func TestBadACL(t *testing.T) {
	s := start(t)
	admin := s.admin()
	s.want(201, "", "POST", credentials, admin, `{"name":"key","type":"api_key","host_pattern":"*","plaintext":"`+hunter+`"}`)
	for _, body := range []string{`{}`, `{"acl":null}`, `{"acl":"*"}`, `{"acl":[{}]}`, `{"acl":[{"subject":"*","client":""}]}`, `{"acl":[{"subject":"a*","client":"*"}]}`, `{"plaintext":"x","acl":[]}`} {
		s.want(400, wire.InvalidInput, "PUT", credentials+"/key/acl", admin, body)
	}
	if got := s.want(200, "", "PUT", credentials+"/key/acl", admin, `{"acl":[]}`); !strings.Contains(string(got.body), `"acl":[]`) {
		t.Errorf("%s", got.body)
	}
	for _, query := range []string{"limit=0", "limit=x", "limit=1001", "cursor=x", "cursor=%00"} {
		s.want(400, wire.InvalidInput, "GET", credentials+"/key/usage?"+query, admin, "")
	}
}

func TestVaultScopes(t *testing.T) {
	s := start(t)
	body := `{"name":"key","type":"api_key","host_pattern":"*","plaintext":"` + hunter + `"}`
	reader, writer, neither := s.token("r", "vault:read"), s.token("w", "vault:write"), s.token("n", "packs:*", "sessions:*", "providers:*", "mcp:*")
	s.want(403, wire.Forbidden, "POST", credentials, reader, body)
	s.want(201, "", "POST", credentials, writer, body)
	s.want(200, "", "GET", credentials+"/key", reader, "")
	for _, path := range []string{"", "/key", "/key/usage"} {
		s.want(403, wire.Forbidden, "GET", credentials+path, writer, "")
		s.want(403, wire.Forbidden, "GET", credentials+path, neither, "")
	}
	for _, token := range []string{reader, neither} {
		s.want(403, wire.Forbidden, "PUT", credentials+"/key", token, `{"plaintext":"`+hunter+`"}`)
		s.want(403, wire.Forbidden, "PUT", credentials+"/key/acl", token, `{"acl":[]}`)
		s.want(403, wire.Forbidden, "DELETE", credentials+"/key", token, "")
	}
	s.silent()
}

// A password that is sent as a number must not get into the log as the cause of the error.
func TestLogHasNoWrongValues(t *testing.T) {
	s := start(t)
	s.want(400, wire.InvalidInput, "POST", "/api/v1/auth/login", "", `{"username":"admin","password":471108154711}`)
	if strings.Contains(s.log.String(), "471108154711") {
		t.Error("the log holds the password")
	}
}
