# Two commands are enough: `make demo`, then `make test`. Both build what they need under .venv.
# Another Python: `make demo PYTHON=/path/to/python3.12`.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
OUT ?= demo-release
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SAY := printf '==> %s\n'

.DEFAULT_GOAL := help
.PHONY: help install dev demo test lint format types imports static check clean

help:
	@echo 'make demo     make 60 synthetic people, anonymise them, check the result, show it ($(OUT)/)'
	@echo 'make test     run every test'
	@echo 'make check    what the CI runs: lint, types, import rules, tests'
	@echo 'make install  only build the environment in $(VENV)'
	@echo 'make format   rewrite the code in the house style'
	@echo 'make clean    remove the environment, the demo and every cache in this folder'

# --- the environment: one stamp for what users need, one for what developers need on top ---

install: $(VENV)/.installed
dev: $(VENV)/.developed

$(BIN)/python:
	@set -e; \
	for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11); do \
	  if "$$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    $(SAY) "making $(VENV) with $$("$$python" --version) ($$python)"; \
	    exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo 'error: no Python 3.11 or newer was found. Install one (https://www.python.org/downloads/, on Debian or' >&2; \
	echo '       Ubuntu also "python3-venv"), or name one: make demo PYTHON=/path/to/python3.' >&2; \
	exit 2

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@$(SAY) 'installing Everyface and what it needs (some hundred MB, once)'
	@$(PIP) --editable .
	@touch $@

# PyTorch comes first and alone, so that the build chosen for it is not changed by another package.
$(VENV)/.developed: pyproject.toml $(VENV)/.installed
	@$(SAY) 'installing PyTorch (only development needs it)'
	@$(PIP) 'torch>=2.13.0,<2.14'
	@$(SAY) 'installing the tools for tests, lint and types'
	@$(PIP) --editable '.[dev,torch]'
	@touch $@

# --- what to do with it ---

demo: $(VENV)/.installed
	@$(BIN)/everyface demo --output $(OUT)

test: $(VENV)/.developed
	@$(SAY) 'tests'
	@$(BIN)/python -m pytest -n 2

lint: $(VENV)/.developed
	@$(SAY) 'lint'
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

format: $(VENV)/.developed
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

types: $(VENV)/.developed
	@$(SAY) 'types'
	@$(BIN)/mypy

imports: $(VENV)/.developed
	@$(SAY) 'import rules'
	@$(BIN)/lint-imports --no-cache

static: lint types imports

check: static test

clean:
	rm -rf $(VENV) $(OUT) $(OUT).* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
