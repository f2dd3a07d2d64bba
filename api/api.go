// Package api is the door: the HTTP routes, what each of them demands of a token, and how answers and errors are written.
// The work itself is done further in; a handler here takes exactly the parts that it uses, reads the request, calls one of
// them and writes what comes back.
package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/engine"
)

// restOfPath is the parameter that takes the rest of a path, slashes and all.
const restOfPath = "{key...}"

// access is what a route demands of a request.
type access struct {
	scope  string // of the caller's token
	open   bool   // nothing is demanded
	signed bool   // a signed URL does as well as a token
}

var (
	public        = access{open: true}
	reads         = access{scope: "packs:read"}
	readsOrSigned = access{scope: "packs:read", signed: true}
	calls         = access{scope: engine.Scope}
	vaultReads    = access{scope: "vault:read"}
	vaultWrites   = access{scope: "vault:write"}
	admin         = access{scope: "admin"}
)

// route is one operation of the service.
type route struct {
	method  string
	pattern string // {name} is one segment, {key...} the rest of the path
	access  access
	action  string // every use leaves an audit row of this name; "" for what changes nothing
	doc     doc
	handler http.HandlerFunc
}

// doc is what openapi.json says of a route beyond its path: in and out name schemas of schemas.json, "" is no JSON body.
type doc struct {
	summary string
	status  int // of success
	in, out string
	query   string // names of query parameters, separated by spaces
}

// routes is the whole door, one line an operation.
func routes(h *host.Host, version string) []route {
	b := newBodies()
	table := []route{
		{"POST", "/api/v1/auth/login", public, "auth.login", doc{"Log in: a token for 12 hours", 200, "Login", "LoginToken", ""}, login(h.Auth, b)},
		{"POST", "/api/v1/auth/tokens", admin, "token.mint", doc{"Mint a token", 201, "TokenRequest", "NewToken", ""}, mintToken(h.Auth, b)},
		{"GET", "/api/v1/auth/tokens", admin, "", doc{"List minted tokens", 200, "", "TokenList", ""}, listTokens(h.Auth)},
		{"DELETE", "/api/v1/auth/tokens/{id}", admin, "token.revoke", doc{"Revoke a token at once", 204, "", "", ""}, revokeToken(h.Auth)},
		{"GET", "/api/v1/packs", reads, "", doc{"List packs", 200, "", "PackList", ""}, listPacks(h.Packs)},
		{"GET", "/api/v1/packs/{name}", reads, "", doc{"One pack, with examples", 200, "", "Pack", ""}, showPack(h.Packs)},
		{"POST", "/api/v1/packs/{name}", calls, engine.Action, doc{"Call a pack", 200, "PackInput", "Envelope", ""}, callPack(h.Engine, b)},
		{"GET", "/api/v1/artifacts", reads, "", doc{"List artifacts, newest first", 200, "", "ArtifactPage", "pack limit cursor"}, listArtifacts(h.Artifacts)},
		{"POST", "/api/v1/artifacts", calls, "artifact.upload", doc{"Upload a file", 201, "Upload", "Artifact", ""}, uploadArtifact(h.Artifacts)},
		{"GET", "/api/v1/artifacts/{key...}", readsOrSigned, "", doc{"The bytes; with Accept: application/json the entry", 200, "", "Artifact", "exp sig"}, getArtifact(h.Artifacts)},
		{"DELETE", "/api/v1/artifacts/{key...}", calls, "artifact.delete", doc{"Delete an artifact", 204, "", "", ""}, deleteArtifact(h.Artifacts)},
		{"GET", "/api/v1/vault/credentials", vaultReads, "", doc{"List credentials, never their values", 200, "", "CredentialList", ""}, listCredentials(h.Vault)},
		{"POST", "/api/v1/vault/credentials", vaultWrites, "vault.create", doc{"Keep a credential", 201, "NewCredential", "Credential", ""}, createCredential(h.Vault, b)},
		{"GET", "/api/v1/vault/credentials/{credential}", vaultReads, "", doc{"One credential", 200, "", "Credential", ""}, showCredential(h.Vault)},
		{"PUT", "/api/v1/vault/credentials/{credential}", vaultWrites, "vault.rotate", doc{"Give a credential a new value", 200, "CredentialSecret", "Credential", ""}, rotateCredential(h.Vault, b)},
		{"DELETE", "/api/v1/vault/credentials/{credential}", vaultWrites, "vault.delete", doc{"Destroy a credential", 204, "", "", ""}, deleteCredential(h.Vault)},
		{"PUT", "/api/v1/vault/credentials/{credential}/acl", vaultWrites, "vault.acl", doc{"Say who may use a credential", 200, "CredentialACL", "Credential", ""}, setCredentialACL(h.Vault, b)},
		{"GET", "/api/v1/vault/credentials/{credential}/usage", vaultReads, "", doc{"Who asked for a credential, newest first", 200, "", "CredentialUsage", "limit cursor"}, credentialUsage(h.Vault)},
		{"GET", "/api/v1/audit", admin, "", doc{"Audit rows, newest first", 200, "", "AuditPage", "from to pack subject status limit cursor"}, listAudit(h.Audit)},
		{"GET", "/healthz", public, "", doc{"Is the process up", 200, "", "Health", ""}, healthz},
		{"GET", "/readyz", public, "", doc{"Are the parts that a call needs up; 503 if not", 200, "", "Readiness", ""}, readyz(h.Ready)},
		{"GET", "/metrics", public, "", doc{"Metrics in Prometheus' format", 200, "", "", ""}, metricsPage(h.Metrics)},
		{"GET", "/version", public, "", doc{"What is running", 200, "", "Version", ""}, showVersion(version)},
	}
	description := route{"GET", "/api/v1/openapi.json", public, "", doc{"This description, with the packs of now", 200, "", "OpenAPI", ""}, nil}
	table = append(table, description)
	table[len(table)-1].handler = openAPI(h.Packs, table, version)
	return table
}

// New is the service's HTTP handler. It may be called once for a host, whose metrics it adds to.
func New(h *host.Host, version string) http.Handler {
	return newDoor(h, routes(h, version))
}

// newMux makes the table into a router that answers every request in JSON: what is not in the table is not_found, and a known
// path with another method is method_not_allowed.
func (d *door) newMux(table []route) *chi.Mux {
	mux := chi.NewRouter()
	mux.NotFound(notFound)
	allowed := map[string][]string{}
	for _, rt := range table {
		allowed[rt.pattern] = append(allowed[rt.pattern], rt.methods()...)
	}
	for pattern, methods := range allowed {
		mux.Handle(chiPattern(pattern), methodNotAllowed(pattern, strings.Join(methods, ", ")))
	}
	for _, rt := range table {
		for _, method := range rt.methods() {
			mux.Method(method, chiPattern(rt.pattern), d.guard(rt))
		}
	}
	return mux
}

// methods are those that the route answers: a GET can be asked for its header alone.
func (rt route) methods() []string {
	if rt.method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{rt.method}
}

// chiPattern is the pattern as chi writes it: the rest of a path has no name there.
func chiPattern(pattern string) string { return strings.Replace(pattern, restOfPath, "*", 1) }
