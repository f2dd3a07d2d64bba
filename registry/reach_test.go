package registry

import (
	"net/url"
	"testing"
)

func TestAllowsURL(t *testing.T) {
	settings := map[string]string{"GANTRY_FORGE_API_URL": "https://git.acme.test:8443/api/v1", "GANTRY_ODD": "::"}
	setting := func(name string) (string, bool) { v, ok := settings[name]; return v, ok }
	for _, tt := range []struct {
		pattern, url string
		want         bool
	}{
		{"*", "https://any.test/", true}, {"*:443", "https://any.test/", true}, {"*:443", "http://any.test/", false},
		{"api.acme.test", "https://api.acme.test/x", true}, {"api.acme.test", "https://API.acme.test./x", true},
		{"api.acme.test", "https://api.acme.test:8443/", true}, {"api.acme.test:443", "https://api.acme.test:8443/", false},
		{"api.acme.test", "https://xapi.acme.test/", false}, {"api.acme.test", "https://api.acme.test.evil.test/", false},
		{"api.acme.test", "https://api.acme.test@evil.test/", false},
		{"*.acme.test", "https://a.b.acme.test/", true}, {"*.acme.test", "https://acme.test/", false}, {"*.acme.test", "https://evilacme.test/", false},
		{"setting:GANTRY_FORGE_API_URL", "https://git.acme.test:8443/other", true}, {"setting:GANTRY_FORGE_API_URL", "https://git.acme.test/", false},
		{"setting:GANTRY_ODD", "https://git.acme.test/", false}, {"setting:GANTRY_NONE", "https://git.acme.test/", false},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		m := Manifest{Permissions: &Permissions{Net: []string{tt.pattern}}}
		if got := m.AllowsURL(u, setting); got != tt.want {
			t.Errorf("%s for %s: %v", tt.pattern, tt.url, got)
		}
		if !validNet(tt.pattern) {
			t.Errorf("%s is not a valid entry", tt.pattern)
		}
	}
	for _, bad := range []string{"setting:", "setting:lower", "setting:A B", "Setting:A", "https://a.test"} {
		if validNet(bad) {
			t.Errorf("%s is a valid entry", bad)
		}
	}
	if (&Manifest{}).AllowsURL(&url.URL{Host: "a.test"}, setting) || (&Manifest{}).NamesSetting("GANTRY_FORGE_API_URL") {
		t.Error("a pack without permissions reaches something")
	}
}

func TestAllowsCredential(t *testing.T) {
	m := Manifest{Permissions: &Permissions{Vault: []string{"stock-key", "input:credential", "input:headers"}}}
	input := map[string]any{
		"credential": "mine", "other": "theirs", "number": 7.0,
		"headers": map[string]any{"Authorization": "Token ${vault:in-header}", "X": []any{"${vault:deep}"}},
	}
	for name, want := range map[string]bool{
		"stock-key": true, "mine": true, "in-header": true, "deep": true,
		"theirs": false, "": false, "min": false, "input:credential": false, "header": false, "vault:deep": false,
	} {
		if got := m.AllowsCredential(name, input); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if (&Manifest{}).AllowsCredential("stock-key", nil) {
		t.Error("a pack without permissions uses a credential")
	}
}
