// Package config holds every variable of the service: one tagged struct, one table made from it, and the only code that
// reads the process's environment. Everybody else is handed a Config.
package config

import (
	"os"
	"sort"
	"strings"
	"time"
)

// Service is the service's name: the prefix of tools, headers and metrics.
const Service = "gantry"

// prefix begins the name of every variable.
const prefix = "GANTRY_"

// Config is what an operator may set. Each field's tags are its variable, its default, its help and, for a text field,
// the rule that its value must meet; the flag's name follows from the variable's, and is said where kong would find another.
type Config struct {
	Listen        string `var:"GANTRY_LISTEN" default:"127.0.0.1:8080" rule:"listen" help:"Address to listen on, as host:port; port 0 takes a free one."`
	DataDir       string `var:"GANTRY_DATA_DIR" default:"~/.gantry" rule:"dir" help:"Folder of everything that is kept; one running service per folder."`
	AdminUsername string `var:"GANTRY_ADMIN_USERNAME" default:"admin" rule:"name" help:"User name of the administrator."`
	AdminPassword Secret `var:"GANTRY_ADMIN_PASSWORD" help:"Password of the administrator. Unset: made on the first start, printed once, only its hash kept."`
	BaseURL       string `var:"GANTRY_BASE_URL" rule:"url" help:"Public URL in links, as http(s)://host[:port]. Unset: http:// and the address listened on."`
	LogLevel      string `var:"GANTRY_LOG_LEVEL" default:"info" rule:"level" help:"Least level that is logged: debug, info, warn or error."`
	LogFormat     string `var:"GANTRY_LOG_FORMAT" default:"text" rule:"format" help:"Shape of the log: text or json."`

	MaxCalls          int           `var:"GANTRY_MAX_CALLS" default:"64" help:"Pack calls that run at a time."`
	MaxCallsPerCaller int           `var:"GANTRY_MAX_CALLS_PER_CALLER" default:"16" help:"Pack calls of one subject that run at a time."`
	CallQueue         int           `var:"GANTRY_CALL_QUEUE" default:"128" help:"Pack calls that may wait for their turn; one more is refused."`
	CallQueueWait     time.Duration `var:"GANTRY_CALL_QUEUE_WAIT" default:"5s" help:"Longest wait of a call for its turn."`
	MaxConnections    int           `var:"GANTRY_MAX_CONNECTIONS" default:"1024" help:"Client connections at a time."`
	ArtifactRetention time.Duration `var:"GANTRY_ARTIFACT_RETENTION" default:"720h" help:"How long an artifact is kept; 0 for ever."`
	AuditRetention    time.Duration `var:"GANTRY_AUDIT_RETENTION" default:"2160h" help:"How long an audit row is kept; 0 for ever."`
	ShutdownGrace     time.Duration `var:"GANTRY_SHUTDOWN_GRACE" default:"10s" help:"How long running calls may go on after a stop signal."`

	ArtifactsURL       string `var:"GANTRY_ARTIFACTS_URL" name:"artifacts-url" rule:"bucket" help:"Where the bytes of artifacts are kept, as s3://bucket/prefix?endpoint=https://host:port&region=us-east-1&path_style=true; one service per prefix. Unset: a folder in the data dir."`
	ArtifactsAccessKey string `var:"GANTRY_ARTIFACTS_ACCESS_KEY" rule:"token" help:"Access key of the bucket."`
	ArtifactsSecretKey Secret `var:"GANTRY_ARTIFACTS_SECRET_KEY" rule:"token" help:"Secret key of the bucket."`

	VaultKEK     string `var:"GANTRY_VAULT_KEK" rule:"kek" help:"Key-encryption key of the vault, as file:///path. Unset: vault.key in the data dir, made on the first start."`
	EgressAllow  string `var:"GANTRY_EGRESS_ALLOW" rule:"list" help:"Hosts (name, *.name, IP address, each with an optional :port) and CIDRs that URLs may lead to although they are private, separated by commas."`
	StockAPIKey  Secret `var:"GANTRY_STOCK_API_KEY" rule:"token" help:"Key of the stock photo provider, kept in the vault as stock-key."`
	StockBaseURL string `var:"GANTRY_STOCK_BASE_URL" default:"https://api.pexels.com" rule:"base" help:"Where the stock photo provider answers."`
	TTSAPIKey    Secret `var:"GANTRY_TTS_API_KEY" name:"tts-api-key" rule:"token" help:"Key of the text-to-speech provider, kept in the vault as tts-key."`
	ForgeAPIURL  string `var:"GANTRY_FORGE_API_URL" name:"forge-api-url" default:"https://api.github.com" rule:"base" help:"Where the code-hosting platform's API answers."`
}

// EgressEntries are the entries of EgressAllow; package egress knows what each of them means.
func (c Config) EgressEntries() []string {
	var entries []string
	for e := range strings.SplitSeq(c.EgressAllow, ",") {
		if e = strings.TrimSpace(e); e != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// Client is what a command that talks to a running service may be told.
type Client struct {
	URL   string `var:"GANTRY_URL" default:"http://127.0.0.1:8080" rule:"url" help:"URL of the service, as http(s)://host[:port]."`
	Token Secret `var:"GANTRY_TOKEN" rule:"token" help:"Bearer token of the caller."`
}

// Variable describes one variable, for help texts and tables.
type Variable struct {
	Name    string // GANTRY_MAX_CALLS
	Flag    string // max-calls, without dashes in front
	Default string // as written in the environment; empty: unset
	Help    string
	Secret  bool // never show its value
}

// Variables lists the variables of [Config] in their order.
func Variables() []Variable {
	var c Config
	var list []Variable
	for _, f := range fieldsOf(&c) {
		list = append(list, f.Variable)
	}
	return list
}

// FromEnv reads a Config through lookup. A variable that is absent or empty takes its default. The error is one line
// that names the variable, its value (never a secret's) and what is accepted.
func FromEnv(lookup func(string) (string, bool)) (Config, error) {
	var c Config
	if err := read(&c, lookup); err != nil {
		return Config{}, err
	}
	return c, c.checkBucket()
}

// ClientFromEnv reads a Client through lookup, by the rules of [FromEnv].
func ClientFromEnv(lookup func(string) (string, bool)) (Client, error) {
	var c Client
	if err := read(&c, lookup); err != nil {
		return Client{}, err
	}
	return c, nil
}

// Validate checks every value, for a Config that was not made by [FromEnv].
func (c Config) Validate() error {
	for _, f := range fieldsOf(&c) {
		if err := f.check(); err != nil {
			return err
		}
	}
	return c.checkBucket()
}

// Environ looks variables up in the process's environment.
func Environ() func(string) (string, bool) { return os.LookupEnv }

// Unknown names the GANTRY_ variables of the process's environment that do not exist: most likely a typing error.
func Unknown() []string { return unknown(os.Environ()) }

func unknown(environ []string) []string {
	known := map[string]bool{}
	for _, f := range append(fieldsOf(&Config{}), fieldsOf(&Client{})...) {
		known[f.Name] = true
	}
	var names []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, prefix) && !known[name] {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
