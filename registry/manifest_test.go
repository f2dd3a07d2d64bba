package registry

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

const minimal = `name: text.upper
version: v1
description: Makes text loud.
handler: {type: wasm, module: pack.wasm}
`

// The form in which marketplace packs are published.
const published = `name: cmd.lower
version: 2026.10
author: ann
license: Apache-2.0
description: >-
  Makes text
  quiet.
category: developer-tools
tags: [example, string]
needs_session: false
released: 2026-05-01
input_schema: {required: [text], properties: {text: {type: string, maxLength: 1_000, default: "on"}}}
output_schema: {required: [text], properties: {text: {type: string}}}
handler: {type: command, command: ["./lower"], timeout_s: 5, env: ["LC_ALL=C"], max_output_bytes: 0x1000000, sidecar: {image: "acme/tools@sha256:00", pull: always}}
session: {mode: required, image: acme/desk, memory_mb: 2048, preserve: true}
permissions: {net: ["api.acme.test:443", "*.acme.test", "*"], vault: [acme-token], session: [desktop], llm: true, packs: [http.fetch, forge.*], artifacts: true, memory: false}
config: [ACME_REGION]
examples: [{name: hello, input: {text: HELLO, n: 12345678901234567890, f: 1.50}, expected_output_subset: {text: hello}}, {name: empty, input: }]
trust: {signed_by: ann, sha256: 12d01940a5640cbd27550fdef10d00e72d561367605688996021e4846351abeb}
`

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest([]byte(published))
	if err != nil {
		t.Fatal(err)
	}
	if m.Version != "2026.10" || m.Description != "Makes text quiet." || m.Timeout() != 5*time.Second || m.Session.MemoryMB != 2048 {
		t.Errorf("parsed as %+v", m)
	}
	if got := string(m.InputSchema); got != `{"required":["text"],"properties":{"text":{"type":"string","maxLength":1000,"default":"on"}}}` {
		t.Errorf("input_schema = %s", got)
	}
	if got := string(m.Examples[0].Input); got != `{"text":"HELLO","n":12345678901234567890,"f":1.50}` {
		t.Errorf("example = %s", got)
	}
	if got := string(m.Examples[1].Input); got != `{}` {
		t.Errorf("an example without input = %s", got)
	}
	if !m.Allows(PermLLM) || m.Allows(PermMemory) || !m.Allows(PermPacks) {
		t.Errorf("permissions = %+v", m.Permissions)
	}
}

func TestManifestKeepsUnknownFields(t *testing.T) {
	m, err := ParseManifest([]byte(published))
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(Pack{Manifest: *m})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"license":"Apache-2.0"`, `"released":"2026-05-01"`, `"env":["LC_ALL=C"]`, `"max_output_bytes":16777216`, `"pull":"always"`, `"version":"2026.10"`} {
		if !strings.Contains(string(out), part) {
			t.Errorf("the document has no %s: %s", part, out)
		}
	}
	if !strings.HasPrefix(string(out), `{"name":"cmd.lower","version":`) {
		t.Errorf("the document is in another order: %s", out)
	}
	plain, err := json.Marshal(Manifest{Name: "a.b", InputSchema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{}`)})
	if err != nil || !strings.Contains(string(plain), `"name":"a.b"`) {
		t.Errorf("a manifest without a file: %s, %v", plain, err)
	}
}

