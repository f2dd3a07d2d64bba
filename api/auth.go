package api

import (
	"net/http"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// retryLogin is how many seconds a caller with too many failed logins is asked to wait; the limit is one of a minute.
const retryLogin = "60"

func login(a *auth.Service, b *bodies) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Username string `json:"username"`
			Password string `json:"password"`
		}
		if err := b.readObject(r, &in, maxJSONBody); err != nil {
			fail(w, r, err)
			return
		}
		x := exchangeOf(r)
		token, err := a.Login(r.Context(), in.Username, in.Password, x.remote)
		if err != nil {
			if wire.As(err).Code == wire.RateLimited {
				w.Header().Set("Retry-After", retryLogin)
			}
			fail(w, r, err)
			return
		}
		// Only now is the name one of ours. In a failed login people type passwords there, and the audit row would keep it.
		x.caller = auth.Caller{Subject: in.Username}
		writeJSON(w, r, http.StatusOK, struct {
			Token     string    `json:"token"`
			ExpiresAt time.Time `json:"expires_at"`
		}{token, x.started.Add(auth.LoginTTL).UTC().Truncate(time.Second)})
	}
}

func mintToken(a *auth.Service, b *bodies) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in auth.TokenRequest
		if err := b.readObject(r, &in, maxJSONBody); err != nil {
			fail(w, r, err)
			return
		}
		record, token, err := a.Mint(r.Context(), exchangeOf(r).caller, in)
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusCreated, struct {
			auth.Token
			Secret string `json:"token"`
		}{record, token})
	}
}

func listTokens(a *auth.Service) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tokens, err := a.Tokens(r.Context())
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, map[string][]auth.Token{"tokens": list(tokens)})
	}
}

func revokeToken(a *auth.Service) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.Revoke(r.Context(), r.PathValue("id")); err != nil {
			fail(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
