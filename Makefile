# `make run` serves everything, `make test` runs every test, `make help` lists the rest.
PYTHON ?= $(or $(shell command -v python3.11),python3)
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
UID ?= alice
ORIGIN ?= http://127.0.0.1:$(or $(PORT),8080)
EXAMPLE_PORT ?= 9000
PROCESSES ?= 2
EGRESS_DEV_ORIGINS ?= http://127.0.0.1:$(EXAMPLE_PORT)

.PHONY: run example import export erase test check fuzz crash-simulation bench eval eval-memories eval-injection dead-letters reindex openapi lock clean help

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

run: $(VENV)/ready ## Serve Keepsake on http://127.0.0.1:8080 (PORT, HOST, DATA_DIR)
	@EGRESS_DEV_ORIGINS="$(EGRESS_DEV_ORIGINS)" exec $(BIN)/python -m infra.local

example: $(VENV)/ready ## Serve a small app, install it on the running server and ask for it (UID, ORIGIN, EXAMPLE_PORT)
	@$(BIN)/python -m examples.shopping --origin $(ORIGIN) --uid $(UID) --port $(EXAMPLE_PORT)

import: $(VENV)/ready ## Import FILES="…" (text, SRT, WebVTT, JSON, folders) into the running server (PORT, ORIGIN, UID, ARGS=--wait)
	@$(BIN)/python -m infra.local.import_ --origin $(ORIGIN) --uid $(UID) $(ARGS) $(FILES)

export: $(VENV)/ready ## Export everything of a user (UID) into a zip of JSON (OUT)
	@$(BIN)/python -m infra.local.account export --origin $(ORIGIN) --uid $(UID) $(if $(OUT),--out $(OUT))

erase: $(VENV)/ready ## Erase everything of a user (UID); asks first
	@$(BIN)/python -m infra.local.account erase --origin $(ORIGIN) --uid $(UID) $(ARGS)

test: $(VENV)/ready-dev ## Run every test in PROCESSES=2; a part whose tools are missing is skipped and named (ARGS)
	@$(BIN)/python -m pytest -n $(PROCESSES) $(ARGS)

check: $(VENV)/ready-dev ## Format, lint, types, import contracts
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy functions shared infra tests examples && $(BIN)/lint-imports

bench: $(VENV)/ready-dev ## Print the figures beside their baselines (ONLY="streams chats journals crowds agents processing search notifications disclosure imports")
	@$(BIN)/python -m infra.bench $(ONLY)

fuzz: $(VENV)/ready-dev ## Ask every route of docs/openapi.json for FOR=600 seconds (SEED=1): no 5xx, no undescribed answer
	@$(BIN)/python -m infra.fuzz --seconds $(or $(FOR),600) --seed $(or $(SEED),1)

crash-simulation: $(VENV)/ready-dev ## Play N random crashes, cuts and repeats of a question (N=10000, SEED=1)
	@$(BIN)/python -m tests.functions.chat.crash_simulation $(or $(N),10000) --seed $(or $(SEED),1)

eval: $(VENV)/ready-dev ## Measure retrieval: make eval DATA=path/to/locomo.json (OUT=.cache/eval.svg, EMBEDDER=a venv with requirements-embedder.in)
	@test -f "$(DATA)" || { echo "keepsake: name a LoCoMo file: make eval DATA=path/to/locomo.json" >&2; exit 2; }
	@$(BIN)/python -m infra.eval "$(DATA)" "$(or $(OUT),.cache/eval.svg)" --embedder "$(or $(EMBEDDER),.cache/embed-venv)"

eval-memories: $(VENV)/ready-dev ## Measure which facts are remembered, on our gold set (OPENAI_API_KEY asks that model; ARGS=--show)
	@data=$$(mktemp -d) && trap 'rm -rf $$data' EXIT && DATA_DIR=$$data $(BIN)/python -m infra.eval.memories $(ARGS)

eval-injection: $(VENV)/ready-dev ## Play InjecAgent's cases (DATA=file, TOOLS=file), honest wishes, and those of real apps (APPS=file, SENTENCES=file)
	@test -f "$(DATA)" || { echo "keepsake: name a file of cases: make eval-injection DATA=path/to/cases.json TOOLS=path/to/tools.json" >&2; exit 2; }
	@$(BIN)/python -m infra.eval.injection "$(DATA)" $(if $(TOOLS),--tools "$(TOOLS)") $(if $(APPS),--apps "$(APPS)") $(if $(SENTENCES),--sentences "$(SENTENCES)")

dead-letters: $(VENV)/ready ## List messages that were given up (SHOW=id shows one, REPLAY=id or all sends again)
	@$(BIN)/python -m infra.dead_letters $(if $(SHOW),--show $(SHOW)) $(if $(REPLAY),--replay $(REPLAY))

reindex: $(VENV)/ready ## Rebuild the index of one user (UID=…), after an upgrade or for a new embedder
	@$(BIN)/python -m infra.reindex $(or $(UID),alice)

openapi: $(VENV)/ready ## Write docs/openapi.json from the route table
	@$(BIN)/python -m infra.openapi

lock: $(VENV)/ready-dev ## Pin and hash what requirements*.in ask for
	@$(BIN)/pip install -qq uv
	@$(BIN)/uv pip compile -q --generate-hashes --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" requirements.in -o requirements.txt
	@$(BIN)/uv pip compile -q --generate-hashes --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" requirements-dev.in -o requirements-dev.txt
	@$(BIN)/uv pip compile -q --generate-hashes --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" infra/bench/frameworks.in -o infra/bench/frameworks.txt

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "keepsake: Python 3.11 is missing: install it, or set PYTHON=/path/to/it make run" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "keepsake: $(PYTHON) has no venv: install it (Debian: apt-get install python3.11-venv)" >&2; exit 2; }
	@echo "keepsake: creating $(VENV)"
	@$(PYTHON) -m venv $(VENV) && touch $@

$(VENV)/ready: requirements.txt | $(VENV)/made
	@echo "keepsake: installing requirements.txt (about a minute)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.txt && touch $@

$(VENV)/ready-dev: requirements-dev.txt $(VENV)/ready
	@echo "keepsake: installing requirements-dev.txt"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.txt && touch $@

clean: ## Remove installed packages and caches; data stays
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache
