# Everything a developer does here, one target each. Needs Python >= 3.10 and a Rust toolchain; the rest
# goes into .venv. A step is done again only when what it depends on has changed: see the stamps below.

PYTHON ?= python3
PY ?=
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
STUBTEST = $(BIN)/python -m mypy.stubtest rushlight._rushlight --allowlist tools/stubtest-allow.txt
export VIRTUAL_ENV := $(abspath $(VENV))
unexport CONDA_PREFIX  # maturin refuses to choose between two environments
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What PyO3's build looks at; without it, cargo and maturin would compile the bindings in turns.
export PYO3_PYTHON := $(abspath $(BIN)/python)

# The tests of the package run in several processes, a file in one of them, since its fixtures are made once,
# and in the order of tests/conftest.py.
TOGETHER := --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Directories count too: their time changes when a file in them is added or removed.
RUST_INPUTS := Cargo.toml Cargo.lock bindings/Cargo.toml $(shell find src bindings \( -name '*.rs' -o -type d \))

# Sanitizers are options of the compiler that it has not promised to keep. What waits for its next use would hide what is
# used after it was freed. Whoever looks at deques of tasks has to know that fences are not seen.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# Tests ask for memory that nobody has.
SANITIZED = RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 RUSHLIGHT_CACHE_MB=0 CARGO_TARGET_DIR=target/$(1) \
  ASAN_OPTIONS=allocator_may_return_null=1 LSAN_OPTIONS=suppressions=$(abspath tools/leaks.txt) \
  RUSTFLAGS="-Zsanitizer=$(1) --cfg crossbeam_sanitize_thread" cargo test --locked
# Names of the tests in which threads meet. The one of the example is left out: it compiles everything once more.
THREADED = -- thread parallel arena sharing storage schedule

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test build quick wheel wheels docs fmt lint stubs bench instructions survey fuzz sanitize models ci parity ecosystem \
  licenses clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build  ## Build rushlight and run the tour: autograd step by step, then a network that learns a shape
	@$(BIN)/python examples/tour.py

test: build $(STAMPS)/python-wheel $(STAMPS)/python-test  ## Run the engine's tests (cargo test), then the package's (pytest)
	cargo test --locked -p rushlight
	$(BIN)/python -m pytest $(TOGETHER)

build: $(STAMPS)/build  ## Compile the module and install the package, editable, into .venv

quick: $(STAMPS)/python-build  ## Compile what has changed, in seconds, into a module that is slower than `build`'s
	@rm -f $(STAMPS)/build  # it is no longer what is installed
	@$(BIN)/maturin develop --profile quick --locked --quiet

wheel: build $(STAMPS)/python-wheel  ## Pack what is handed out, as small as it gets, into dist/
	$(BIN)/maturin build --release --locked --quiet --out dist
	$(BIN)/python tools/repack.py dist/*.whl

wheels: build  ## Build a wheel for every interpreter that is there, and try each in a fresh environment
	$(BIN)/python tools/wheels.py

docs: build $(STAMPS)/python-docs  ## Write the documentation as a site, into site/
	$(BIN)/mkdocs build --strict

fmt: $(STAMPS)/python-lint  ## Format the Rust and the Python code
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format

lint: $(STAMPS)/python-lint build  ## Check format, lints and types, and that the stubs match the compiled module
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python tools/stubs.py --check
	$(STUBTEST)
	$(BIN)/python tools/third_party_licenses.py --check

stubs: $(STAMPS)/python-lint build  ## Write python/rushlight/_rushlight.pyi anew, and compare it with the compiled module
	$(BIN)/python tools/stubs.py
	$(STUBTEST)

bench: build $(STAMPS)/python-wheel  ## Measure (beside torch, with PY=a python that has it) and write docs/benchmarks.md
	$(BIN)/python benchmarks/run.py $(if $(PY),--reference $(PY))

instructions: build  ## Count what hot paths run, and fail if any takes 3% more than benchmarks/instructions.json says
	$(BIN)/python benchmarks/instructions.py --check

survey: build  ## Time hundreds of small programs beside torch, PY=a python that has it, and write docs/speed.md
	@test -n "$(PY)" || { echo "make survey PY=/path/to/a/python-with-torch"; exit 2; }
	$(BIN)/python benchmarks/survey.py --reference $(PY)

fuzz: build  ## Search for faults for T seconds a target (60): calls, programs, files and what else fuzz/ has
	$(BIN)/python fuzz/run.py --seconds $(or $(T),60) --seed $(or $(SEED),0)

sanitize: models  ## Run the models, and the engine's tests with AddressSanitizer and ThreadSanitizer
	$(call SANITIZED,address) --target $(HOST) -p rushlight --lib --test engine -- --skip the_example
	rustup component add rust-src
	$(call SANITIZED,thread) --target $(HOST) -Zbuild-std -p rushlight --lib --test engine $(THREADED)

models:  ## Try orders of what threads do together (tests/models): RUSHLIGHT_ORDERS of each, or 1000
	cd tests/models && cargo test --locked

ci: lint instructions test  ## What continuous integration runs: lint, instructions counted, then test

parity:  ## Run the tests of behaviour against torch itself: PY=a python that has torch, pytest and pytest-timeout
	@test -n "$(PY)" || { echo "make parity PY=/path/to/python-with-torch-and-pytest"; exit 2; }
	RUSHLIGHT_PARITY=1 $(PY) -m pytest

ecosystem: build  ## Install libraries that stand on torch, compare what they find, write docs/ecosystem.md
	$(PYTHON) -m venv --clear $(VENV)-ecosystem
	$(VENV)-ecosystem/bin/python -m pip install --quiet --no-deps . ./packages/torch-rushlight
	$(VENV)-ecosystem/bin/python -m pip install --quiet --no-deps -r tests/ecosystem/requirements.txt
	$(VENV)-ecosystem/bin/python tests/ecosystem/run.py

licenses:  ## Write THIRD-PARTY-LICENSES anew, after a change of dependencies
	$(PYTHON) tools/third_party_licenses.py

clean:  ## Remove .venv and what was built
	cargo clean
	rm -rf $(VENV) dist site examples/output
	find python -name '*.so' -delete

$(STAMPS)/venv:
	@echo "Creating $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "rushlight needs Python 3.10 or newer")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"  # the first that knows --group
	@mkdir -p $(STAMPS) && touch $@

# One stamp a dependency group of pyproject.toml.
$(STAMPS)/python-%: $(STAMPS)/venv pyproject.toml
	@echo "Installing the Python packages of the group '$*'"
	@$(BIN)/python -m pip install --quiet --group $*
	@touch $@

$(STAMPS)/build: $(STAMPS)/python-build pyproject.toml $(RUST_INPUTS)
	@echo "Building rushlight (release; a few minutes the first time)"
	@$(BIN)/maturin develop --release --locked --quiet
	@touch $@
