# Everything from a fresh machine with Python 3.11, 3.12 or 3.13, make and git: `make reproduce`, `make test`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The interpreter the environment is made with: the first that works. Another: make PYTHON=/path/to/python
PYTHON ?= $(shell tools/find_python.sh 3.11 3.12 3.13)
CORES ?= all
# A configuration of your own: make reproduce CONFIG=my.yaml
CONFIG ?= config/config.yaml
# The results folder to verify: make verify RESULTS=results/natural
RESULTS ?= results
VENV := .venv
PY := $(VENV)/bin/python
SNAKEMAKE := $(PY) -m snakemake --cores $(CORES)
UV_COMPILE := .cache/uv/bin/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
  --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --all-extras

.PHONY: help setup reproduce smoke natural locomo natural-text real-systems verify test lint docs judge bench scale scale-quick lock lock-check unlock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/.complete ## make the environment .venv, with the command .venv/bin/memaudit

$(VENV)/.complete: requirements.lock tools/make_venv.sh tools/link_package.py
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11, 3.12 or 3.13 found; install one," \
	    "or say where it is: make PYTHON=/path/to/python" >&2; exit 1; }
	@tools/make_venv.sh $(VENV) "$(PYTHON)"

# snakemake does not quote the interpreter it starts scripts with.
.PHONY: no-space
no-space:
	@[[ "$(CURDIR)" != *" "* ]] || { echo "error: snakemake cannot start scripts below a path with a space;" \
	    "move this folder to one without" >&2; exit 1; }

reproduce: no-space setup ## run the whole pipeline with the paper's setting, into results/
	$(SNAKEMAKE) --configfile "$(CONFIG)"

smoke: no-space setup ## run every stage on a handful of packages, into results/smoke/
	$(SNAKEMAKE) --configfile config/smoke.yaml

natural: no-space setup ## run it on LongMemEval: make natural LONGMEMEVAL=<file>, into results/natural/
	@test -n "$(LONGMEMEVAL)" || { echo "error: say which file: make natural LONGMEMEVAL=<file>" >&2; exit 1; }
	$(SNAKEMAKE) --configfile config/natural.yaml --config "longmemeval='$(LONGMEMEVAL)'"

locomo: no-space setup ## run it on LoCoMo: make locomo LOCOMO=<file>, into results/locomo/
	@test -n "$(LOCOMO)" || { echo "error: say which file: make locomo LOCOMO=<file>" >&2; exit 1; }
	$(SNAKEMAKE) --configfile config/locomo.yaml --config "locomo='$(LOCOMO)'"

natural-text: setup ## natural100 with its texts filled in: make natural-text LONGMEMEVAL=<file>, into results/natural100_text/
	@test -n "$(LONGMEMEVAL)" || { echo "error: say which file: make natural-text LONGMEMEVAL=<file>" >&2; exit 1; }
	$(PY) tools/natural100.py text "$(LONGMEMEVAL)" results/natural100_text

# Never part of the pipeline or of continuous integration: environments of its own, Python 3.11 on Linux x86-64.
real-systems: setup ## run real Mem0, A-Mem and Letta again: make real-systems LONGMEMEVAL=<file>, into .cache/real_systems/
	@test -n "$(LONGMEMEVAL)" || { echo "error: say which file: make real-systems LONGMEMEVAL=<file>" >&2; exit 1; }
	tools/real_systems/run.sh $(PY) "$(LONGMEMEVAL)" .cache/real_systems

verify: setup ## check results/ (or RESULTS=<folder>) again from its files: optima by an independent solver, scores
	$(PY) -m memaudit verify "$(RESULTS)"

test: setup ## style, all tests, the unit tests on every other Python found, the lock file
	@$(MAKE) --no-print-directory lint
	$(PY) -m pytest -n auto
	@tools/test_pythons.sh $(PY)
	@tools/lock_check.sh $(PY) --if-online

lint: setup ## style of the Python code
	$(PY) -m ruff check .
	$(PY) -m ruff format --check --quiet .

docs: setup ## write config/schema.json and the key tables of config/README.md anew
	$(PY) tools/make_docs.py

judge: setup ## fit the judge of coverage on natural100's labels (scripts/memaudit/stores/proxy.json), and calibrate it
	$(PY) tools/fit_judge.py
	$(PY) tools/judge_calibration.py

bench: setup ## measure the solver and the checkers
	$(PY) tools/bench.py

# Not for continuous integration: hours of solving. Both go on where they were stopped.
scale: setup ## measure the solver beside HiGHS, CBC, SCIP and CP-SAT, up to two hours, into results/scale/
	$(PY) tools/scale/run.py

scale-quick: setup ## the same on fewer sizes, up to a quarter of an hour, into results/scale_quick/
	$(PY) tools/scale/run.py --quick

lock: setup ## resolve the dependencies of pyproject.toml anew (all to the newest: UPGRADE=--upgrade)
	@tools/make_uv.sh $(PY)
	$(UV_COMPILE) $(UPGRADE) pyproject.toml --output-file requirements.lock
	$(PY) tools/make_environment.py

lock-check: setup ## check that the lock file resolves for Python 3.11, 3.12 and 3.13
	@tools/lock_check.sh $(PY)

unlock: setup ## after a kill or power cut: let the next run go on
	$(SNAKEMAKE) --configfile "$(CONFIG)" --unlock

clean: ## remove environments and caches (not results/ and the records of runs)
	rm -rf .venv .venv-3.* .cache .pytest_cache .hypothesis .ruff_cache
