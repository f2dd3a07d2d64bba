package hosttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// command is the package of the program under test.
const command = "github.com/gantry-packs/gantry/cmd/gantry"

// Build compiles the program, once for all tests of the process, and returns its path. A test binary built with -race gets
// a program built with -race.
func Build(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built remembers the one build of this process. It is a value made on first use, not a switch that anybody can turn.
var built = sync.OnceValues(build)

func build() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(root, "plugins", "built", "core.wasm.gz")); err != nil {
		return "", errors.New("run `make build` first: plugins/built/core.wasm.gz is not there")
	}
	// Beside the test binary: `go test` removes that folder by itself when the tests are over.
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the test binary: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), "gantry-under.test")
	args := []string{"build", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, command)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", command, err, out)
	}
	return path, nil
}

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	mod, err := goEnv("GOMOD")
	return filepath.Dir(mod), err
}

// goEnv asks the Go toolchain for one of its variables.
func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("asking go for %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
