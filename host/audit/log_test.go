package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// day is where the clock of these tests begins.
var day = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// at is a clock that a test sets.
type at struct{ time.Time }

func (a *at) now() time.Time { return a.Time }

func open(t *testing.T) (*Log, *at) {
	t.Helper()
	s := store.NewMemory()
	t.Cleanup(func() { _ = s.Close() })
	clock := &at{day}
	return Open(s, 0, clock.now), clock
}

func add(t *testing.T, l *Log, rows ...Row) {
	t.Helper()
	for _, r := range rows {
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// all follows the cursors and returns every row's request id.
func all(t *testing.T, l *Log, f Filter) (ids []string, pages int) {
	t.Helper()
	for pages = 1; ; pages++ {
		rows, next, err := l.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			ids = append(ids, r.RequestID)
		}
		if f.Cursor = next; next == "" {
			return ids, pages
		}
	}
}

func TestAppendFills(t *testing.T) {
	l, clock := open(t)
	earlier := day.Add(-time.Minute).In(time.FixedZone("", 3600))
	add(t, l, Row{RequestID: "1", Status: "ok", Subject: strings.Repeat("é", 300)}, Row{RequestID: "2", At: earlier, Pack: "a\xffb"})
	rows, next, err := l.List(t.Context(), Filter{})
	if err != nil || next != "" || len(rows) != 2 {
		t.Fatalf("%v, %q, %v", rows, next, err)
	}
	for _, r := range rows {
		id, err := uuid.Parse(r.ID)
		sec, nsec := id.Time().UnixTime()
		if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 || !time.Unix(sec, nsec).Equal(clock.Time) {
			t.Errorf("id %s of %v: %v", r.ID, time.Unix(sec, nsec), err)
		}
	}
	if r := rows[0]; !r.At.Equal(earlier) || r.At.Location() != time.UTC || r.Pack != "ab" {
		t.Errorf("a row with a time of its own: %+v", r)
	}
	if r := rows[1]; !r.At.Equal(day) || r.Subject != strings.Repeat("é", maxField/2) {
		t.Errorf("a row without a time: %+v", r)
	}
	if got, _ := all(t, l, Filter{Subject: strings.Repeat("é", 300)}); !slices.Equal(got, []string{"1"}) {
		t.Errorf("found by a long subject: %q", got)
	}
	if err := l.Append(t.Context(), Row{ID: uuid.NewString()}); err == nil {
		t.Error("an id of another version is accepted")
	}
}

// TestOrder holds the clock still, then turns it back: ids go on growing.
func TestOrder(t *testing.T) {
	l, clock := open(t)
	var want []string
	for i := range 50 {
		if i == 25 {
			clock.Time = day.Add(-time.Hour)
		}
		add(t, l, Row{RequestID: fmt.Sprint(i)})
		want = append(want, fmt.Sprint(i))
	}
	slices.Reverse(want)
	for _, limit := range []int{0, 1, 7, 49, 50, 51} {
		got, pages := all(t, l, Filter{Limit: limit})
		if !slices.Equal(got, want) || limit > 0 && pages != (50+limit-1)/limit {
			t.Errorf("limit %d: %d pages, %q", limit, pages, got)
		}
	}
}

func TestIDsAreUnique(t *testing.T) {
	var c clock
	ids := make([][]uuid.UUID, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			for range 1000 {
				ids[i] = append(ids[i], c.next(day))
			}
		})
	}
	wg.Wait()
	seen := map[int64]bool{}
	for _, list := range ids {
		if !slices.IsSortedFunc(list, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) }) {
			t.Error("ids don't grow")
		}
		for _, id := range list {
			seen[int64(id[6]&0xf)<<8|int64(id[7])|int64(id[5])<<16|int64(id[4])<<24] = true
		}
	}
	if len(seen) != 8000 {
		t.Errorf("%d different times of 8000 ids", len(seen))
	}
}

// TestFilters compares every combination of filters with a plain loop over the rows. Some names hold what could be a
// separator, and one is the beginning of another.
func TestFilters(t *testing.T) {
	l, clock := open(t)
	subjects, packs, statuses := []string{"", "ada", "ada/x", "a", "da\x00"}, []string{"", "web.scrape", "web", "ok"}, []string{"ok", "error", ""}
	rnd := rand.New(rand.NewPCG(3, 4))
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	var rows []Row
	for i := range 400 {
		clock.Time = day.Add(time.Duration(i) * 100 * time.Millisecond)
		r := Row{RequestID: fmt.Sprint(i), At: clock.Time, Subject: pick(subjects), Pack: pick(packs), Status: pick(statuses)}
		add(t, l, r)
		rows = append(rows, r)
	}
	l.maxScan = 40
	for _, subject := range append(subjects, "nobody") {
		for _, pack := range append(packs, "none") {
			for _, status := range statuses {
				f := Filter{Subject: subject, Pack: pack, Status: status, Limit: 1 + rnd.IntN(30)}
				if rnd.IntN(2) == 0 {
					f.From = day.Add(time.Duration(rnd.IntN(400)) * 100 * time.Millisecond)
				}
				if rnd.IntN(2) == 0 {
					f.To = day.Add(time.Duration(350+rnd.IntN(100)) * 100 * time.Millisecond)
				}
				if !f.From.IsZero() && f.From.After(f.To) {
					f.To = time.Time{}
				}
				if got, _ := all(t, l, f); !slices.Equal(got, expected(rows, f)) {
					t.Errorf("%+v: got %q, want %q", f, got, expected(rows, f))
				}
			}
		}
	}
}

