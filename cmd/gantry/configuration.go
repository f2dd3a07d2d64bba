package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gantry-packs/gantry/host/config"
)

type configCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// setting is one variable as it is in force.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // a secret's is masked
	From  string `json:"from"`  // default or environment
	Help  string `json:"help"`
}

// Run prints what a `gantry serve` started here would use.
func (c *configCommand) Run(p *process) error {
	cfg, err := settings(p.env)
	if err != nil {
		return err
	}
	list := settingsInForce(cfg, p.env)
	if c.JSON {
		e := json.NewEncoder(p.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(list)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VARIABLE\tVALUE\tFROM\tMEANING")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, printable(s.Value), s.From, s.Help)
	}
	return w.Flush()
}

// settingsInForce lists every variable in the order of the configuration's fields.
func settingsInForce(cfg config.Config, env lookup) []setting {
	values := map[string]string{}
	v := reflect.ValueOf(cfg)
	for i := range v.NumField() {
		values[v.Type().Field(i).Tag.Get("var")] = text(v.Field(i).Interface())
	}
	var list []setting
	for _, known := range config.Variables() {
		from := "default"
		if text, set := env(known.Name); set && text != "" {
			from = "environment"
		}
		list = append(list, setting{Name: known.Name, Value: values[known.Name], From: from, Help: known.Help})
	}
	return list
}

// text is a value as it would be written in a variable; a secret masks itself.
func text(v any) string {
	d, ok := v.(time.Duration)
	if !ok {
		return fmt.Sprint(v)
	}
	s := d.String() // 720h0m0s
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
