# Everything that a contributor or the CI runs. `make help` lists it.

GO            ?= go
GOLANGCI_LINT ?= v2.15.0
FUZZTIME      ?= 30s
BIN           := bin

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## serve two servers that are inside the program: one honest, one that breaks its promises
	@$(BIN)/vmcp serve

.PHONY: build
build: ## build bin/vmcp
	$(GO) build -o $(BIN)/vmcp ./cmd/vmcp

.PHONY: test
test: ## all tests, offline, and what the replay of real servers' answers counted
	$(GO) test ./...
	@$(GO) test -count=1 -v -run '^TestReplay$$' ./middleware_test | grep -Ev '^ *(---|===)'

.PHONY: race
race: ## all tests with the race detector
	$(GO) test -race ./...

.PHONY: bench
bench: ## what the chain costs, in ns/op and allocs/op
	$(GO) test -run '^$$' -bench . -benchmem ./mcpclient ./middleware_test

.PHONY: bench-gateway
bench-gateway: build ## what vmcp serve costs before 50 backends of 20 tools, beside a direct connection
	$(GO) build -o $(BIN)/bench-gateway ./vmcp/gateway/bench
	$(BIN)/bench-gateway --vmcp $(BIN)/vmcp

.PHONY: fuzz
fuzz: ## every fuzz target, each for FUZZTIME (30s)
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

.PHONY: cover
cover: ## statement coverage over all packages
	$(GO) test -coverpkg=./... -coverprofile=coverage.out ./...
	$(GO) tool cover -func=coverage.out | tail -n 1

.PHONY: lint
lint: $(BIN)/golangci-lint-$(GOLANGCI_LINT) ## all linters, see .golangci.yml
	$< run ./...

$(BIN)/golangci-lint-$(GOLANGCI_LINT):
	GOBIN=$(abspath $(BIN)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv $(BIN)/golangci-lint $@

.PHONY: docs-check
docs-check: ## fail if a page is not what the code generates, or names what does not exist
	$(GO) test -count=1 -run '^Test(Differences|Events|EveryEvent.*|Schema|ConfigurationPage|TheExamplesOfTheConfigurationPageWork|TheDocumentationListsEveryFieldAndNoOther|Documents.*|DashboardKeepsToGrafanasSchema)$$' \
		./cmd/vmcp ./cmd/vmcp/internal/config ./cmd/vmcp/internal/telemetry ./events ./middleware_test ./vmcp/status

.PHONY: tidy-check
tidy-check: ## fail if go.mod, go.sum or a file's format is not tidy
	$(GO) mod tidy -diff
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }

.PHONY: real
real: ## the suite against real servers and clients from npm, Chromium and Prometheus (needs Node 20, npm, chromium, prometheus)
	$(GO) test -tags real -count=1 -timeout 15m -run '^TestReal' -v ./cmd/vmcp ./conformance ./vmcp ./vmcp/status
