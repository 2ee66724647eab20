# Two commands on a fresh machine do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test setup check coverage wheel bench docs pictures lint types layers browser clean

demo: .venv/.installed
	$(BIN)/python -m examples.demo --out demo

# tests/conftest.py and the order of the folders put long tests first; the many short ones then fill what is left on both cores.
test: .venv/.installed-dev browser lint types layers
	$(BIN)/python -m pytest -n auto --dist loadscope --no-loadscope-reorder

check: .venv/.installed-dev lint types layers
	$(BIN)/python -m pytest -n auto -q -m "not slow and not archive and not browser"

setup: .venv/.installed-dev

# Which lines the unit tests reach, in all and in the ten modules where they miss most. COVERED=tests/unit/text is one folder.
COVERED ?= tests/unit
coverage: .venv/.installed-dev
	$(BIN)/python -m pytest -q -n auto --cov --cov-report= $(COVERED)
	$(BIN)/python -m tests.least_covered $(COVERED)

# The wheel in dist/, installed without extras into an empty environment in build/wheel, and tried there.
wheel: .venv/.installed-dev
	rm -rf dist build/wheel
	$(BIN)/python -m tests.integration.light_install dist build/wheel

bench: .venv/.installed-dev
	$(BIN)/python -m benchmarks

docs: .venv/.installed-dev
	$(BIN)/python -m klda.cli.reference > docs/reference/commands.md
	$(BIN)/python -m klda.web.rest_reference > docs/reference/rest-api.md
	$(BIN)/python docs/printed.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

# Takes the pictures of the documents anew. Look at them before you commit them.
pictures: .venv/.installed-dev browser
	KLDA_PICTURES=1 $(BIN)/python -m pytest -q tests/e2e/test_pictures.py

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.installed-dev
	$(BIN)/mypy --num-workers auto

layers: .venv/.installed-dev
	$(BIN)/lint-imports

# Browser tests use the system's chromium. Where it is missing and may be installed, it is; otherwise they are skipped, and that is said.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium for the browser tests"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else false; fi; } || \
	  echo "!!! NO CHROMIUM on this machine, and it may not be installed here: all tests marked 'browser' will be SKIPPED"

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) --editable '.[web]'
	@touch $@

.venv/.installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) --editable '.[dev]'
	@touch $@ .venv/.installed

clean:
	rm -rf .venv demo build dist
