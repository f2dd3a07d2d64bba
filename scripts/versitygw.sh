#!/bin/sh
# Builds the S3 server that the artifact store is tested against. It is a program of its own and never in our go.mod.
set -eu

cd "$(dirname "$0")/.."
[ -x bin/versitygw ] || GOBIN="$PWD/bin" "${GO:-go}" install github.com/versity/versitygw/cmd/versitygw@v1.8.0
