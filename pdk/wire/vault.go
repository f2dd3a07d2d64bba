package wire

import "encoding/json"

// The algorithms of vault_sign.
const (
	HMACSHA256 = "hmac-sha256"
	JWTHS256   = "jwt-hs256"
)

// SignRequest is the request of vault_sign; the answer is a Signature. Host is where the signature will be shown; the
// credential's host pattern must cover it.
type SignRequest struct {
	Credential string `json:"credential"`
	Host       string `json:"host"`           // host or host:port
	Alg        string `json:"alg"`            // HMACSHA256 or JWTHS256
	Data       string `json:"data,omitempty"` // HMACSHA256: what is signed

	// JWTHS256: objects. The host sets alg and typ in the header.
	Header json.RawMessage `json:"header,omitempty"`
	Claims json.RawMessage `json:"claims,omitempty"`

	// IDSecret says that the credential is <id>:<hex secret>: the decoded secret signs, and the id becomes the JWT's kid.
	IDSecret bool `json:"id_secret,omitempty"`
}

// Signature has the one of its fields that the algorithm makes.
type Signature struct {
	Hex string `json:"hex,omitempty"` // HMACSHA256, lower case
	JWT string `json:"jwt,omitempty"` // JWTHS256, compact
}

// LookRequest is the request of vault_look; the answer is a Credential.
type LookRequest struct {
	Name string `json:"name"`
}

// Credential is what a pack may know of a credential: never the secret.
type Credential struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	HostPattern string `json:"host_pattern"`
}
