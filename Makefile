# Two commands do everything:
#
#   make demo [CLIP="a.mp4 b.mp4"]   builds, installs into .venv, screens a real clip (and yours)
#   make check                       format, lint, types, stub and every test
#
# Needed beforehand: Rust >= 1.89 with clippy and rustfmt, Python >= 3.11 with venv, a C linker, and
# for the test media an ffmpeg with x264:
#
#   apt-get install build-essential python3-venv ffmpeg
#
# uv is taken from PATH, or installed into .build/uv. WHEEL=path installs that wheel in place of a
# build of the sources, EXTRAS=[torch] adds an extra, VENV=path says where.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help demo check static fmt clippy cargo-test ruff mypy stubtest pytest wheel bench lock format clean

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?=
CLIP ?=
PYTEST_ARGS ?=

BIN := $(VENV)/bin
UV := $(or $(shell command -v uv),.build/uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never
# A locked pip file, not the index it came from: any mirror serves.
LOCK := requirements.lock
PIP := $(UV) pip install --quiet --python $(BIN)/python --constraint $(LOCK)

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find rust -type f \( -name '*.rs' -o -name Cargo.toml \) 2>/dev/null)
RUFF_PATHS := python tests benches calibration examples .ci

help:
	@sed -n '1,/^$$/{s/^# \{0,1\}//;p}' Makefile

.build/uv/bin/uv:
	$(PYTHON) -m venv .build/uv
	.build/uv/bin/pip install --quiet uv

$(VENV)/.tools: pyproject.toml $(LOCK) | $(UV)
	test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	$(PIP) --group dev
	touch $@

ifdef WHEEL
$(VENV)/.installed: $(WHEEL) $(VENV)/.tools
	$(PIP) --reinstall-package screentest "$(WHEEL)$(EXTRAS)"
	$(if $(findstring [all],$(EXTRAS)),$(PIP) --group test-extras)
	touch $@
else
# --release: debug kernels are 30 times slower, and the tests decode real clips.
$(VENV)/.installed: $(RUST_SOURCES) $(VENV)/.tools
	$(PIP) --requirements pyproject.toml $(if $(EXTRAS),--all-extras --group test-extras)
	PATH="$(dir $(abspath $(UV))):$$PATH" VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --uv
	touch $@
endif

demo: $(VENV)/.installed
	$(BIN)/screentest demo $(CLIP)

check: static pytest

static: fmt clippy cargo-test ruff mypy stubtest

fmt:
	cargo fmt --all --check

clippy: $(VENV)/.tools
	PYO3_PYTHON=$(abspath $(BIN))/python cargo clippy --quiet --workspace --all-targets --locked -- -D warnings

cargo-test:
	cargo test --quiet --locked

ruff: $(VENV)/.tools
	$(BIN)/ruff check --quiet $(wildcard $(RUFF_PATHS))
	$(BIN)/ruff format --check --quiet $(wildcard $(RUFF_PATHS))

mypy: $(VENV)/.installed
	$(BIN)/mypy

stubtest: $(VENV)/.installed
	MYPYPATH=python $(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml screentest._native

pytest: $(VENV)/.installed
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The wheel that .ci/run tests and benches/rivals.sh measures.
wheel: $(VENV)/.tools
	rm -rf dist
	$(BIN)/maturin build --release --quiet --out dist --interpreter $(BIN)/python

# Needs a Python 3.12 for the reference system; see benches/README.md.
bench: wheel
	benches/rivals.sh

format: $(VENV)/.tools
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix $(wildcard $(RUFF_PATHS))
	$(BIN)/ruff format --quiet $(wildcard $(RUFF_PATHS))

lock: | $(UV)
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --custom-compile-command 'make lock' --all-extras --group dev --group bench --group test-extras \
	  --output-file $(LOCK) pyproject.toml

clean:
	rm -rf .build dist $(VENV) target
