# SPDX-License-Identifier: MIT
# A thin wrapper: what is built and how stands in CMakePresets.json and CMakeLists.txt.

APP ?= examples/echo.c
ARGS ?=
PREFIX ?= /usr/local
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help run test bench lint fuzz-smoke install deps clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Install what is missing, build, serve APP (examples/echo.c) in parallel; more flags in ARGS
	@scripts/deps.sh build
	@cmake --preset release -DREDD_TESTS=OFF -DREDD_EXAMPLES=OFF >/dev/null
	@cmake --build --preset release --target redd
	@exec build/release/redd serve --parallel $(ARGS) $(APP)

test: ## Install what is missing, build with sanitizers, run every test
	@scripts/deps.sh build test
	@cmake --preset debug >/dev/null
	@cmake --build --preset debug
	@ctest --preset debug

bench: ## Build for speed and run tests/bench
	@scripts/deps.sh build
	@cmake --preset release -DREDD_TESTS=OFF -DREDD_EXAMPLES=OFF >/dev/null
	@cmake --build --preset release --target bench

lint: ## Format, static analysis and the project's own rules
	@scripts/deps.sh build test lint
	@scripts/lint.sh

fuzz-smoke: ## Run every fuzz target for a short while (SECONDS_EACH=30)
	@scripts/deps.sh build fuzz
	@scripts/fuzz_smoke.sh

install: ## Build and install below PREFIX (/usr/local); DESTDIR is honoured
	@scripts/deps.sh build
	@cmake --preset release -DREDD_TESTS=OFF -DREDD_EXAMPLES=OFF >/dev/null
	@cmake --build --preset release
	@cmake --install build/release --prefix $(PREFIX)

deps: ## Install everything that builds, tests, lint and fuzzing need
	@scripts/deps.sh build test lint fuzz

clean: ## Remove the build folder
	@cmake -E rm -rf build
