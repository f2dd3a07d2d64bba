package plugins

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"
)

func packs(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(FS(), "*/gantry-pack.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("manifests %v, %v", files, err)
	}
	for i, f := range files {
		files[i] = path.Dir(f)
	}
	return files
}

// A folder that the catalogue doesn't import would be a pack that is listed and cannot run.
func TestCatalogueHoldsEveryPack(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "core/main.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imported []string
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imported = append(imported, path.Base(p))
	}
	slices.Sort(imported)
	if want := packs(t); !slices.Equal(imported, want) {
		t.Errorf("core/main.go imports %v, the folders are %v", imported, want)
	}
}

func TestPackFolders(t *testing.T) {
	for _, name := range packs(t) {
		raw, err := fs.ReadFile(FS(), name+"/gantry-pack.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Name     string
			Handler  struct{ Type, Module, Export string }
			Examples []struct {
				Name          string
				ExpectedError string `yaml:"expected_error"`
			}
		}
		if err := yaml.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Name != name || m.Handler.Type != "wasm" || m.Handler.Module != "core.wasm" || m.Handler.Export != "" {
			t.Errorf("%s: the manifest says %s, %+v", name, m.Name, m.Handler)
		}
		refusal := false
		for _, e := range m.Examples {
			refusal = refusal || e.ExpectedError != ""
		}
		if len(m.Examples) < 3 || !refusal {
			t.Errorf("%s: want at least 3 examples, one of them a refusal", name)
		}
		source, err := os.ReadFile(name + "/pack.go")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), "\n//go:wasmexport "+name+"\n") {
			t.Errorf("%s/pack.go does not export %s", name, name)
		}
		if scripts, err := fs.Glob(os.DirFS(name), "testdata/*.txtar"); err != nil || len(scripts) == 0 {
			t.Errorf("%s has no script in testdata", name)
		}
	}
}

func folder(files map[string][]byte) fs.FS {
	m := fstest.MapFS{"built/README": {}}
	for name, data := range files {
		m["built/"+name] = &fstest.MapFile{Data: data}
	}
	return m
}

func zip(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	module := []byte("\x00asm")
	packed := zip(t, module)
	sum := sha256.Sum256(module)
	tests := map[string]struct {
		files        map[string][]byte
		digest, says string
	}{
		"built":          {map[string][]byte{"core.wasm.gz": packed, "core.sha256": []byte(hex.EncodeToString(sum[:]) + "\n")}, hex.EncodeToString(sum[:]), ""},
		"without digest": {map[string][]byte{"core.wasm.gz": packed}, hex.EncodeToString(sum[:]), ""},
		"not built":      {nil, "", "core.wasm is not built into this binary: run make build"},
		"cut off":        {map[string][]byte{"core.wasm.gz": packed[:len(packed)-3]}, "", "unpacking core.wasm: unexpected EOF"},
		"not packed":     {map[string][]byte{"core.wasm.gz": module}, "", "unpacking core.wasm: "},
		"bomb":           {map[string][]byte{"core.wasm.gz": zip(t, make([]byte, maxModule+1))}, "", "over 16 MiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			from := folder(tt.files)
			got, err := unpack(from)
			if tt.says == "" && (err != nil || !bytes.Equal(got, module)) {
				t.Errorf("%q, %v", got, err)
			}
			if tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("error %v, want …%s…", err, tt.says)
			}
			if d := digest(from); d != tt.digest {
				t.Errorf("digest %q, want %q", d, tt.digest)
			}
		})
	}
}

// What build.sh wrote must belong together, or a cache would serve another module under this name.
func TestBuiltModule(t *testing.T) {
	module, err := Core()
	if errors.Is(err, errNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(module)
	if got := hex.EncodeToString(sum[:]); got != CoreDigest() {
		t.Errorf("core.sha256 says %s, the module is %s", CoreDigest(), got)
	}
	for _, name := range packs(t) {
		export := string(rune(len(name))) + name + "\x00" // an entry of the export section: length, name, function
		if !bytes.Contains(module, []byte(export)) {
			t.Errorf("core.wasm does not export %s: run make build", name)
		}
	}
}
