package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackJourney makes a pack and brings it to a passing test, with the plain Go toolchain and no network.
func TestPackJourney(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	for name, value := range map[string]string{"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off", "GOTOOLCHAIN": "local"} {
		t.Setenv(name, value) // for the go commands that are run, here and by pack build
	}
	dir := filepath.Join(t.TempDir(), "greet")
	s := newSession(t)
	s.want(t, exitOK, []string{"pack", "new", "text.greet", dir}, "wrote "+dir)
	s.want(t, exitUsage, []string{"pack", "new", "text.greet", dir}, "is not empty")
	for _, args := range [][]string{{"vet", "./..."}, {"test", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	s.want(t, exitFailed, []string{"pack", "check", dir}, "pack.wasm") // not built yet
	s.want(t, exitOK, []string{"pack", "build", dir}, "pack.wasm", "MB in")
	s.want(t, exitOK, []string{"pack", "check", dir}, "ok  text.greet v1")
	s.want(t, exitOK, []string{"pack", "test", dir}, "ok    a greeting", "ok    nobody", "2 of 2 examples passed")

	edit(t, dir, "gantry-pack.yaml", "Hello, Ada!", "Bye, Ada!")
	s.want(t, exitFailed, []string{"pack", "test", dir}, "FAIL  a greeting", `output.greeting: expected "Bye, Ada!", got "Hello, Ada!"`, "1 of 2")
	edit(t, dir, "gantry-pack.yaml", "{ who: Ada }", "{ whom: Ada }")
	s.want(t, exitFailed, []string{"pack", "check", dir}, "examples[0] (a greeting): input:")
	edit(t, dir, "pack.go", "return output{Greeting", "return oops{Greeting")
	s.want(t, exitFailed, []string{"pack", "build", dir}, "undefined: oops")
}

// A module that asks for more than its manifest is found before anybody installs it.
func TestPackCheckFindsImports(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	t.Setenv("GOWORK", "off")
	dir := filepath.Join(t.TempDir(), "greet")
	s := newSession(t)
	s.want(t, exitOK, []string{"pack", "new", "text.greet", dir})
	edit(t, dir, "pack.go", "return output{Greeting", `if _, err := pdk.PutArtifact("a.txt", "", pdk.NewBlob(nil)); err != nil {
		return output{}, err
	}
	return output{Greeting`)
	s.want(t, exitOK, []string{"pack", "build", dir})
	s.want(t, exitFailed, []string{"pack", "check", dir}, "artifact")
	edit(t, dir, "gantry-pack.yaml", "permissions: {}", "permissions: { artifacts: true }")
	s.want(t, exitOK, []string{"pack", "check", dir})
}

// A link out of the folder isn't followed, neither to read a manifest nor to write a module.
func TestPackStaysInItsFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	manifest := "name: a.b\nversion: v1\ndescription: d\nhandler: {type: wasm, module: ../evil.wasm}\ninput_schema: {}\noutput_schema: {}\n"
	if err := os.WriteFile(filepath.Join(outside, "m.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "m.yaml"), filepath.Join(dir, "gantry-pack.yaml")); err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	s.want(t, exitFailed, []string{"pack", "check", dir}, "escapes")
	if err := os.Rename(filepath.Join(outside, "m.yaml"), filepath.Join(dir, "gantry-pack.yaml")); err != nil {
		t.Fatal(err)
	}
	if code := s.run(t.Context(), "pack", "build", dir); code == exitOK {
		t.Error("a module was built outside of the pack's folder")
	}
}

func edit(t *testing.T, dir, name, from, to string) {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), from) {
		t.Fatalf("%s holds no %q", name, from)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(b), from, to)), 0o644); err != nil {
		t.Fatal(err)
	}
}
