# The front door. `make demo` shows the product, `make test` proves it; both install what they need from Debian
# packages (packages.txt), configure, build and run. Everything is built below build/.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BUILD := build
JOBS ?= $(shell nproc)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PYTHON := /usr/bin/python3

.PHONY: help
help:
	@echo "make demo     convert the bundled detector to int8, run it through the C API, draw what it finds"
	@echo "make test     everything: sanitised unit tests, ABI, end-to-end figures; ends with 'N passed, N failed'"
	@echo "make release  build/release: librknnrt.so, librknn_toolkit.so, the rknn command"
	@echo "make dev      build/dev: the same with ASan and UBSan"
	@echo "make clean    remove build/"

# Installed only if missing; apt's lists are refreshed only when something has to be installed.
.PHONY: packages
packages:
	@missing=$$(for p in $$(grep -v '^#' packages.txt); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  echo "installing:" $$missing; \
	  $(SUDO) apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi

.PHONY: release dev
release dev: packages
	@cmake --preset $@ >$(BUILD)-$@.log 2>&1 || { cat $(BUILD)-$@.log; rm -f $(BUILD)-$@.log; exit 1; }
	@rm -f $(BUILD)-$@.log
	@cmake --build $(BUILD)/$@ -j $(JOBS) -- $(if $(CI),--quiet,)

.PHONY: demo
demo: release
	@$(BUILD)/release/examples/signs_demo examples/signs $(BUILD)/demo

.PHONY: test
test: dev release
	@$(PYTHON) tests/run.py --dev $(BUILD)/dev --release $(BUILD)/release

.PHONY: clean
clean:
	rm -rf $(BUILD)
