# `make help` lists the commands. Everything is installed into .venv; nothing outside the
# repository changes. Stamp files in .venv make sure that nothing is installed twice.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PORT ?= 8000
NB ?= $(wildcard book/*.ipynb)
HTML := _build/html

# A container sets it, so that what it installs does not lie in a folder that it shares.
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
MATHJAX := vendor/mathjax/startup.js
# Linux is where everything runs; elsewhere a command first says what works, and how to get the rest.
SYSTEM := $(shell uname -s 2>/dev/null || echo Linux)
CONTAINER := open the folder in the container of .devcontainer (README.md, Other systems)
# Asked for in a recipe, so that TORCH=system is needed once only, when .venv is made.
SYSTEM_TORCH = grep -qs 'include-system-site-packages = true' $(VENV)/pyvenv.cfg
C_SOURCES = find kernels lib tests -regex '.*\.\(cu\|cuh\|cc\|cpp\|h\|hpp\)'
PYTEST := $(PY) -m pytest
# What takes longest is said at the end of each stage.
DEAREST := --durations=20 --durations-min=5
PINS = $(BIN)/uv pip compile --quiet --python-version 3.11 --no-emit-index-url \
  --annotation-style line --custom-compile-command 'make pins'
FUZZ_CASES ?= 100000
FUZZ_LAUNCHES ?= 20000

.PHONY: help book html serve quick test lint lab notebooks widgets tables reference record peers machine-code \
  test-gpu campaign mutants fuzz pins wheel format clean distclean system linux book-env test-env \
  lab-env test-code test-notebooks test-browser

help:
	@echo 'To read and to run:'
	@echo '  make book       set up .venv, build the book, print where it is'
	@echo '  make serve      serve the built book on http://127.0.0.1:$(PORT) (PORT=...)'
	@echo '  make lab        open the first page, and from it the chapters, in JupyterLab'
	@echo 'To test:'
	@echo '  make quick      unit tests and widgets, without the slow ones (a minute)'
	@echo '  make lint       style, formats, which module may import which, types'
	@echo '  make test       set up .venv, then what CI runs: every test, of dear cases a sample'
	@echo '  make test-gpu   the tests that need a GPU'
	@echo '  make campaign   what takes long: mutants, fuzz, all cases and cells that make test leaves out;'
	@echo '                  CORPUS=dir: and the public kernels that are in it, as they are and with'
	@echo '                  one synchronizing statement removed'
	@echo '  make mutants    try every mutant of every kernel in the simulator, and record (minutes)'
	@echo '  make fuzz       FUZZ_CASES=$(FUZZ_CASES) malformed launches and random operations, and'
	@echo '                  FUZZ_LAUNCHES=$(FUZZ_LAUNCHES) random launches of all steps, which it records'
	@echo 'To bring up to date:'
	@echo '  make notebooks  execute all chapters in place (NB="book/x.ipynb" for some, JOBS=n)'
	@echo '  make widgets    the widgets that chapters store, running nothing'
	@echo '  make tables     the table of systems in README.md and the book'
	@echo '  make reference  the page of all public names, executed'
	@echo '  make record     measure all kernels on this GPU into book/measurements/'
	@echo '  make peers      the last steps beside CUTLASS, DeepGEMM and fast.cu, built from the checkouts in'
	@echo '                  CUTLASS=dir DEEPGEMM=dir FASTCU=dir (BUILT=dir: or from built drivers)'
	@echo '  make machine-code  the digests of what nvcc makes of the kernels'
	@echo '  make pins       requirements*.txt from pyproject.toml'
	@echo '  make wheel      the package, with kernels and recordings, into dist/'
	@echo '  make format     format Python, notebooks, CUDA and C++'
	@echo '  make clean      remove what was built; make distclean also removes .venv'
	@echo 'TORCH=system      with the first command: use the torch that the machine has'

# ---- set-up ----

system:
ifeq ($(SYSTEM),Darwin)
	@echo 'gemmlab runs on Linux, and this is macOS, where the book can be built and read (make book); to run kernels and tests, $(CONTAINER).' >&2
else ifneq ($(SYSTEM),Linux)
	@echo 'gemmlab runs on Linux, and this is $(SYSTEM), where the rendered pages of the book can be read; to run anything, use WSL or $(CONTAINER).' >&2; exit 1
endif

linux: system
	@[ '$(SYSTEM)' = Linux ]

$(PY): | system
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
	to=$$PWD/vendor/mathjax; rm -rf "$$to"; mkdir -p "$$to"; \
	tar -C "$$from/es5" -cf - core.js a11y/assistive-mml.js input/tex.js input/tex/extensions \
	  output/chtml.js output/chtml/fonts | tar -C "$$to" -xf -; \
	cp "$$from/LICENSE" "$$from/es5/startup.js" "$$to/"; touch $@

book-env: $(MATHJAX)
test-env: linux book-env $(VENV)/.test
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
	@echo "The book is built. Open  $$($(PY) -c 'from pathlib import Path; print(Path("$(HTML)/index.html").absolute().as_uri())')"
	@echo 'or run  make serve  and open  http://127.0.0.1:$(PORT)'

serve:
	@[ -f $(HTML)/index.html ] || $(MAKE) --no-print-directory book
	@$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory $(HTML)

lab: lab-env
	$(BIN)/jupyter lab --notebook-dir=book --LabApp.default_url=/lab/tree/intro.ipynb $(LAB_ARGS)

notebooks: book-env
	@$(PY) -m tools.execute $(if $(JOBS),--jobs $(JOBS)) $(NB)

widgets: book-env
	@$(PY) -m tools.refresh $(NB)

tables: book-env
	@$(PY) -m tools.coverage

reference: book-env
	@$(PY) -m tools.reference

record: book-env
	$(PY) -m gemmlab record
	$(PY) -m gemmlab record --family hgemm
	$(PY) -m gemmlab record --family tma
	$(PY) -m gemmlab record --family wgmma

# Other people's kernels, from checkouts given by path; what is not given is left out.
peers: book-env
	$(PY) -m tools.peers $(if $(CUTLASS),--cutlass '$(CUTLASS)') $(if $(DEEPGEMM),--deepgemm '$(DEEPGEMM)') \
	  $(if $(FASTCU),--fastcu '$(FASTCU)') $(if $(BUILT),--built '$(BUILT)') \
	  $(if $(SIZES),--sizes $(SIZES)) $(if $(MODES),--modes $(MODES))

machine-code: book-env
	$(PY) -m tools.machine_code

# Index addresses are left out of what is written: they are the machine's, not the project's.
pins: test-env
	$(PINS) pyproject.toml --extra course --extra book --group build -o requirements.txt >/dev/null
	$(PINS) --group dev -c requirements.txt -o requirements-dev.txt >/dev/null
	$(PINS) --group lab -c requirements.txt -o requirements-lab.txt >/dev/null
	@git --no-pager diff --stat -- 'requirements*.txt'

wheel: book-env
	@rm -rf dist
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w dist .
	@ls -l dist

# ---- tests ----

# Four stages, of which the first that fails is the last. Each has work for two cores to its end: a
# worker that has run out of tests takes some from the end of the other's list (worksteal), which
# leaves tests that share something beside each other; and pages are opened while chapters run.
test: test-env
	@command -v g++ >/dev/null || { echo 'The tests need g++: apt-get install g++' >&2; exit 1; }
	@$(MAKE) --no-print-directory -j 2 --output-sync=target lint html
	@$(MAKE) --no-print-directory test-code
	@$(MAKE) --no-print-directory -j 2 --output-sync=target $(if $(NB),test-notebooks) test-browser

# Two workers share the cores. Threads of torch's that wait for each other do so in a loop, which
# takes half of the time from the simulator's. And without bytecode each of some hundred processes
# would compile the package anew.
test-code test-notebooks test-browser quick campaign: export OMP_NUM_THREADS ?= 1
test-code test-notebooks test-browser quick campaign: export PYTHONDONTWRITEBYTECODE =

# Stages of `make test`.
test-code: test-env
	@echo '== unit, simulator, book =='
	@$(PYTEST) -n 2 --dist worksteal $(DEAREST) -p no:nbval -m 'not gpu and not campaign' tests --ignore tests/browser

test-notebooks: test-env
	@echo '== notebooks without a GPU =='
	@GEMMLAB_BACKEND=sim GEMMLAB_PROGRESS=0 PYTHONPATH=tests/shared$${PYTHONPATH:+:$$PYTHONPATH} \
	  $(PYTEST) -n 2 --dist loadfile $(DEAREST) -p no:cacheprovider \
	  --nbval-lax --nbval-current-env --nbval-sanitize-with tests/notebooks/sanitize.cfg \
	  -p chapter_cells -p forked_kernels $(CELLS) $(NB)

test-browser: test-env
	@echo '== browser =='
	@$(PYTEST) -n 2 --dist worksteal $(DEAREST) -p no:nbval -m 'not campaign' tests/browser

quick: test-env
	@$(PYTEST) -q -n 2 -m 'not gpu and not slow and not campaign' tests/unit tests/js

lint: test-env
	@echo '== lint =='
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(C_SOURCES) -print0 | xargs -0 -r $(BIN)/clang-format --dry-run --Werror
	@$(BIN)/lint-imports --no-cache >.lint-imports.log || { cat .lint-imports.log; rm .lint-imports.log; exit 1; }; rm .lint-imports.log
	@$(BIN)/mypy --no-error-summary

test-gpu: test-env
	$(PYTEST) -m gpu tests/gpu

# Their results are committed; `make test` repeats a fixed sample of each. Of the tests all cases that
# it leaves out run here (tests/sample.toml), and of the chapters every cell.
campaign: html mutants fuzz
	$(PYTEST) -n 2 -m campaign tests
	$(MAKE) --no-print-directory test-notebooks CELLS='--all-cells --cold-kernels'
	$(if $(CORPUS),$(PY) -m tools.corpus --folder $(CORPUS))
	$(if $(CORPUS),$(PY) -m tools.corpus.samples --folder $(CORPUS) --record)
	$(if $(CORPUS),$(PY) -m tools.corpus.removed --folder $(CORPUS) --record)
	$(if $(CORPUS),$(PY) -m tools.corpus.counters --folder $(CORPUS))
	$(if $(CORPUS),$(PY) -m tools.corpus.table)

mutants: test-env
	$(PY) -m tools.mutants --full
	$(PY) -m tools.mutants --by-hand --full

fuzz: test-env
	$(PY) -m tools.fuzz.malformed 1 $(FUZZ_CASES)
	$(PY) -m tools.fuzz.launches $(FUZZ_LAUNCHES) --output book/measurements/fuzz

format: test-env
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(C_SOURCES) -print0 | xargs -0 -r $(BIN)/clang-format -i

clean:
	rm -rf _build dist vendor .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) lib/*.egg-info
