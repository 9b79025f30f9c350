# The commands of a developer. Each sets up what it needs first: a virtual environment in .venv.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin

.PHONY: demo test soak lint generated docs bench bench-peers kafka kafka-stop clean

demo: .venv/installed
	$(BIN)/streamlin demo

# Many tests wait for processes and brokers, so there is one worker more than there are cores. Tests start hundreds of
# interpreters: bytecode is kept, whatever the environment says.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

test: .venv/installed-test
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# Kill each Kafka client 200 times while it learns from 100,000 events, three times over; about ten minutes. Then try what
# clients, streams and files can do to a service and a run, at full size, and state the memory; about twice as long. Among
# it a run with workers is killed 105 times.
soak: .venv/installed-test
	SOAK_KILLS=200 SOAK_EVENTS=100000 $(BIN)/pytest -v --timeout 3600 tests/integration/kafka/test_exactly_once.py
	$(BIN)/pytest -v -s --timeout 2400 -o python_files='*.py' tests/soak

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The wrappers' stubs, and what the pages say of each learner and metric.
generated: .venv/installed
	$(BIN)/python -m generator

# The site, in site/; warnings are errors.
docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Whole processes are measured in an environment as users have it, without the packages of the tests.
bench: .venv/installed-test bench/venv/installed bench/peers-venv/installed
	bench/venv/bin/python -m benchmarks.bench $(PARTS)
	$(BIN)/pytest benchmarks -q -p benchmark -o python_files='bench_*.py' -o python_functions='bench_*'

# Compare with Vowpal Wabbit, river and scikit-learn; OPTIONS="--quick" for a trial, OPTIONS="--only speed" for one part.
bench-peers: bench/peers-venv/installed
	bench/peers-venv/bin/python -m benchmarks.peers $(OPTIONS)

# A real broker on this machine; kafka-stop ends it and deletes its data.
kafka: | .venv/bin/python
	@$(BIN)/python -m deploy.kafka.command start

kafka-stop: | .venv/bin/python
	@$(BIN)/python -m deploy.kafka.command stop

clean:
	rm -rf .venv build dist *.egg-info bench site

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Found no Python 3.11 or newer; give one with make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/installed-test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ .venv/installed .venv/installed-docs

.venv/installed-docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@ .venv/installed

bench/venv/installed: pyproject.toml $(shell find streamlin connectors -name '*.py')
	test -x bench/venv/bin/python || $(PYTHON) -m venv bench/venv
	bench/venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall '.[kafka,confluent,cluster,dashboard,metrics,serve]'
	@touch $@

bench/peers-venv/installed: pyproject.toml $(shell find streamlin connectors -name '*.py')
	test -x bench/peers-venv/bin/python || $(PYTHON) -m venv bench/peers-venv
	bench/peers-venv/bin/python -m pip install --quiet --disable-pip-version-check '.[bench]'
	bench/peers-venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps .
	@touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/installed .venv/installed-test .venv/installed-docs
