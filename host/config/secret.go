package config

import (
	"fmt"
	"io"
	"log/slog"
)

// masked is what a set secret looks like wherever it is printed.
const masked = "[secret]"

// Secret is a value that cannot be printed: every way to format, marshal or log it gives a mask. Reveal is the one way out.
// Two holes are left by fmt, which asks no method there: the verb %p (go vet refuses it), and a Secret inside of an
// unexported field of a struct that is printed whole. Keep secrets in exported fields, or don't print their holder.
type Secret string

// Reveal returns the value itself, for the place that uses it.
func (s Secret) Reveal() string { return string(s) }

// String masks the value; an empty secret stays empty, so that "unset" can be told from "set".
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString masks the value for %#v.
func (s Secret) GoString() string { return fmt.Sprintf("config.Secret(%q)", s.String()) }

// Format masks the value for every verb. String alone would not do: a verb that doesn't fit a string, such as %d,
// makes fmt print the raw value in its complaint.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText masks the value for encoders of text, XML and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON masks the value.
func (s Secret) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", s.String()), nil }

// LogValue masks the value for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
