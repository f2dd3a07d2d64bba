package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// from makes a lookup of name, value pairs.
func from(pairs ...string) func(string) (string, bool) {
	m := map[string]string{"HOME": "/home/ada"}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func TestDefaults(t *testing.T) {
	got, err := FromEnv(from())
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Listen: "127.0.0.1:8080", DataDir: "/home/ada/.gantry", AdminUsername: "admin", LogLevel: "info", LogFormat: "text",
		MaxCalls: 64, MaxCallsPerCaller: 16, CallQueue: 128, CallQueueWait: 5 * time.Second, MaxConnections: 1024,
		ArtifactRetention: 720 * time.Hour, AuditRetention: 2160 * time.Hour, ShutdownGrace: 10 * time.Second,
		StockBaseURL: "https://api.pexels.com", ForgeAPIURL: "https://api.github.com",
	}
	if got != want {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	for _, p := range []any{&Config{}, &Client{}} {
		seen := map[string]bool{}
		for i, f := range fieldsOf(p) {
			name := reflect.TypeOf(p).Elem().Field(i).Name
			if !strings.HasPrefix(f.Name, prefix) || f.Name != strings.ToUpper(f.Name) {
				t.Errorf("%s: variable %q", name, f.Name)
			}
			if !strings.HasSuffix(f.Help, ".") || f.Flag == "" || seen[f.Name] {
				t.Errorf("%s: help %q, flag %q, seen before: %t", name, f.Help, f.Flag, seen[f.Name])
			}
			if _, known := rules[f.rule]; f.rule != "" && !known {
				t.Errorf("%s: no rule is called %q", name, f.rule)
			}
			if f.rule == "" && f.value.Kind() == reflect.String && !f.Secret {
				t.Errorf("%s: a text without a rule", name)
			}
			// A flag library that names flags after fields must come to the same name.
			if strings.ReplaceAll(f.Flag, "-", "") != strings.ToLower(name) {
				t.Errorf("%s: flag %q doesn't follow the field's name", name, f.Flag)
			}
			seen[f.Name] = true
		}
	}
	if n := len(Variables()); n != reflect.TypeFor[Config]().NumField() {
		t.Errorf("%d variables", n)
	}
}

func TestValues(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"GANTRY_LISTEN", ":0", ""},
		{"GANTRY_LISTEN", "[::1]:443", ""},
		{"GANTRY_LISTEN", "gantry.internal:8080", ""},
		{"GANTRY_LISTEN", "8080", "host:port"},
		{"GANTRY_LISTEN", "127.0.0.1:65536", "host:port"},
		{"GANTRY_LISTEN", "127.0.0.1:http", "host:port"},
		{"GANTRY_LISTEN", "http://127.0.0.1:80", "host:port"},
		{"GANTRY_LISTEN", "a b:80", "host:port"},
		{"GANTRY_DATA_DIR", "/var/lib/gantry", ""},
		{"GANTRY_DATA_DIR", "/var/lib/\x00", "path of a folder"},
		{"GANTRY_ADMIN_USERNAME", "root@example.com", ""},
		{"GANTRY_ADMIN_USERNAME", "two words", "printable"},
		{"GANTRY_ADMIN_USERNAME", "\xff", "printable"},
		{"GANTRY_ADMIN_USERNAME", strings.Repeat("x", maxName+1), "printable"},
		{"GANTRY_BASE_URL", "https://gantry.example.com", ""},
		{"GANTRY_BASE_URL", "https://gantry.example.com/", ""},
		{"GANTRY_BASE_URL", "HTTPS://Gantry.example.com:8443", ""},
		{"GANTRY_BASE_URL", "http://[::1]:8080", ""},
		{"GANTRY_BASE_URL", "https://gantry.example.com/path", "nothing after it"},
		{"GANTRY_BASE_URL", "https://gantry.example.com//", "nothing after it"},
		{"GANTRY_BASE_URL", "https://gantry.example.com?a=b", "nothing after it"},
		{"GANTRY_BASE_URL", "https://gantry.example.com?", "nothing after it"},
		{"GANTRY_BASE_URL", "https://gantry.example.com#a", "nothing after it"},
		{"GANTRY_BASE_URL", "https://gantry.example.com:", "nothing after it"},
		{"GANTRY_BASE_URL", "https://gantry.example.com:99999", "nothing after it"},
		{"GANTRY_BASE_URL", "https://ada:hunter2@gantry.example.com", "nothing after it"},
		{"GANTRY_BASE_URL", "javascript:alert(1)", "nothing after it"},
		{"GANTRY_BASE_URL", "//gantry.example.com", "nothing after it"},
		{"GANTRY_BASE_URL", "https://", "nothing after it"},
		{"GANTRY_LOG_LEVEL", "warn", ""},
		{"GANTRY_LOG_LEVEL", "loud", "debug, info, warn or error"},
		{"GANTRY_LOG_FORMAT", "json", ""},
		{"GANTRY_LOG_FORMAT", "xml", "text or json"},
		{"GANTRY_MAX_CALLS", "1", ""},
		{"GANTRY_MAX_CALLS", "0", "whole number from 1"},
		{"GANTRY_MAX_CALLS", "-1", "whole number from 1"},
		{"GANTRY_MAX_CALLS", "1e3", "whole number from 1"},
		{"GANTRY_MAX_CALLS_PER_CALLER", "99999999999999999999", "whole number from 1"},
		{"GANTRY_CALL_QUEUE", "1000001", "whole number from 1"},
		{"GANTRY_MAX_CONNECTIONS", "many", "whole number from 1"},
		{"GANTRY_CALL_QUEUE_WAIT", "5", "duration of 0 or more"},
		{"GANTRY_ARTIFACT_RETENTION", "0", ""},
		{"GANTRY_AUDIT_RETENTION", "-1h", "duration of 0 or more"},
		{"GANTRY_SHUTDOWN_GRACE", "1y", "duration of 0 or more"},
		{"GANTRY_FORGE_API_URL", "https://ghe.example.com/api/v3", ""},
		{"GANTRY_FORGE_API_URL", "http://127.0.0.1:3000/api/v1/", ""},
		{"GANTRY_FORGE_API_URL", "http://[::1]:3000", ""},
		{"GANTRY_FORGE_API_URL", "https://ada:hunter2@ghe.example.com", "without user"},
		{"GANTRY_FORGE_API_URL", "https://ghe.example.com?token=x", "without user"},
		{"GANTRY_FORGE_API_URL", "https://ghe.example.com#x", "without user"},
		{"GANTRY_FORGE_API_URL", "https:///api", "without user"},
		{"GANTRY_FORGE_API_URL", "ghe.example.com/api", "without user"},
		{"GANTRY_FORGE_API_URL", "ftp://ghe.example.com", "without user"},
		{"GANTRY_STOCK_BASE_URL", "https://stock.example.com:99999", "without user"},
		{"GANTRY_STOCK_BASE_URL", "https://stock.example.com/a b", "without user"},
		{"GANTRY_EGRESS_ALLOW", "nas.lan, 10.0.0.0/8,*.corp.example", ""},
		{"GANTRY_EGRESS_ALLOW", "nas.lan\n10.0.0.0/8", "separated by commas"},
		{"GANTRY_VAULT_KEK", "file:///etc/gantry/vault.key", ""},
	}
	for _, test := range tests {
		_, err := FromEnv(from(test.name, test.value))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s=%q: %v", test.name, test.value, err)
		case test.want == "":
		case err == nil:
			t.Errorf("%s=%q is accepted", test.name, test.value)
		case !strings.HasPrefix(err.Error(), test.name+"=") || !strings.Contains(err.Error(), test.want) ||
			strings.ContainsAny(err.Error(), "\n\x00") || strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s=%q: %v", test.name, test.value, err)
		}
	}
}

