# `make demo` and `make test` work from a bare clone: each sets up .venv first, and only when something changed.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
DEPS := .venv/.dependencies
PEERS := .venv/.peers
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench coverage sensitivity economics complaints reference constraints clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z.]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(STAMP) ## compare the policies on every workload, then on a recorded session
	$(BIN)/evictbench compare -p own --seeds 30 --set turns=200 --jobs 2
	$(BIN)/evictbench replay examples/demo-session.jsonl -p own
	$(BIN)/python examples/typecheck_log.py | $(BIN)/evictbench reduce - --no-show
	$(BIN)/evictbench check examples/loop.toml

test: lint $(PEERS) ## lint, then run the tests
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(STAMP) ## check style, formatting and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(STAMP) ## run the speed benchmarks
	$(BIN)/python -m pytest benchmarks --benchmark-enable --benchmark-only

coverage: $(STAMP) ## measure how often intervals hold the mean and write it into docs/statistics.md
	$(BIN)/python -m bench.coverage

sensitivity: $(STAMP) ## vary the parameters and show which of them matter
	$(BIN)/python -m bench.sensitivity

economics: $(STAMP) ## measure what cuts cost and write it into docs/economics.md
	$(BIN)/python -m bench.economics

complaints: $(STAMP) ## run the reported failures and write their table into docs/complaints.md
	$(BIN)/python -m bench.complaints

reference: $(STAMP) ## make the result anew that results/reference keeps
	$(BIN)/evictbench compare doc-analysis coding-agent -p naive-rewrite -p tag-or-drop -p tiered \
		--seeds 6 --set turns=40 --jobs 1 --out results/reference --format md

constraints: ## pin the newest releases in constraints.txt (needs uv)
	uv pip compile pyproject.toml constraints.in --all-extras --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --upgrade -o constraints.txt
	uv pip compile --group peers --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --upgrade -o constraints-peers.txt

clean: ## remove the environment and the caches, but no results
	rm -rf .venv .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	@find bench benchmarks examples live policies scenarios sim tests -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

.venv: $(STAMP) ## set up the environment

$(DEPS): constraints.txt
	@command -v "$(PYTHON)" >/dev/null || { echo "evictbench needs Python 3.11 or newer, but there is no command $(PYTHON): try make PYTHON=python3.12." >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evictbench needs Python 3.11 or newer, but $(PYTHON) is %d.%d: try make PYTHON=python3.12." % sys.version_info[:2])'
	@echo "Setting up .venv; the first time takes about a minute."
	@"$(PYTHON)" -m venv --clear .venv
	@$(PIP) install --require-hashes -r constraints.txt
	@touch $@

# Where there is no build of what tests compare with, those tests are skipped, and say so.
$(PEERS): constraints-peers.txt $(STAMP)
	@$(PIP) install --require-hashes --only-binary :all: -r constraints-peers.txt \
		|| echo "What constraints-peers.txt names is not to be had here: the tests against it are skipped." >&2
	@touch $@

$(STAMP): $(DEPS) pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(PIP) check
	@touch $@
