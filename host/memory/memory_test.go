package memory

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// open returns a memory on a fresh store, and its clock.
func open(t testing.TB) (*Memory, *time.Time) {
	s := store.NewMemory()
	t.Cleanup(func() { s.Close() })
	now := time.Now().UTC().Truncate(time.Second)
	return Open(s, func() time.Time { return now }), &now
}

func put(t testing.TB, m *Memory, subject, category, key, value string) wire.Memory {
	t.Helper()
	got, err := m.Put(t.Context(), subject, wire.MemoryPut{Category: category, Key: key, Value: json.RawMessage(value)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantCode(t testing.TB, err error, code wire.Code) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// names lists a subject's entries as category:key=value.
func names(t testing.TB, m *Memory, subject, category string) string {
	t.Helper()
	list, err := m.List(t.Context(), subject, category)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Category+":"+e.Key+"="+string(e.Value))
	}
	return strings.Join(out, " ")
}

func TestPutGetDelete(t *testing.T) {
	m, now := open(t)
	if got, err := m.Get(t.Context(), "ann", "c", "k"); got != nil || err != nil {
		t.Fatalf("got %v, %v", got, err)
	}
	put(t, m, "ann", "c", "k", `1`)
	put(t, m, "ann", "c", "k", `{"a":[null]}`)
	got, err := m.Get(t.Context(), "ann", "c", "k")
	if err != nil || string(got.Value) != `{"a":[null]}` || got.StoredAt != now.Format(time.RFC3339) || got.ExpiresAt != "" {
		t.Fatalf("got %+v, %v", got, err)
	}
	for want := range 2 {
		n, err := m.Delete(t.Context(), "ann", wire.MemoryKey{Category: "c", Key: "k"})
		if err != nil || n != 1-want {
			t.Fatalf("deleted %d, %v", n, err)
		}
	}
}

func TestListIsSortedAndNamesDoNotCollide(t *testing.T) {
	m, _ := open(t)
	for _, n := range [][2]string{{"b", "1"}, {"a", "b/c"}, {"a/b", "c"}, {"a", "é"}, {"a", "z"}, {"a", "B"}, {"a", "b"}, {"61", "x"}, {"a ", "x"}} {
		put(t, m, "ann", n[0], n[1], `0`)
	}
	if got := names(t, m, "ann", "a"); got != "a:B=0 a:b=0 a:b/c=0 a:z=0 a:é=0" {
		t.Errorf("got %s", got)
	}
	if got := names(t, m, "ann", "a/b"); got != "a/b:c=0" {
		t.Errorf("got %s", got)
	}
	if got := names(t, m, "ann", ""); got != "61:x=0 a:B=0 a:b=0 a:b/c=0 a:z=0 a:é=0 a :x=0 a/b:c=0 b:1=0" {
		t.Errorf("got %s", got)
	}
	if n, err := m.Delete(t.Context(), "ann", wire.MemoryKey{Category: "a"}); err != nil || n != 5 {
		t.Fatalf("deleted %d, %v", n, err)
	}
	if got := names(t, m, "ann", ""); got != "61:x=0 a :x=0 a/b:c=0 b:1=0" {
		t.Errorf("got %s", got)
	}
}

func TestSubjectsAreApart(t *testing.T) {
	m, _ := open(t)
	subjects := []string{"ann", "ann/c", "61", "", "ann\x00", "An"}
	for _, s := range subjects {
		value, _ := json.Marshal(s)
		put(t, m, s, "c", "k", string(value))
		if _, err := m.PutPlan(t.Context(), s, wire.Plan{Intent: "plan of " + s, Steps: []json.RawMessage{json.RawMessage(`1`)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range subjects {
		list, err := m.List(t.Context(), s, "")
		var v string
		if err != nil || len(list) != 1 || json.Unmarshal(list[0].Value, &v) != nil || v != s {
			t.Errorf("%q sees %+v, %v", s, list, err)
		}
		plans, err := m.Plans(t.Context(), s)
		if err != nil || len(plans) != 1 || plans[0].Intent != strings.TrimSpace("plan of "+s) {
			t.Errorf("%q sees %+v, %v", s, plans, err)
		}
	}
	for _, s := range []string{"eve", "an", "ann/"} {
		if got, err := m.Get(t.Context(), s, "c", "k"); got != nil || err != nil {
			t.Errorf("%q got %+v, %v", s, got, err)
		}
		if n, err := m.Delete(t.Context(), s, wire.MemoryKey{Category: "c"}); n != 0 || err != nil {
			t.Errorf("%q deleted %d, %v", s, n, err)
		}
	}
}

func TestTTL(t *testing.T) {
	m, now := open(t)
	got, err := m.Put(t.Context(), "ann", wire.MemoryPut{Category: "c", Key: "k", Value: json.RawMessage(`1`), TTLSeconds: 3600})
	if err != nil || got.ExpiresAt != now.Add(time.Hour).Format(time.RFC3339) {
		t.Fatalf("got %+v, %v", got, err)
	}
	*now = now.Add(time.Hour - time.Nanosecond)
	if got, err := m.Get(t.Context(), "ann", "c", "k"); got == nil || err != nil {
		t.Fatalf("gone too early: %v", err)
	}
	*now = now.Add(time.Nanosecond)
	if got, err := m.Get(t.Context(), "ann", "c", "k"); got != nil || err != nil || names(t, m, "ann", "") != "" {
		t.Fatalf("still there: %+v, %v", got, err)
	}
	if n, err := m.Delete(t.Context(), "ann", wire.MemoryKey{Category: "c"}); n != 0 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	_, err = m.Put(t.Context(), "ann", wire.MemoryPut{Category: "c", Key: "k", Value: json.RawMessage(`1`), TTLSeconds: int64(MaxTTL / time.Second)})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPutRefuses(t *testing.T) {
	m, _ := open(t)
	long := strings.Repeat("a", MaxName+1)
	for name, p := range map[string]wire.MemoryPut{
		"no category":         {Key: "k", Value: json.RawMessage(`1`)},
		"no key":              {Category: "c", Value: json.RawMessage(`1`)},
		"long category":       {Category: long, Key: "k", Value: json.RawMessage(`1`)},
		"long key":            {Category: "c", Key: long, Value: json.RawMessage(`1`)},
		"control character":   {Category: "c", Key: "a\nb", Value: json.RawMessage(`1`)},
		"NUL":                 {Category: "c\x00", Key: "k", Value: json.RawMessage(`1`)},
		"bidi override":       {Category: "c", Key: "\u202ek", Value: json.RawMessage(`1`)},
		"broken UTF-8":        {Category: "c", Key: "\xff", Value: json.RawMessage(`1`)},
		"no value":            {Category: "c", Key: "k"},
		"no JSON":             {Category: "c", Key: "k", Value: json.RawMessage(`{`)},
		"two values":          {Category: "c", Key: "k", Value: json.RawMessage(`1 2`)},
		"broken UTF-8 inside": {Category: "c", Key: "k", Value: json.RawMessage("\"\xff\"")},
		"large value":         {Category: "c", Key: "k", Value: json.RawMessage(`"` + strings.Repeat("a", MaxValue-1) + `"`)},
		"negative ttl":        {Category: "c", Key: "k", Value: json.RawMessage(`1`), TTLSeconds: -1},
		"ttl of 11 years":     {Category: "c", Key: "k", Value: json.RawMessage(`1`), TTLSeconds: 11 * 366 * 86400},
		"overflowing ttl":     {Category: "c", Key: "k", Value: json.RawMessage(`1`), TTLSeconds: 1<<63 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Put(t.Context(), "ann", p)
			wantCode(t, err, wire.InvalidInput)
		})
	}
	if got := names(t, m, "ann", ""); got != "" {
		t.Fatalf("left behind: %s", got)
	}
	_, err := m.Get(t.Context(), "ann", "c", long)
	wantCode(t, err, wire.InvalidInput)
	_, err = m.List(t.Context(), "ann", long)
	wantCode(t, err, wire.InvalidInput)
	for _, k := range []wire.MemoryKey{{}, {Key: "k"}, {Category: "c", Key: long}} {
		_, err = m.Delete(t.Context(), "ann", k)
		wantCode(t, err, wire.InvalidInput)
	}
	put(t, m, "ann", long[1:], long[1:], `"`+strings.Repeat("<", MaxValue-2)+`"`) // the largest that is taken
}

func TestSurvivesARestart(t *testing.T) {
	dir, now := t.TempDir(), time.Now
	for i := range 2 {
		s, err := store.OpenBadger(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		m := Open(s, now)
		if i == 0 {
			put(t, m, "ann", "c", "k", `"kept"`)
		}
		if got := names(t, m, "ann", ""); got != `c:k="kept"` {
			t.Errorf("got %s", got)
		}
		s.Close()
	}
}
