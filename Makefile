# Each target makes .venv first if it is missing, and again when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test lint bench docs-math docs-porting wheel clean

demo: $(INSTALLED)
	$(RUN)/python examples/edges.py

test: $(INSTALLED)
	$(RUN)/python -m pytest -n 2 --dist loadfile

lint: $(INSTALLED)
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

bench: $(INSTALLED)
	$(RUN)/python benchmarks/cpu_device.py

# with what the first new kernel of a session needs, for this Python, Numba and llvmlite
wheel: $(INSTALLED)
	NUMBA_GPU_BUILD_WARM=1 $(RUN)/python -m pip wheel --no-build-isolation --no-deps --wheel-dir dist .

# at most ten minutes on two cores
docs-math: $(INSTALLED)
	$(RUN)/python docs/generate_math.py

docs-porting: $(INSTALLED)
	$(RUN)/python docs/generate_porting.py

clean:
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@
