package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker: make passes what git describe says.
var version string

// release is the version of this binary; one built by plain `go build` tells the commit.
func release() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

type versionCommand struct{}

// Run prints the version and what built it.
func (*versionCommand) Run(p *process) error {
	_, err := fmt.Fprintf(p.out, "gantry %s (%s %s/%s)\n", release(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