// Somebody may put the key itself where its place belongs, or a key with a line's end.
func TestKeysAreNotRepeated(t *testing.T) {
	for name, value := range map[string]string{
		"GANTRY_VAULT_KEK": "hunter2hunter2hunter2", "GANTRY_STOCK_API_KEY": "hunter2\r\nX-Evil: 1", "GANTRY_TTS_API_KEY": "hunter2 hunter2",
	} {
		_, err := FromEnv(from(name, value))
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"file://host/x", "file:vault.key", "file:///", "file:///x?y", "awskms://alias/x", "/etc/vault.key"} {
		if _, err := FromEnv(from("GANTRY_VAULT_KEK", bad)); err == nil {
			t.Errorf("GANTRY_VAULT_KEK=%s is accepted", bad)
		}
	}
}

func TestEgressEntries(t *testing.T) {
	c, err := FromEnv(from("GANTRY_EGRESS_ALLOW", " nas.lan,10.0.0.0/8 , ,*.corp.example,"))
	if want := []string{"nas.lan", "10.0.0.0/8", "*.corp.example"}; err != nil || !slices.Equal(c.EgressEntries(), want) {
		t.Errorf("%q, %v", c.EgressEntries(), err)
	}
	if c, _ := FromEnv(from()); c.EgressEntries() != nil {
		t.Errorf("unset: %q", c.EgressEntries())
	}
}

