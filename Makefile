# `make help` lists the commands. Everything is installed into .venv; nothing outside the
# repository changes. Stamp files in .venv make sure that nothing is installed twice.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PORT ?= 8000
NB ?= $(wildcard book/*.ipynb)
HTML := _build/html

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
MATHJAX := vendor/mathjax/startup.js
# Asked for in a recipe, so that TORCH=system is needed once only, when .venv is made.
SYSTEM_TORCH = grep -qs 'include-system-site-packages = true' $(VENV)/pyvenv.cfg
C_SOURCES = find kernels lib tests -regex '.*\.\(cu\|cuh\|cc\|cpp\|h\|hpp\)'
PYTEST := $(PY) -m pytest

.PHONY: help book html serve test lint lab notebooks widgets record test-gpu mutants format clean distclean \
  book-env test-env lab-env

help:
	@echo 'make book       set up .venv, build the book, print where it is'
	@echo 'make serve      serve the built book on http://127.0.0.1:$(PORT) (PORT=...)'
	@echo 'make test       set up .venv, then everything that CI runs'
	@echo 'make lab        open the chapters in JupyterLab'
	@echo 'make notebooks  execute all chapters in place (NB="book/x.ipynb" for some)'
	@echo 'make widgets    bring the widgets that chapters store up to date, running nothing'
	@echo 'make record     measure all kernels on this GPU into book/measurements/'
	@echo 'make test-gpu   the tests that need a GPU'
	@echo 'make mutants    try every mutant of every kernel in the simulator, and record (minutes)'
	@echo 'make format     format Python, notebooks, CUDA and C++'
	@echo 'make clean      remove what was built; make distclean also removes .venv'
	@echo 'TORCH=system    with the first command: use the torch that the machine has'

# ---- set-up ----

$(PY):
	@python=; \
	for p in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$p; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "gemmlab needs Python 3.11 or newer, and found $$(python3 --version 2>/dev/null || echo none): apt-get install python3 python3-venv, or name one: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; \
	fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "Python's venv module is missing: apt-get install python3-venv" >&2; exit 1; \
	fi; \
	$$python -m venv $(if $(filter system,$(TORCH)),--system-site-packages) $(VENV)

$(VENV)/.book: requirements.txt pyproject.toml | $(PY)
	@echo 'Installing the pinned packages into $(VENV) (about a minute) ...'
	@if $(SYSTEM_TORCH); then \
	  $(PY) -c 'import torch' 2>/dev/null || { echo 'TORCH=system, but this Python has no torch: install it, or run make distclean and leave TORCH out' >&2; exit 1; }; \
	  $(PIP) -r <(sed '/^torch==/d' requirements.txt); \
	else $(PIP) -r requirements.txt; fi
	@$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.test: requirements-dev.txt $(VENV)/.book
	@echo 'Installing what the tests need ...'
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(VENV)/.lab: requirements-lab.txt $(VENV)/.book
	@echo 'Installing JupyterLab ...'
	@$(PIP) -r requirements-lab.txt
	@touch $@

# MathJax comes inside a Python package, so that npm is not needed. Taken are the parts that
# _config.yml loads (0.7 MB, where the combined script is 1.2 MB) and what they look for beside them.
$(MATHJAX): $(VENV)/.book
	@from=$$($(PY) -c 'import importlib.util as u; print(*u.find_spec("mathjax").submodule_search_locations)')/static/mathjax; \
	rm -rf vendor/mathjax; mkdir -p vendor/mathjax; \
	(cd $$from/es5 && cp -r --parents core.js a11y/assistive-mml.js input/tex.js input/tex/extensions \
	  output/chtml.js output/chtml/fonts $(CURDIR)/vendor/mathjax); \
	cp $$from/LICENSE $$from/es5/startup.js vendor/mathjax/; touch $@

book-env: $(MATHJAX)
test-env: book-env $(VENV)/.test
lab-env: $(VENV)/.lab

# ---- the book ----

# A changed table of contents changes the sidebar of every page, so it rebuilds them all.
html: book-env
	@all=; for f in _toc.yml _config.yml requirements.txt book/_ext/*.py; do \
	  if [ $$f -nt $(HTML)/index.html ]; then all=--all; fi; done; \
	$(BIN)/jupyter-book build . --warningiserror --keep-going --quiet $$all >/dev/null

book: html
	@command -v g++ >/dev/null || echo 'Note: no g++, so the simulator cannot run kernels here: apt-get install g++'
	@echo
	@echo 'The book is built. Open  file://$(CURDIR)/$(HTML)/index.html'
	@echo 'or run  make serve  and open  http://127.0.0.1:$(PORT)'

serve:
	@[ -f $(HTML)/index.html ] || $(MAKE) --no-print-directory book
	@$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory $(HTML)

lab: lab-env
	$(BIN)/jupyter lab --notebook-dir=book $(LAB_ARGS)

notebooks: book-env
	@$(PY) book/_ext/execute.py $(NB)

widgets: book-env
	@$(PY) book/_ext/refresh.py $(NB)

record: book-env
	$(PY) -m gemmlab record
	$(PY) -m gemmlab record --family hgemm
	$(PY) -m gemmlab record --family tma

# ---- tests ----

test: test-env
	@command -v g++ >/dev/null || { echo 'The tests need g++: apt-get install g++' >&2; exit 1; }
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory html
	@echo '== unit, simulator, book =='
	@$(PYTEST) -n 2 --dist loadfile -m 'not gpu' tests --ignore tests/browser
	@$(if $(NB),echo '== notebooks without a GPU ==' && GEMMLAB_BACKEND=sim GEMMLAB_PROGRESS=0 $(PYTEST) -n 2 --dist loadfile -p no:cacheprovider --nbval-lax --nbval-current-env --nbval-sanitize-with tests/notebooks/sanitize.cfg $(NB))
	@echo '== browser =='
	@$(PYTEST) tests/browser

lint: test-env
	@echo '== lint =='
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(C_SOURCES) -print0 | xargs -0 -r $(BIN)/clang-format --dry-run --Werror

test-gpu: test-env
	$(PYTEST) -m gpu tests/gpu

mutants: test-env
	$(PY) tests/sim/mutants.py --full

format: test-env
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(C_SOURCES) -print0 | xargs -0 -r $(BIN)/clang-format -i

clean:
	rm -rf _build vendor .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) lib/*.egg-info
