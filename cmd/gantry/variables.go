package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gantry-packs/gantry/host/config"
)

// lookup finds a variable by its name, as config.FromEnv wants it.
type lookup func(name string) (string, bool)

// with answers value for one variable and asks env for the rest; an empty value changes nothing.
func with(env lookup, name, value string) lookup {
	return func(n string) (string, bool) {
		if n == name && value != "" {
			return value, true
		}
		return env(n)
	}
}

// given answers for the variables that were set by flag on the command line and asks env for the rest, so that one parser
// and one check serve both: flag before environment before default.
func given(k *kong.Context, env lookup) lookup {
	flags := map[string]string{}
	for _, p := range k.Path {
		if p.Flag == nil {
			continue
		}
		if name := p.Flag.Tag.Get("var"); name != "" {
			flags[name] = flagText(p.Flag.Target)
		}
	}
	return func(name string) (string, bool) {
		if v, ok := flags[name]; ok {
			return v, true
		}
		return env(name)
	}
}

// flagText is a flag's value as it would stand in a variable. A secret's own String is masked, so the kind decides.
func flagText(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return v.String()
	}
	return fmt.Sprint(v.Interface())
}

// variableHelp is the help text of a flag; one that is a variable too tells its name.
func variableHelp(v *kong.Value) string {
	if v.Tag == nil || v.Tag.Get("var") == "" {
		return kong.DefaultHelpValueFormatter(v)
	}
	return strings.TrimSuffix(v.Help, ".") + " ($" + v.Tag.Get("var") + ")."
}

// settings reads the configuration; a malformed value is the caller's mistake.
func settings(env lookup) (config.Config, error) {
	cfg, err := config.FromEnv(env)
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}
