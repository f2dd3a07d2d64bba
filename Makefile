# Every target works in a fresh clone; all they need is Go (see scripts/toolchain.sh), git, make and a POSIX shell.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The version is stamped by the linker, so that a checkout owned by another user, as in containers, builds too.
# What has goroutines worth watching, and what is called often enough to be measured.
RACED   := ./api/... ./host/... ./registry/...
HOT     := ./registry/schema ./host/wasm/... ./host/audit ./host/engine ./host ./api ./host/hosttest

.DEFAULT_GOAL := help
.PHONY: help toolchain core peers build run test race check bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

toolchain:
	@GO="$(GO)" scripts/toolchain.sh

core: toolchain ## build core.wasm, the module of the core packs
	GO="$(GO)" plugins/build.sh

build: core ## build bin/gantry, core packs included
	$(GO) build -trimpath -buildvcs=false -ldflags "$(LDFLAGS)" -o bin/gantry ./cmd/gantry

run: build ## build, then serve with the embedded defaults
	bin/gantry serve

peers: toolchain ## build the servers that tests talk to
	GO="$(GO)" scripts/versitygw.sh

test: core peers ## run every test
	$(GO) test -timeout 10m ./...

race: core peers ## run the tests of what is concurrent under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $(RACED)

check: core ## format, vet, linters, house rules, go.mod, generated files
	GO="$(GO)" scripts/check.sh

bench: core ## measure the hot paths
	$(GO) test -run '^$$' -bench . -benchmem $(HOT)

clean: ## remove what was built
	rm -rf bin plugins/built/core.wasm.gz plugins/built/core.sha256
