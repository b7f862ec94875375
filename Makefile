# Everything starts here, on a machine that has only Python 3.11 or newer:
#
#   make demo     a real agent run, without and with contracts
#   make test     everything CI checks: `make check` with every case of its tests and ten of the
#                 long ones, the built wheel in a fresh environment, and five cases of each test
#                 of the adapters with the lowest versions of their frameworks
#   make all      `make test` with every case of every test, and all that they enumerate
#   make test-adapters
#                 the adapters with the lowest versions, and with the newest, beside deepagents,
#                 swarm, supervisor, Postgres, a development server of LangGraph, and MCP by
#                 langchain-mcp-adapters and by LangChain itself
#
# While working: make check (fast), make fmt, make fuzz N=1000000 SECONDS=600, make mutate, make coverage.
# Speed, side by side: make bench SPONSIO=PYTHON ACEL=PYTHON (environments that have the others).
# Flags for pytest, three processes (some wait) unless said otherwise:
#   make check PYTEST_FLAGS="-n 4 -k monitor"

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.14 python3,$(shell command -v $(p))))
BIN := .venv/bin
N ?= 50000
PYTEST_FLAGS ?= -n 3 --dist worksteal
CODE := sponsio_like pytest_sponsio_like.py tests campaigns $(wildcard examples)

# The tests start many processes: compiled once, a module is not compiled again by each of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test all check static oldest newest mcp test-adapters setup fmt fuzz bench mutate coverage clean
.DEFAULT_GOAL := help

demo: .venv/installed
	@$(BIN)/sponsio-like demo

test: export TESTS = test
test: OLDEST = check
all: export TESTS = all
all: OLDEST = all
test all: static oldest
	$(BIN)/python -m pytest -m "wheel or not wheel" $(PYTEST_FLAGS)

oldest: .venv-oldest/installed
	TESTS=$(OLDEST) .venv-oldest/bin/python -m pytest $(PYTEST_FLAGS) tests/adapters

newest: .venv-newest/installed
	.venv-newest/bin/python -m pytest $(PYTEST_FLAGS) tests/adapters

mcp: .venv-mcp/installed
	.venv-mcp/bin/python -m pytest tests/adapters/test_mcp.py

test-adapters: oldest newest mcp

check: export TESTS = check
check: static
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

static: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports

setup: .venv/installed-dev

fmt: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fuzz: .venv/installed-dev
	$(BIN)/python -m tests.fuzz $(N)
	$(BIN)/python -m tests.fuzz.texts $(or $(SECONDS),60)
	$(BIN)/python -m tests.fuzz.branches
	$(BIN)/python -m pytest -p tests.support.switching $(PYTEST_FLAGS) tests/adapters tests/session tests/guard

bench: .venv/installed-bench
	$(BIN)/python -m campaigns.bench $(SPONSIO:%=--sponsio %) $(ACEL:%=--acel %)

mutate: .venv/installed-dev
	$(BIN)/python -m tests.planted.mutate

coverage: .venv/installed-dev
	$(BIN)/coverage run -m pytest $(PYTEST_FLAGS) -n 0
	$(BIN)/coverage report

clean:
	rm -rf .venv .venv-oldest .venv-newest .venv-mcp dist build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

.PHONY: help
help:
	@sed -n 's/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST)) | sed '/^$$/N;/^\n$$/D'

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make: Python 3.11 or newer is needed; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/created pyproject.toml
	@echo "installing sponsio-like into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/installed-dev: .venv/created pyproject.toml
	@echo "installing sponsio-like and its development tools into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,langgraph,langchain,risk]'
	@touch .venv/installed $@

.venv/installed-bench: .venv/installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

.venv-oldest/installed: .venv/created pyproject.toml tests/oldest.txt
	@echo "installing sponsio-like with the lowest versions of LangGraph and LangChain ..."
	@$(PYTHON) -m venv .venv-oldest
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint tests/oldest.txt --editable '.[langgraph,langchain]' \
	  hypothesis langgraph-checkpoint-sqlite pytest pytest-asyncio pytest-xdist
	@touch $@

.venv-newest/installed: .venv/created pyproject.toml tests/newest.txt
	@echo "installing sponsio-like with the newest versions of LangGraph and LangChain ..."
	@$(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --upgrade --upgrade-strategy eager \
	  --requirement tests/newest.txt --editable '.[langgraph,langchain]'
	@touch $@

# LangChain's own client wants another version of `mcp` than langchain-mcp-adapters.
.venv-mcp/installed: .venv/created pyproject.toml
	@echo "installing sponsio-like with LangChain and its client of MCP servers ..."
	@$(PYTHON) -m venv .venv-mcp
	@.venv-mcp/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[langchain]' 'langchain[mcp]>=1.4' \
	  hypothesis langgraph-checkpoint-sqlite pytest pytest-asyncio pytest-xdist
	@touch $@
