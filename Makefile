# Every target sets up .venv by itself, with the library and the experiments; a stamp file per extra
# keeps it from doing so twice.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
ifneq ($(wildcard ../shared/data),)
export ISTHMUS_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test grid campaign lint types docs bench peers reproduce results clean help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-%: pyproject.toml experiments/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]" --editable experiments
	@touch $@

# The peers pin old releases of what we stand on, so they live in an environment of their own,
# with compiled loops of their own: two releases of numba would overwrite each other's.
$(BENCH)/.installed-bench: pyproject.toml experiments/pyproject.toml
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --editable ".[bench]" --editable experiments
	@touch $@

demo: $(VENV)/.installed-app  ## a map learned from a table, both ways, and a few published results
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m isthmus.cli demo --report report

# Two processes of one thread each: many small problems gain nothing from threads in BLAS.
test: $(VENV)/.installed-dev  ## the whole test suite
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

grid: $(VENV)/.installed-dev  ## every part in every slot of the square, and the counts
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q tests/grid $(PYTEST_ARGS)

campaign: $(VENV)/.installed-dev  ## bad data, bad parameters, interrupts, odd units: every estimator
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaign $(CAMPAIGN_ARGS)

lint: $(VENV)/.installed-dev  ## ruff, check and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev  ## mypy, strict on the pure-maths modules
	$(BIN)/mypy

docs: $(VENV)/.installed-docs  ## the pages, into docs/_build/html, warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(BENCH)/.installed-bench  ## ratios against the peers, into benchmarks/results
	NUMBA_CACHE_DIR=$(abspath $(BENCH))/numba $(BENCH)/bin/python -m benchmarks $(BENCH_ARGS)
	$(BENCH)/bin/python -m benchmarks.standing > /dev/null

peers: $(BENCH)/.installed-bench  ## peers' own tests against ours: passed, failed, whose fault
	NUMBA_CACHE_DIR=$(abspath $(BENCH))/numba $(BENCH)/bin/python -m benchmarks.peers $(PEERS_ARGS)

reproduce: $(VENV)/.installed-app  ## every experiment in full, with a report
	$(BIN)/isthmus reproduce --report report

results: $(VENV)/.installed-app  ## full runs that are not kept yet, into experiments/results, and their page
	$(BIN)/isthmus reproduce --keep experiments/results
	$(BIN)/python docs/published.py

clean:  ## remove the environment and everything built
	rm -rf $(VENV) $(BENCH) report docs/_build docs/gallery build dist
