#!/bin/sh
# What a machine can hold the sources to. Every check is run, so that one run tells all there is to mend.
set -u

cd "$(dirname "$0")/.."
go=${GO:-go}
linter=bin/staticcheck # at the version in go.mod
failed=0

check() {
	name=$1
	shift
	if said=$("$@" 2>&1); then
		echo "ok    $name"
	else
		failed=1
		echo "FAIL  $name"
		printf '%s\n' "$said" | sed 's/^/        /'
	fi
}

formatted() {
	unformatted=$("$($go env GOROOT)/bin/gofmt" -l .) || return 1
	[ -z "$unformatted" ] || { echo "run gofmt -w on:"; echo "$unformatted"; return 1; }
}

# The linter doesn't know go:wasmexport, so to it a pack's export is unused, and all that the export calls.
lint_packs() { $linter -checks inherit,-U1000 "$@" ./plugins/...; }

linted() {
	"$go" build -o $linter honnef.co/go/tools/cmd/staticcheck || return 1
	$linter $("$go" list ./... | grep -v /plugins/) && lint_packs
}

# Packs and their kit are compiled for wasip1 too, where other files of the same packages count. Their tests run natively.
linted_for_the_sandbox() {
	(export GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 && $linter -tests=false ./pdk/... && lint_packs -tests=false)
}

# core.wasm must follow from the sources alone: built twice, it is the same module.
reproducible() {
	was=$(cat plugins/built/core.sha256) || return 1
	GO=$go plugins/build.sh || return 1
	[ "$was" = "$(cat plugins/built/core.sha256)" ] || { echo "two builds of core.wasm differ"; return 1; }
}

check "format" formatted
check "vet" "$go" vet ./...
check "staticcheck" linted
check "staticcheck for the sandbox" linted_for_the_sandbox
check "house rules" "$go" test -count=1 .
check "go.mod" "$go" mod tidy -diff
check "core.wasm is reproducible" reproducible
exit $failed