func TestEmptyIsUnset(t *testing.T) {
	c, err := FromEnv(from("GANTRY_MAX_CALLS", "", "GANTRY_BASE_URL", ""))
	if err != nil || c.MaxCalls != 64 || c.BaseURL != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestDataDir(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"~": "/home/ada", "~/x/../y": "/home/ada/y", "/srv/x/": "/srv/x", "rel": filepath.Join(here, "rel"), "~bob": filepath.Join(here, "~bob"),
	} {
		if c, err := FromEnv(from("GANTRY_DATA_DIR", text)); err != nil || c.DataDir != want {
			t.Errorf("%q: %q, %v; want %q", text, c.DataDir, err, want)
		}
	}
	if _, err := FromEnv(from("HOME", "")); err == nil || !strings.Contains(err.Error(), "HOME is not set") {
		t.Errorf("no home folder: %v", err)
	}
}

func TestBaseURLLosesItsSlash(t *testing.T) {
	c, err := FromEnv(from("GANTRY_BASE_URL", "https://gantry.example.com/"))
	if err != nil || c.BaseURL != "https://gantry.example.com" {
		t.Errorf("%q, %v", c.BaseURL, err)
	}
}

func TestValidateByHand(t *testing.T) {
	c, _ := FromEnv(from())
	c.MaxCalls = 0
	if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), `GANTRY_MAX_CALLS="0": want`) {
		t.Errorf("%v", err)
	}
}

func TestClient(t *testing.T) {
	c, err := ClientFromEnv(from("GANTRY_TOKEN", "abc"))
	if err != nil || c.URL != "http://127.0.0.1:8080" || c.Token.Reveal() != "abc" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := ClientFromEnv(from("GANTRY_URL", "127.0.0.1:8080")); err == nil {
		t.Error("a URL without a scheme is accepted")
	}
	_, err = ClientFromEnv(from("GANTRY_TOKEN", "hunter2\nX-Evil: 1"))
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), "GANTRY_TOKEN") {
		t.Errorf("a header in the token: %v", err)
	}
}

func TestUnknown(t *testing.T) {
	got := unknown([]string{"GANTRY_LISTN=x", "GANTRY_TOKEN=t", "GANTRY_URL=u", "GANTRY_LISTEN=l", "PATH=p", "GANTRY_A=hunter2"})
	if !slices.Equal(got, []string{"GANTRY_A", "GANTRY_LISTN"}) {
		t.Errorf("%q", got)
	}
}
