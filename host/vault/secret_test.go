package vault

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestSecretNeverPrints tries the ways in which a value gets printed, also from inside of a struct that hides it.
func TestSecretNeverPrints(t *testing.T) {
	s := newSecret(TypeAPIKey, []byte(value))
	type open struct{ Secret Secret }
	type hidden struct{ secret Secret }
	holders := []any{s, &s, []Secret{s}, map[string]Secret{"k": s}, open{s}, &open{s}, hidden{s}, &hidden{s}, []hidden{{s}}, fmt.Errorf("x: %v", s)}
	forms := []string{value, strings.Trim(fmt.Sprint([]byte(value)), "[]"), fmt.Sprintf("%x", value), fmt.Sprintf("%X", value), fmt.Sprintf("%q", value)}
	check := func(what, text string) {
		t.Helper()
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("%s: %s", what, text)
			}
		}
	}
	for i, holder := range holders {
		for verb := 'A'; verb <= 'z'; verb++ {
			for _, flags := range []string{"", "+", "#", "-", " ", "0", "200", ".50", "#+"} {
				format := "%" + flags + string(verb)
				check(fmt.Sprint(i, format), fmt.Sprintf(format, holder))
			}
		}
		if text, err := json.Marshal(holder); err == nil {
			check("json", string(text))
		}
		if text, err := xml.Marshal(holder); err == nil {
			check("xml", string(text))
		}
		var out bytes.Buffer
		_ = gob.NewEncoder(&out).Encode(holder)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", holder)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", holder)
		check("gob and slog", out.String())
	}
	if string(s.Reveal()) != value {
		t.Error("the value itself is gone")
	}
	s.Wipe()
	if !bytes.Equal(s.Reveal(), make([]byte, len(value))) {
		t.Error("it is still there after Wipe")
	}
	var none Secret
	none.Wipe()
	if none.Reveal() != nil || none.Type() != "" || fmt.Sprint(none) != Mask {
		t.Error("the zero secret isn't empty")
	}
}
