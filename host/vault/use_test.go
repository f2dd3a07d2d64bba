package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

func (f *fixture) usage(t testing.TB, name string, limit int, cursor string) ([]Use, string) {
	t.Helper()
	uses, next, err := f.Usage(t.Context(), name, limit, cursor)
	if err != nil {
		t.Fatal(err)
	}
	return uses, next
}

func TestUseLog(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	start := f.now
	for _, a := range []Ask{
		{Caller: ann, Pack: "p", Name: "key", Host: "api.example.com:443"},
		{Caller: ann, Pack: "p", Name: "key", Host: "evil.example"},
		{Caller: ann, Pack: "p", Name: "key", Host: "api.example.com", Types: []string{TypeSSH}},
		{Caller: auth.Caller{Subject: "bob"}, Pack: strings.Repeat("ä", 200), Name: "key", Host: "evil.example"},
		{Caller: ann, Name: "nokey"},
		{Caller: ann, Name: "Bad Name"},
	} {
		_, _ = f.Take(t.Context(), a)
		f.now = f.now.Add(time.Second)
	}
	uses, next := f.usage(t, "key", 0, "")
	var got []string
	for _, u := range uses {
		got = append(got, fmt.Sprintf("%d %s/%s %s %s", int(u.At.Sub(start).Seconds()), u.Subject, u.Client, u.Host, u.Result))
	}
	want := "3 bob/ evil.example denied|2 ann/cli api.example.com no_match|1 ann/cli evil.example no_match|0 ann/cli api.example.com:443 allowed"
	if strings.Join(got, "|") != want || next != "" || len(uses[0].Pack) > maxUseField {
		t.Errorf("got %q, next %q", got, next)
	}
	if uses, _ := f.usage(t, "nokey", 0, ""); len(uses) != 1 || uses[0].Result != NoMatch {
		t.Errorf("nokey: %+v", uses)
	}
	wantCode(t, thirdOf(f.Usage(t.Context(), "unheard-of", 0, "")), wire.CredentialNotFound)
	wantCode(t, thirdOf(f.Usage(t.Context(), "Bad Name", 0, "")), wire.CredentialNotFound)
	c, err := f.Get(t.Context(), "key")
	if err != nil || c.LastUsedAt == nil || !c.LastUsedAt.Equal(start) {
		t.Errorf("last used %v, %v: a refused use counts", c.LastUsedAt, err)
	}
	raw, _ := json.Marshal(uses[3])
	if string(raw) != `{"at":"2026-05-04T03:02:01Z","subject":"ann","client":"cli","pack":"p","host":"api.example.com:443","result":"allowed"}` {
		t.Errorf("a row is %s", raw)
	}
}

func thirdOf[A, B any](_ A, _ B, err error) error { return err }

// TestUsagePages walks the pages while the clock stands still and then goes back.
func TestUsagePages(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	f.create(t, New{Name: "key2"})
	for i := range 25 {
		_, _ = f.Take(t.Context(), Ask{Caller: ann, Name: "key", Pack: fmt.Sprint(i)})
		_, _ = f.Take(t.Context(), Ask{Caller: ann, Name: "key2", Pack: "other"})
		if i == 20 {
			f.now = f.now.Add(-time.Hour)
		}
	}
	var packs []string
	for cursor, more := "", true; more; more = cursor != "" {
		var page []Use
		page, cursor = f.usage(t, "key", 10, cursor)
		for _, u := range page {
			packs = append(packs, u.Pack)
		}
	}
	for i, p := range packs {
		if p != fmt.Sprint(24-i) {
			t.Fatalf("got %q", packs)
		}
	}
	if len(packs) != 25 {
		t.Errorf("%d rows", len(packs))
	}
	for _, err := range []error{
		thirdOf(f.Usage(t.Context(), "key", -1, "")), thirdOf(f.Usage(t.Context(), "key", 1001, "")),
		thirdOf(f.Usage(t.Context(), "key", 1, "x")), thirdOf(f.Usage(t.Context(), "key", 1, strings.Repeat("A", 1000))),
	} {
		wantCode(t, err, wire.InvalidInput)
	}
	if uses, _ := f.usage(t, "key2", 1000, ""); len(uses) != 25 {
		t.Errorf("key2 has %d rows", len(uses))
	}
}

// TestNoRowNoValue: a value isn't given out when its use can't be logged, and a caller who goes away is logged.
func TestNoRowNoValue(t *testing.T) {
	f := open(t)
	f.create(t, New{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.logUse(ctx, Ask{Caller: ann, Name: "key"}, "id", Denied); err != nil {
		t.Error(err)
	}
	_ = f.store.Close()
	if got, err := f.take(t, "key"); err == nil || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
}
