package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/audit"
	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// Requests without a valid token leave at most this many audit rows a second: a stranger must not be able to fill the disk.
// All of them are in the log and the metrics.
const anonymousRows = 20

// maxLogged is how many bytes of a caller's own words go into a log line or an audit row.
const maxLogged = 256

var knownMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// requestIDForm is what a caller's X-Request-Id must look like to be kept.
var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// door is what every request passes on its way in and out.
type door struct {
	mux       *chi.Mux
	auth      *auth.Service
	audit     *audit.Log
	log       *slog.Logger
	metrics   *metrics
	anonymous *rate.Limiter
	pace      pace
	now       func() time.Time
	newID     func() string
}

func newDoor(h *host.Host, table []route) *door {
	d := &door{
		auth: h.Auth, audit: h.Audit, log: h.Log, metrics: newMetrics(h.Metrics),
		anonymous: rate.NewLimiter(anonymousRows, anonymousRows), pace: bodyPace,
		now: time.Now, newID: func() string { return uuid.Must(uuid.NewV7()).String() },
	}
	d.mux = d.newMux(table)
	return d
}

// ServeHTTP is a request's whole life.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		ResponseWriter: w, control: http.NewResponseController(w),
		id: r.Header.Get("X-Request-Id"), remote: hostOf(r.RemoteAddr), started: d.now(),
	}
	if !requestIDForm.MatchString(x.id) {
		x.id = d.newID()
	}
	secure(w.Header(), x.id)
	x.allowWrite()
	r = x.with(r)
	body := newPaced(r, x.control, d.pace)
	r.Body = body
	defer func() { // net/http sends what is buffered, and reads what is left, after us
		x.allowWrite()
		body.leave()
	}()
	defer d.leave(x, r)
	if !plainPath(r.URL.Path) {
		notFound(x, r)
		return
	}
	// Routed by the decoded path: chi would take the escaped one, and hand handlers names that are still escaped.
	routing := chi.NewRouteContext()
	routing.RoutePath, routing.RouteMethod = r.URL.Path, r.Method
	if !slices.Contains(knownMethods, r.Method) {
		routing.RouteMethod = http.MethodOptions // which no route takes: chi has no words for a method it doesn't know
	}
	d.mux.ServeHTTP(x, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, routing)))
}

// secure sets the headers of every answer. No answer is ever a page: nothing may be loaded, framed or guessed from it.
func secure(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
}

// plainPath says whether a path names something in only one way. Dots, empty segments, control characters and backslashes
// (decoded already) name nothing here, and the mux must not get to clean them: it would redirect.
func plainPath(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.Contains(p, "//") || !utf8.ValidString(p) {
		return false
	}
	if strings.ContainsFunc(p, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return false
	}
	return p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/")
}

// guard is what stands before a route's handler.
func (d *door) guard(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r)
		x.route, x.action, x.pack = rt.pattern, rt.action, r.PathValue("name")
		r.SetPathValue("key", r.PathValue("*"))
		if err := d.admit(x, r, rt.access); err != nil {
			fail(w, r, err)
			return
		}
		rt.handler(w, r)
	}
}

// admit checks the caller's token. A route that takes signed URLs lets one through unchecked: the handler gives its
// signature to the artifact store, which knows what was signed.
func (d *door) admit(x *exchange, r *http.Request, a access) error {
	if a.open {
		return nil
	}
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 && a.signed && r.URL.Query().Has("sig") {
		x.signed = true
		return nil
	}
	scheme, token, _ := strings.Cut(strings.Join(fields, ", "), " ") // two fields make no valid token
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		x.Header().Set("WWW-Authenticate", "Bearer")
		return wire.Errorf(wire.Unauthorized, "a token is needed: send Authorization: Bearer <token>; POST /api/v1/auth/login gives one")
	}
	caller, err := d.auth.Authenticate(r.Context(), strings.TrimSpace(token))
	if err != nil {
		if wire.As(err).Code == wire.Unauthorized {
			x.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		}
		return err
	}
	x.caller = caller
	if !caller.May(a.scope) {
		x.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=%q, scope=%q", "insufficient_scope", a.scope))
		return wire.Errorf(wire.Forbidden, "this needs a token with the scope %s", a.scope)
	}
	return nil
}

// leave ends an exchange, by a panic too: the caller gets an answer without the panic's words, the traces are left.
func (d *door) leave(x *exchange, r *http.Request) {
	p := recover()
	begun := x.status != 0
	if p != nil {
		fail(x, r, wire.As(fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
	} else if !begun {
		x.status = http.StatusOK // net/http's answer to a handler that wrote nothing
	}
	took := d.now().Sub(x.started)
	d.metrics.ended(r.Method, x.route, x.status, took)
	d.record(x, r, took)
	d.tell(x, r, took)
	if p != nil && begun {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
}

// record leaves the audit row of what changes something, or was refused to.
func (d *door) record(x *exchange, r *http.Request, took time.Duration) {
	if x.action == "" || x.audited || (x.caller.Subject == "" && !d.anonymous.Allow()) {
		return
	}
	row := audit.Row{
		At: x.started, RequestID: x.id, Subject: x.caller.Subject, Client: x.caller.Client, Action: x.action,
		Pack: cut(x.pack), Status: "ok", DurationMS: float64(took.Microseconds()) / 1000, Remote: x.remote,
	}
	if x.err != nil {
		row.Status, row.Error = "error", string(x.err.Code)
	}
	// The caller may be gone; the row is written all the same.
	if err := d.audit.Append(context.WithoutCancel(r.Context()), row); err != nil {
		d.log.Error("audit row lost", "request_id", x.id, "action", x.action, "error", err)
	}
}

// tell writes the access log. The query stays out of it: a signed URL is a key.
func (d *door) tell(x *exchange, r *http.Request, took time.Duration) {
	path := r.URL.Path
	if x.err != nil && strings.Contains(x.route, "{credential}") {
		path = x.route // what is no credential's name may be a secret, put there by mistake
	}
	level, fields := slog.LevelInfo, []any{
		"method", cut(r.Method), "path", cut(path), "status", x.status, "bytes", x.size, "took", took,
		"request_id", x.id, "remote", x.remote,
	}
	if x.caller.Subject != "" {
		fields = append(fields, "subject", x.caller.Subject)
	}
	if x.err != nil {
		fields = append(fields, "code", x.err.Code)
		if cause := errors.Unwrap(x.err); cause != nil {
			fields = append(fields, "cause", cause)
		}
		if x.err.Code == wire.Internal {
			level = slog.LevelError
		}
	} else if x.action == "" && x.caller.Subject == "" {
		level = slog.LevelDebug // the probes' and the scraper's
	}
	d.log.Log(r.Context(), level, "request", fields...)
}

// cut keeps a caller's words short.
func cut(s string) string {
	if len(s) > maxLogged {
		return strings.ToValidUTF8(s[:maxLogged], "") + "…"
	}
	return s
}
