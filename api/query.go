package api

import (
	"net/url"
	"strconv"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// The size of a page of a list.
const (
	defaultPage = 100
	maxPage     = 1000
)

// pageSize reads ?limit.
func pageSize(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return defaultPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, wire.Invalid("limit must be a whole number from 1 to %d", maxPage)
	}
	return n, nil
}

// timeOf reads a time of the query; absent is the zero time.
func timeOf(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, wire.Invalid("%s must be a time such as 2026-11-21T10:00:00Z (a + in it is sent as %%2B)", name)
	}
	return t, nil
}

// list makes a nil slice an empty one: JSON has [], not null, for no entries.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
