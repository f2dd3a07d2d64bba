package config

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestSecretNeverPrints(t *testing.T) {
	const value = "hunter2"
	c, err := FromEnv(from("GANTRY_ADMIN_PASSWORD", value))
	if err != nil {
		t.Fatal(err)
	}
	if c.AdminPassword.Reveal() != value {
		t.Fatal("Reveal doesn't give the value")
	}
	printed := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%c", "%f", "%10s", "%!"} {
		printed[verb] = fmt.Sprintf(verb, c.AdminPassword)
		printed[verb+" of the struct"] = fmt.Sprintf(verb, c)
		printed[verb+" of its address"] = fmt.Sprintf(verb, &c)
	}
	printed["Sprint"] = fmt.Sprint(c.AdminPassword, c)
	printed["error"] = fmt.Errorf("at %v %s", c, c.AdminPassword).Error()
	for name, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal, "xml": xml.Marshal} {
		text, err := marshal(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		printed[name] = string(text)
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("start", "config", c, "password", c.AdminPassword, "pair", []Secret{c.AdminPassword})
	}
	printed["slog"] = log.String()

	hexed := fmt.Sprintf("%x", value)
	for how, text := range printed {
		if strings.Contains(text, value) || strings.Contains(strings.ToLower(text), hexed) || strings.Contains(text, "104 117") {
			t.Errorf("%s prints the secret: %s", how, text)
		}
	}
	if !strings.Contains(printed["json"], `"AdminPassword":"[secret]"`) || printed["%v"] != masked {
		t.Errorf("the mask is missing: %s, %s", printed["json"], printed["%v"])
	}
	if s := fmt.Sprintf("%v|%s", Secret(""), Secret("")); s != "|" {
		t.Errorf("an unset secret prints %q", s)
	}
}
