// Package audit keeps one row for every call, whether it succeeds or fails: who, what, when and how it ended.
// Never a secret, never the input itself.
package audit

import "time"

// Row is one audited action. Status is "ok", or "error" with the code in Error.
type Row struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	RequestID   string    `json:"request_id"`
	Subject     string    `json:"subject"`
	Client      string    `json:"client,omitempty"`
	Action      string    `json:"action"` // pack.call, auth.login, artifact.delete …
	Pack        string    `json:"pack,omitempty"`
	JobID       string    `json:"job_id,omitempty"`
	SessionID   string    `json:"session_id,omitempty"`
	Status      string    `json:"status"`
	Error       string    `json:"error,omitempty"` // error code
	DurationMS  float64   `json:"duration_ms"`
	InputSHA256 string    `json:"input_sha256,omitempty"`
	Remote      string    `json:"remote,omitempty"`
}
