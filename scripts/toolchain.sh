#!/bin/sh
# Says in one line what to do when there is no Go, or one that is too old for go.mod.
set -eu

cd "$(dirname "$0")/.."
go=${GO:-go}
need=$(awk '$1 == "go" {print $2; exit}' go.mod)

if ! command -v "$go" >/dev/null 2>&1; then
	echo "Go $need or newer is needed and \"$go\" is not in PATH: install it from https://go.dev/dl and add its bin folder to PATH" >&2
	exit 1
fi
if ! why=$("$go" list -m 2>&1); then
	echo "Go $need or newer is needed, this is $("$go" env GOVERSION 2>/dev/null || "$go" version): install it from https://go.dev/dl" >&2
	echo "$why" >&2
	exit 1
fi