func TestManifestDefaults(t *testing.T) {
	m, err := ParseManifest([]byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	if m.Handler.Export != "text.upper" || m.Session.Mode != SessionNone || m.Timeout() != DefaultTimeout || m.MemoryMB() != DefaultMemoryMB || m.InputSchema != nil {
		t.Errorf("parsed as %+v", m)
	}
}

func TestParseManifestRefuses(t *testing.T) {
	with := func(line string) string { return minimal + line + "\n" }
	instead := func(old, line string) string { return strings.Replace(minimal, old, line, 1) }
	command := func(argv string) string {
		return instead("handler: {type: wasm, module: pack.wasm}", "handler: {type: command, command: "+argv+"}")
	}
	tests := []struct{ name, yaml, reason string }{
		{"empty", "", "is empty"},
		{"a list", "- a", "must be a mapping"},
		{"broken", "name: [", "line 1"},
		{"two documents", minimal + "---\nname: x.y\n", "one YAML document"},
		{"too long", with("# " + strings.Repeat("x", MaxManifestBytes)), "at most 262144"},
		{"duplicate key", with("name: text.lower"), `line 5: the key "name" stands twice`},
		{"duplicate key, deep", with("input_schema: {a: 1, \"a\": 2}"), `the key "a" stands twice`},
		{"anchor", with("x: &a [1]"), "anchors and aliases"},
		{"long anchor", with("x: &" + strings.Repeat("a", 10_000) + " 1"), "anchors and aliases"},
		{"alias bomb", with("a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b]"), "anchors and aliases"},
		{"merge key", with("x: {<<: {a: 1}}"), "a key must be a string"},
		{"number as key", with("x: {1: a}"), "a key must be a string"},
		{"list as key", with("x: {? [a] : b}"), "a key must be a string"},
		{"NaN", with("x: .nan"), "not a number that JSON has"},
		{"infinite", with("x: -.inf"), "not a number that JSON has"},
		{"long number", with("x: 0." + strings.Repeat("1", 1000)), "at most 1000"},
		{"binary", with("x: !!binary aGk="), "tag"},
		{"own tag", with("x: !go/struct {a: 1}"), "tag"},
		{"too deep", with("x: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)), "80 levels"},
		{"very deep", with("x: " + strings.Repeat("[", 60_000)), ""},
		{"no name", instead("name: text.upper", "title: x"), "name: "},
		{"one part", instead("text.upper", "upper"), "two to four parts"},
		{"five parts", instead("text.upper", "a.b.c.d.e"), "two to four parts"},
		{"upper case", instead("text.upper", "Text.Upper"), "two to four parts"},
		{"path", instead("text.upper", "../../etc.passwd"), "two to four parts"},
		{"newline in name", instead("text.upper", `"text.upper\n"`), "two to four parts"},
		{"long name", instead("text.upper", "a."+strings.Repeat("b", 63)), "at most 64"},
		{"name is a list", instead("text.upper", "[a]"), "name: expected a string, got a list"},
		{"no version", instead("version: v1", "v: 1"), "version: "},
		{"odd version", instead("version: v1", "version: latest"), "v1.2.0"},
		{"version path", instead("version: v1", "version: 1/../2"), "v1.2.0"},
		{"no description", instead("Makes text loud.", `" "`), "description: missing"},
		{"no handler", instead("handler: {type: wasm, module: pack.wasm}", ""), "handler.type: missing"},
		{"handler is a string", instead("{type: wasm, module: pack.wasm}", "wasm"), "handler: expected a mapping, got a string"},
		{"unknown handler", instead("type: wasm", "type: composite"), `handler.type: "composite" is not one of wasm, command`},
		{"case matters", instead("{type: wasm", "{Type: wasm"), "handler.type: missing"},
		{"no module", instead(", module: pack.wasm", ""), "handler.module: "},
		{"module elsewhere", instead("pack.wasm", "../other/pack.wasm"), "handler.module: "},
		{"module absolute", instead("pack.wasm", "/etc/pack.wasm"), "handler.module: "},
		{"module with backslash", instead("pack.wasm", `'..\pack.wasm'`), "handler.module: "},
		{"module is a dotfile", instead("pack.wasm", ".wasm"), "handler.module: "},
		{"odd export", instead("module: pack.wasm", `module: pack.wasm, export: "a b"`), "handler.export: "},
		{"both handlers", instead("module: pack.wasm", "module: pack.wasm, command: [x]"), "belong to type command"},
		{"memory", instead("module: pack.wasm", "module: pack.wasm, memory_mb: 1025"), "1 to 1024 MiB"},
		{"negative memory", instead("module: pack.wasm", "module: pack.wasm, memory_mb: -1"), "1 to 1024 MiB"},
		{"half a megabyte", instead("module: pack.wasm", "module: pack.wasm, memory_mb: 0.5"), "handler.memory_mb: expected a whole number"},
		{"no command", command("[]"), "handler.command: 0 arguments"},
		{"many arguments", command("[" + strings.Repeat("x,", 65) + "]"), "1 to 64"},
		{"empty argument", command(`[x, ""]`), "handler.command[1]"},
		{"NUL argument", command(`[x, "a\0b"]`), "handler.command[1]"},
		{"command climbs", command("[./../../bin/sh]"), "handler.command[0]"},
		{"command climbs openly", command("[../sh]"), "handler.command[0]"},
		{"command is a folder", command("[./]"), "handler.command[0]"},
		{"command is a path", command("[bin/sh]"), "handler.command[0]"},
		{"command is a shell line", command("echo hi"), "handler.command: expected a list, got a string"},
		{"command and module", command("[x], module: pack.wasm"), "belong to type wasm"},
		{"sidecar without image", command("[x], sidecar: {}"), "handler.sidecar.image"},
		{"image is an option", command("[x], sidecar: {image: --privileged}"), "handler.sidecar.image"},
		{"timeout", with("timeout_s: 3601"), "timeout_s: 3601 is out of range"},
		{"negative timeout", with("timeout_s: -1"), "timeout_s: -1 is out of range"},
		{"no time", with("timeout_s: 1e-9"), "out of range"},
		{"timeout is text", with("timeout_s: 5s"), "timeout_s: expected a number, got a string"},
		{"handler timeout", instead("module: pack.wasm", "module: pack.wasm, timeout_s: 4000"), "handler.timeout_s: 4000"},
		{"session mode", with("session: {mode: always}"), "none, optional, required, creates"},
		{"session memory", with("session: {memory_mb: 99999}"), "session.memory_mb"},
		{"async", with("async: maybe"), "async: expected true or false, got a string"},
		{"permissions is a list", with("permissions: [net]"), "permissions: expected a mapping, got a list"},
		{"net is a bool", with("permissions: {net: true}"), "permissions.net: expected a list, got true or false"},
		{"llm is a list", with("permissions: {llm: [x]}"), "permissions.llm: expected true or false, got a list"},
		{"net with a scheme", with(`permissions: {net: ["https://acme.test"]}`), "permissions.net[0]"},
		{"net with a path", with(`permissions: {net: [acme.test/x]}`), "permissions.net[0]"},
		{"net in upper case", with(`permissions: {net: [ACME.test]}`), "lower case"},
		{"net with a star inside", with(`permissions: {net: ["a.*.test"]}`), "permissions.net[0]"},
		{"net with a large port", with(`permissions: {net: ["acme.test:65536"]}`), "permissions.net[0]"},
		{"packs", with(`permissions: {packs: ["forge."]}`), "permissions.packs[0]"},
		{"vault", with(`permissions: {vault: ["a b"]}`), "permissions.vault[0]"},
		{"config", with(`config: [acme]`), "config[0]"},
		{"example", with(`examples: [{input: [1]}]`), "examples[0].input"},
		{"many examples", with("examples: [" + strings.Repeat("{},", 65) + "]"), "at most 64"},
		{"hash", with("trust: {sha256: abc}"), "trust.sha256"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(tt.yaml))
			if err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Fatalf("%v; want an error that says %q", err, tt.reason)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestValidNames(t *testing.T) {
	for _, v := range []string{"v1", "v1.2.0", "1.2.0", "2026.05"} {
		if _, err := ParseManifest([]byte(strings.Replace(minimal, "v1", v, 1))); err != nil {
			t.Errorf("version %s: %v", v, err)
		}
	}
	for _, argv := range []string{"[./upper]", "[./bin/upper, x]", "[python3, handler.py]", "[/usr/bin/env]"} {
		text := strings.Replace(minimal, "type: wasm, module: pack.wasm", "type: command, command: "+argv, 1)
		if _, err := ParseManifest([]byte(text)); err != nil {
			t.Errorf("command %s: %v", argv, err)
		}
	}
	for _, host := range []string{"acme.test", "localhost", "a-b.acme.test:8443", "10.0.0.1:80", "*", "*:443", "acme.test:65535"} {
		if _, err := ParseManifest(fmt.Appendf(nil, "%spermissions: {net: [%q]}\n", minimal, host)); err != nil {
			t.Errorf("host %s: %v", host, err)
		}
	}
}

// FuzzParseManifest holds the parser to two things: no panic, and a document that is JSON and reads the same again.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(published))
	f.Add([]byte(minimal))
	f.Add([]byte(minimal + "x: [0o17, 0x1f, 1_000, .5, +1, ~, yes, 2001-12-14t21:59:43.10-05:00, !!str 1, |\n  a\n]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			return
		}
		if !json.Valid(m.Document) {
			t.Fatalf("%q gives %s, which is not JSON", text, m.Document)
		}
		again, err := ParseManifest(m.Document)
		if err != nil || string(again.Document) != string(m.Document) {
			t.Fatalf("%s reads again as %v, %v", m.Document, again, err)
		}
	})
}
