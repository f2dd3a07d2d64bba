package api

import (
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestLogin(t *testing.T) {
	s := start(t)
	a := s.want(200, "", "POST", "/api/v1/auth/login", "", `{"username":"admin","password":"`+adminPassword+`"}`)
	expires, err := time.Parse(time.RFC3339, a.field(t, "expires_at").(string))
	if left := time.Until(expires); err != nil || left < 11*time.Hour || left > 12*time.Hour {
		t.Errorf("expires_at is in %v (%v)", left, err)
	}
	const typo = "my password in the name field"
	s.want(401, wire.Unauthorized, "POST", "/api/v1/auth/login", "", `{"username":"`+typo+`","password":"x"}`)
	limited := 0
	for range 12 {
		if a := s.do("POST", "/api/v1/auth/login", "", `{"username":"admin","password":"wrong"}`); a.status == 429 {
			limited++
			if a.code() != string(wire.RateLimited) || a.header.Get("Retry-After") == "" {
				t.Errorf("limited: %s, Retry-After %q", a.body, a.header.Get("Retry-After"))
			}
		}
	}
	if limited == 0 {
		t.Error("twelve wrong passwords, and no limit")
	}
	rows := s.rows()
	first := rows[len(rows)-1]
	if first.Action != "auth.login" || first.Status != "ok" || first.Subject != "admin" || first.Remote != "127.0.0.1" {
		t.Errorf("row of the login: %+v", first)
	}
	failed := rows[len(rows)-2]
	if failed.Status != "error" || failed.Error != "unauthorized" || failed.Subject != "" {
		t.Errorf("row of the failed login: %+v", failed)
	}
	if log := s.log.String(); strings.Contains(log, typo) || strings.Contains(log, adminPassword) {
		t.Error("the log holds what was typed")
	}
}

func TestTokens(t *testing.T) {
	s := start(t)
	admin := s.admin()
	made := s.want(201, "", "POST", "/api/v1/auth/tokens", admin, `{"name":"ci","subject":"ci","scopes":["packs:read"],"ttl":"1h"}`)
	token, id := made.field(t, "token").(string), made.field(t, "id").(string)
	s.want(200, "", "GET", "/api/v1/packs", token, "")
	s.want(403, wire.Forbidden, "GET", "/api/v1/auth/tokens", token, "")
	listed := s.want(200, "", "GET", "/api/v1/auth/tokens", admin, "")
	if !strings.Contains(string(listed.body), id) || strings.Contains(string(listed.body), token) {
		t.Errorf("the list must hold the id and not the token: %s", listed.body)
	}
	s.want(204, "", "DELETE", "/api/v1/auth/tokens/"+id, admin, "")
	s.want(404, wire.TokenNotFound, "DELETE", "/api/v1/auth/tokens/"+id, admin, "")
	s.want(401, wire.Unauthorized, "GET", "/api/v1/packs", token, "")
	if a := s.want(200, "", "GET", "/api/v1/auth/tokens", admin, ""); string(a.body) != `{"tokens":[]}` {
		t.Errorf("no tokens: %s", a.body)
	}
	want := []string{"token.revoke error", "token.revoke ok", "token.mint ok", "auth.login ok"}
	for i, row := range s.rows() {
		if i >= len(want) || row.Action+" "+row.Status != want[i] {
			t.Errorf("row %d: %+v", i, row)
		}
	}
}
