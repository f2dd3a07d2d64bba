package api

import (
	"net/http"

	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/pdk/wire"
)

type auditPage struct {
	Rows       []audit.Row `json:"rows"`
	NextCursor string      `json:"next_cursor,omitempty"`
}

func listAudit(l *audit.Log) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		filter, err := auditFilter(r)
		if err != nil {
			fail(w, r, err)
			return
		}
		rows, next, err := l.List(r.Context(), filter)
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, auditPage{list(rows), next})
	}
}

func auditFilter(r *http.Request) (f audit.Filter, err error) {
	q := r.URL.Query()
	f = audit.Filter{Pack: q.Get("pack"), Subject: q.Get("subject"), Status: q.Get("status"), Cursor: q.Get("cursor")}
	if f.Limit, err = pageSize(q); err != nil {
		return f, err
	}
	if f.From, err = timeOf(q, "from"); err != nil {
		return f, err
	}
	if f.To, err = timeOf(q, "to"); err != nil {
		return f, err
	}
	switch f.Status {
	case "", "ok", "error":
		return f, nil
	}
	return f, wire.Invalid("status must be ok or error")
}