func expected(rows []Row, f Filter) (ids []string) {
	for _, r := range slices.Backward(rows) {
		if (f.Subject == "" || f.Subject == r.Subject) && (f.Pack == "" || f.Pack == r.Pack) && (f.Status == "" || f.Status == r.Status) &&
			(f.From.IsZero() || !r.At.Before(f.From)) && (f.To.IsZero() || r.At.Before(f.To)) {
			ids = append(ids, r.RequestID)
		}
	}
	return ids
}

// TestOthersRowsAreNotScanned looks for one row among many of the same status and of the same subject: the index that
// holds few is used, whichever it is.
func TestOthersRowsAreNotScanned(t *testing.T) {
	l, _ := open(t)
	add(t, l, Row{RequestID: "rare", Subject: "ada", Pack: "web", Status: "error"})
	for range 200 {
		add(t, l, Row{Subject: "ada", Pack: "doc", Status: "ok"}, Row{Subject: "bob", Pack: "web", Status: "ok"})
	}
	l.maxScan = 1
	for _, f := range []Filter{
		{Subject: "ada", Status: "error"}, {Pack: "web", Status: "error"}, {Subject: "ada", Pack: "web", Status: "error"}, {Status: "error"},
	} {
		if got, pages := all(t, l, f); pages != 1 || !slices.Equal(got, []string{"rare"}) {
			t.Errorf("%+v: %d pages, %q", f, pages, got)
		}
	}
}

// TestBoundedScan: rows that only the crossing of two busy indexes finds take several pages, none of them endless.
func TestBoundedScan(t *testing.T) {
	l, _ := open(t)
	add(t, l, Row{RequestID: "first", Subject: "ada", Pack: "web"})
	for range 100 {
		add(t, l, Row{Subject: "ada", Pack: "doc"}, Row{Subject: "bob", Pack: "web"})
	}
	l.maxScan = 10
	got, pages := all(t, l, Filter{Subject: "ada", Pack: "web"})
	if !slices.Equal(got, []string{"first"}) || pages != 11 {
		t.Errorf("%d pages, %q", pages, got)
	}
}

func TestBadFilters(t *testing.T) {
	l, _ := open(t)
	add(t, l, Row{})
	for what, f := range map[string]Filter{
		"limit below":      {Limit: -1},
		"limit above":      {Limit: 1001},
		"from after to":    {From: day, To: day.Add(-time.Second)},
		"cursor":           {Cursor: "x"},
		"cursor too long":  {Cursor: strings.Repeat("A", 1<<20)},
		"cursor version":   {Cursor: cursorOf(uuid.New())},
		"cursor padding":   {Cursor: cursorOf(bound(0)) + "=="},
		"cursor with line": {Cursor: cursorOf(bound(0)) + "\n"},
	} {
		var e *wire.Error
		if _, _, err := l.List(t.Context(), f); !errors.As(err, &e) || e.Code != wire.InvalidInput {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, f := range []Filter{
		{From: time.Date(1, 1, 1, 1, 0, 0, 0, time.UTC)}, {To: time.Date(290000, 1, 1, 0, 0, 0, 0, time.UTC)}, {Limit: 1000}, {From: day, To: day.Add(time.Second)},
	} {
		if rows, _, err := l.List(t.Context(), f); err != nil || len(rows) != 1 {
			t.Errorf("%+v: %d rows, %v", f, len(rows), err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(cursorOf(bound(12345)))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseCursor(text)
		if err == nil && cursorOf(id) != text {
			t.Errorf("%q is read as %q", text, cursorOf(id))
		}
	})
}

// TestCallerGone writes the row of a caller who went away, and fails on a closed store.
func TestCallerGone(t *testing.T) {
	l, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Append(ctx, Row{RequestID: "gone"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := all(t, l, Filter{}); !slices.Equal(got, []string{"gone"}) {
		t.Errorf("%q", got)
	}
	if _, _, err := l.List(ctx, Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled List: %v", err)
	}
	_ = l.store.Close()
	if err := l.Append(t.Context(), Row{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
}

// TestRetention lets rows expire together with their index keys.
func TestRetention(t *testing.T) {
	s := store.NewMemory()
	defer s.Close()
	l := Open(s, time.Second, time.Now)
	add(t, l, Row{RequestID: "1", Subject: "ada", Pack: "web", Status: "ok"})
	if got, _ := all(t, l, Filter{Subject: "ada"}); len(got) != 1 {
		t.Errorf("before the end: %q", got)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		keys := 0
		err := s.View(t.Context(), func(r store.R) error {
			return r.Scan(nil, nil, store.ScanOptions{}, func(_, _ []byte) (bool, error) { keys++; return true, nil })
		})
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d keys stay: %v", keys, err)
		}
		if keys == 0 {
			return
		}
	}
}
