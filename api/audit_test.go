package api

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestAuditList(t *testing.T) {
	s := start(t)
	admin := s.admin()
	caller := s.token("caller", "packs:call")
	for range 3 {
		s.want(200, "", "POST", "/api/v1/packs/test.echo", caller, "{}")
	}
	s.want(502, wire.HandlerFailed, "POST", "/api/v1/packs/test.fail", caller, "{}")
	s.want(401, wire.Unauthorized, "POST", "/api/v1/packs/test.echo", "", "{}")
	page := func(query string) auditPage {
		var p auditPage
		if err := json.Unmarshal(s.want(200, "", "GET", "/api/v1/audit?"+query, admin, "").body, &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	soon, past := time.Now().Add(time.Minute).Format(time.RFC3339), time.Now().Add(-time.Minute).Format(time.RFC3339)
	for query, want := range map[string]int{
		"": 6, "pack=test.echo": 4, "subject=caller": 4, "status=error": 2, "status=ok&pack=test.echo": 3, "limit=2": 2,
		"from=" + url.QueryEscape(soon): 0, "from=" + url.QueryEscape(past): 6, "to=" + url.QueryEscape(past): 0, "pack=none": 0,
	} {
		if p := page(query); len(p.Rows) != want || p.Rows == nil {
			t.Errorf("?%s: %d rows, want %d: %+v", query, len(p.Rows), want, p.Rows)
		}
	}
	first := page("limit=4")
	if rest := page("limit=4&cursor=" + url.QueryEscape(first.NextCursor)); len(rest.Rows) != 2 || rest.NextCursor != "" {
		t.Errorf("second page: %+v", rest)
	}
	for _, query := range []string{"limit=x", "limit=0", "from=yesterday", "to=%00", "status=fine", "cursor=!!!"} {
		s.want(400, wire.InvalidInput, "GET", "/api/v1/audit?"+query, admin, "")
	}
	if row := page("limit=1").Rows[0]; row.Subject != "" || row.Error != "unauthorized" || row.Remote == "" {
		t.Errorf("row of a call without a token: %+v", row)
	}
}

// A stranger must not be able to fill the disk with rows.
func TestAnonymousRowsAreFew(t *testing.T) {
	s := start(t)
	began := time.Now()
	for range 200 {
		s.do("POST", "/api/v1/packs/test.echo", "", "{}")
	}
	allowed := anonymousRows * (2 + int(time.Since(began).Seconds()))
	if n := len(s.rows()); n < anonymousRows || n > allowed {
		t.Errorf("200 strangers left %d rows; %d to %d are right", n, anonymousRows, allowed)
	}
}
