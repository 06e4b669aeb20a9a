# Two commands do everything: `make demo` and `make test`. Both set the environment up first.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready-$(shell $(PYTHON) -c "import hashlib; print(hashlib.sha256(open('pyproject.toml','rb').read()).hexdigest()[:12])")

export PYTHONUNBUFFERED = 1

# Processes that run the tests, a file at a time.
WORKERS ?= 2

.PHONY: demo test check bench evals-check evals setup extras clean

demo: setup
	$(BIN)/letopis demo

test: setup
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m evals.bench

evals-check: setup
	$(BIN)/python -m evals.check

evals: setup
	$(BIN)/letopis eval run --results docs/results.md

setup: $(READY)

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# The optional extras, as CI installs them: torch first, from the CPU build where there is one.
extras: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,sentence-transformers,train]'

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
