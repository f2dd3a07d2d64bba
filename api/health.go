package api

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
)

// healthz answers as long as the process can answer at all.
func healthz(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

type readiness struct {
	Status string            `json:"status"` // ok or unavailable
	Parts  map[string]string `json:"parts"`  // part: ok, or why not
}

// readyz answers 503 when a part that calls need is not up.
func readyz(ready func(context.Context) map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, code := readiness{Status: "ok", Parts: ready(r.Context())}, http.StatusOK
		for _, state := range answer.Parts {
			if state != "ok" {
				answer.Status, code = "unavailable", http.StatusServiceUnavailable
			}
		}
		writeJSON(w, r, code, answer)
	}
}

type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Commit  string `json:"commit,omitempty"`
}

func showVersion(version string) http.HandlerFunc {
	b := build{Version: version, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	return func(w http.ResponseWriter, r *http.Request) { writeJSON(w, r, http.StatusOK, b) }
}
