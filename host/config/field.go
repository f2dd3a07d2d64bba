package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// maxCount bounds every number, so that a slip of the finger doesn't reserve the machine's memory.
const maxCount = 1_000_000

// field is one variable together with the place its value goes to.
type field struct {
	Variable
	rule  string
	value reflect.Value
}

// fieldsOf lists the fields of the struct that p points to.
func fieldsOf(p any) []field {
	v := reflect.ValueOf(p).Elem()
	list := make([]field, 0, v.NumField())
	for i := range v.NumField() {
		t := v.Type().Field(i)
		name := t.Tag.Get("var")
		_, secret := v.Field(i).Interface().(Secret)
		list = append(list, field{
			Variable: Variable{
				Name:    name,
				Flag:    strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, prefix), "_", "-")),
				Default: t.Tag.Get("default"),
				Help:    t.Tag.Get("help"),
				Secret:  secret,
			},
			rule:  t.Tag.Get("rule"),
			value: v.Field(i),
		})
	}
	return list
}

// read fills the struct that p points to.
func read(p any, lookup func(string) (string, bool)) error {
	for _, f := range fieldsOf(p) {
		text, _ := lookup(f.Name)
		if text == "" {
			text = f.Default
		}
		if err := f.set(text, lookup); err != nil {
			return err
		}
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

// set parses text into the field.
func (f field) set(text string, lookup func(string) (string, bool)) error {
	switch f.value.Interface().(type) {
	case int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return f.refuse(text, wantCount)
		}
		f.value.SetInt(int64(n))
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return f.refuse(text, wantDuration)
		}
		f.value.SetInt(int64(d))
	default:
		switch f.rule {
		case "dir":
			dir, err := f.expand(text, lookup)
			if err != nil {
				return err
			}
			text = dir
		case "url", "base":
			text = strings.TrimSuffix(text, "/")
		}
		f.value.SetString(text)
	}
	return nil
}

// expand makes a folder's path absolute, "~" being the home folder.
func (f field) expand(text string, lookup func(string) (string, bool)) (string, error) {
	if text == "~" || strings.HasPrefix(text, "~/") {
		home, _ := lookup("HOME")
		if home == "" {
			return "", f.refuse(text, "an absolute path, since HOME is not set")
		}
		text = filepath.Join(home, text[1:])
	}
	dir, err := filepath.Abs(text)
	if err != nil {
		return "", f.refuse(text, "an absolute path")
	}
	return dir, nil
}

// check holds the field's value against its type and rule.
func (f field) check() error {
	switch v := f.value.Interface().(type) {
	case int:
		if v < 1 || v > maxCount {
			return f.refuse(strconv.Itoa(v), wantCount)
		}
	case time.Duration:
		if v < 0 {
			return f.refuse(v.String(), wantDuration)
		}
	default:
		text := f.value.String()
		if r := rules[f.rule]; r.ok != nil && !r.ok(text) {
			return f.refuse(text, r.want)
		}
	}
	return nil
}

// refuse words what is wrong with a value; a password inside of a URL is left out too, and so is what may hold a
// key in the wrong place.
func (f field) refuse(text, want string) error {
	if f.Secret || f.rule == "kek" || f.rule == "bucket" {
		return fmt.Errorf("%s: the value (not shown) is not accepted: want %s", f.Name, want)
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		text = u.Redacted()
	}
	return fmt.Errorf("%s=%q: want %s", f.Name, text, want)
}
