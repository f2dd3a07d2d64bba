package registry

import (
	"net/url"
	"slices"
	"strings"
)

const (
	settingPrefix = "setting:" // of an entry of permissions.net
	inputPrefix   = "input:"   // of an entry of permissions.vault
)

// AllowsURL says whether permissions.net covers a URL's host: * is any, api.acme.test that one, *.acme.test those below it;
// with :port only that port. setting:NAME is the host and port of the setting NAME, a URL; setting gives its value.
func (m *Manifest) AllowsURL(u *url.URL, setting func(name string) (string, bool)) bool {
	if m.Permissions == nil {
		return false
	}
	return slices.ContainsFunc(m.Permissions.Net, func(pattern string) bool {
		if name, ok := strings.CutPrefix(pattern, settingPrefix); ok {
			return isSetting(u, name, setting)
		}
		return hostFits(pattern, u)
	})
}

// NamesSetting says whether permissions.net names the setting itself, rather than a pattern that happens to fit its host.
func (m *Manifest) NamesSetting(name string) bool {
	return m.Permissions != nil && slices.Contains(m.Permissions.Net, settingPrefix+name)
}

func isSetting(u *url.URL, name string, setting func(name string) (string, bool)) bool {
	value, ok := setting(name)
	if !ok {
		return false
	}
	base, err := url.Parse(value)
	return err == nil && base.Host != "" && strings.EqualFold(base.Hostname(), u.Hostname()) && Port(base) == Port(u)
}

// Port is a URL's port, or the one that its scheme stands for.
func Port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func hostFits(pattern string, u *url.URL) bool {
	host, port, hasPort := strings.Cut(pattern, ":")
	if hasPort && port != Port(u) {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "*" {
		return name != ""
	}
	if suffix, below := strings.CutPrefix(host, "*"); below {
		return strings.HasSuffix(name, suffix) && len(name) > len(suffix)
	}
	return name == host
}

// AllowsCredential says whether permissions.vault covers a credential: by its name, or by input:FIELD when the caller has
// named it in that field of the input, as the field's value or as ${vault:NAME} anywhere in it.
func (m *Manifest) AllowsCredential(name string, input map[string]any) bool {
	if m.Permissions == nil || name == "" {
		return false
	}
	return slices.ContainsFunc(m.Permissions.Vault, func(entry string) bool {
		field, ok := strings.CutPrefix(entry, inputPrefix)
		if !ok {
			return entry == name
		}
		value := input[field]
		return value == name || mentions(value, "${vault:"+name+"}")
	})
}

// mentions looks for text in all strings of a JSON value.
func mentions(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return mentions(item, text) })
	case map[string]any:
		for _, item := range v {
			if mentions(item, text) {
				return true
			}
		}
	}
	return false
}
