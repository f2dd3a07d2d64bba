package main

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/gantry-packs/gantry/host/imports"
	"github.com/gantry-packs/gantry/host/wasm"
	"github.com/gantry-packs/gantry/registry"
	"github.com/gantry-packs/gantry/registry/schema"
)

type packCheckCommand struct {
	packDir
}

// Run prints every finding, one line each.
func (c *packCheckCommand) Run(p *process) error {
	folder, closer, err := c.open()
	if err != nil {
		return err
	}
	defer closer.Close()
	if _, err := manifest(folder); err != nil {
		return err
	}
	pack, findings := checkPack(folder)
	for _, f := range findings {
		fmt.Fprintln(p.out, printable(f))
	}
	if len(findings) > 0 {
		fmt.Fprintf(p.err, "%d to mend\n", len(findings))
		return errReported
	}
	_, err = fmt.Fprintf(p.out, "ok  %s %s\n", pack.Name, pack.Version)
	return err
}

// checkPack looks at the manifest, the schemas, the examples and the module.
func checkPack(folder fs.FS) (*registry.Pack, []string) {
	pack, err := registry.Load(folder, registry.Options{Source: registry.Marketplace})
	if err != nil {
		return nil, lines(err)
	}
	findings := checkExamples(pack)
	if pack.Handler.Type == registry.Wasm {
		if err := wasm.Check(pack, imports.Table(imports.Services{})); err != nil {
			findings = append(findings, lines(err)...)
		}
	}
	return pack, findings
}

// checkExamples holds every example against the schemas; one that shows a refusal may break the input's.
func checkExamples(pack *registry.Pack) []string {
	var findings []string
	if len(pack.Examples) == 0 {
		findings = append(findings, "examples: there are none: show at least one call, it is the pack's test too")
	}
	for i, e := range pack.Examples {
		where := fmt.Sprintf("examples[%d] (%s): ", i, e.Name)
		input, err := schema.Decode(e.Input)
		if err == nil && e.ExpectedError == "" {
			err = pack.Input.Validate(input)
		}
		if err != nil {
			findings = append(findings, where+"input: "+err.Error())
		}
		if e.ExpectedError == "" && len(e.ExpectedOutputSubset) == 0 {
			findings = append(findings, where+"expects nothing: give expected_output_subset or expected_error")
		}
		if e.ExpectedError != "" && len(e.ExpectedOutputSubset) > 0 {
			findings = append(findings, where+"expects an output and an error: only one can come")
		}
	}
	return findings
}

// lines splits an error that joins several.
func lines(err error) []string { return strings.Split(strings.TrimSpace(err.Error()), "\n") }
