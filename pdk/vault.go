package pdk

import "github.com/gantry-packs/gantry/pdk/wire"

// SignRequest asks for a signature with a credential.
type SignRequest = wire.SignRequest

// Signature is an HMAC in hex, or a JWT.
type Signature = wire.Signature

// The algorithms of [Sign].
const (
	HMACSHA256 = wire.HMACSHA256
	JWTHS256   = wire.JWTHS256
)

// Credential is what a pack may know of a credential: name, type and host pattern.
type Credential = wire.Credential

// Sign makes a signature with a credential that the pack never sees. Needs the permission vault. A credential that isn't
// there, isn't the caller's or isn't for r.Host is invalid_input.
func Sign(r SignRequest) (Signature, error) { return ask[Signature](vaultSign, r) }

// Look says what is known of a credential. Needs the permission vault. One that isn't there or isn't the caller's is
// invalid_input.
func Look(name string) (Credential, error) {
	return ask[Credential](vaultLook, wire.LookRequest{Name: name})
}
