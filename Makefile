# Every target depends on `install`, which makes .venv once from the lock file.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.bench-installed
HIVE_STAMP := $(VENV)/.hive-installed
DOCS_STAMP := $(VENV)/.docs-installed
TPCH_STAMP := $(VENV)/.tpch-installed
SPARK35 := $(VENV)/spark35
CONNECT := $(VENV)/connect
STAGE ?=
HIVE ?= hive401
MAVEN := mvn -B -ntp -f handler/java/pom.xml
PART ?=
SECONDS ?= 60
SEED ?= 1
TORTURE ?=
SF ?= 1

.PHONY: help install demo test test-all test-spark test-spark35 test-connect test-hive hive-up tables conformance jar test-java format-java prove torture fuzz lint format bench tpch docs lock clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

install: $(STAMP) ## Make the virtual environment .venv

$(STAMP): pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --requirement requirements.lock
	$(BIN)/pip install --quiet --no-deps --editable .
	touch $@

demo: install ## Skip files of a real Hudi table with real Hive filters, and prove that no row is lost
	$(BIN)/sargo demo

test: install ## Run every test but those that start Hive and the long ones on Spark
	$(BIN)/python -m pytest -m "not hive and not spark_full" -n auto --maxprocesses 4 --dist loadfile

test-all: install ## Run make test with all cases instead of a share, and other examples of the property tests
	SARGO_TESTS=all $(MAKE) test

test-spark: install ## Run every test on Spark
	$(BIN)/python -m pytest -m spark

test-spark35: $(SPARK35)/.installed ## Run every test on Spark with Spark 3.5
	$(SPARK35)/bin/python -m pytest -m spark

test-connect: $(CONNECT)/.installed ## Run the tests of Spark Connect on a real session of it
	$(CONNECT)/bin/python -m pytest tests/handler/spark/connect_session.py

test-hive: $(HIVE_STAMP) jar ## Run the query matrix and the faults on real Hive 4.0.1 and 3.1.3 (PART=quick: what CI runs)
	$(BIN)/python -m tests.hive $(PART)

hive-up: $(HIVE_STAMP) jar ## Start a HiveServer2 with Hudi tables that skips files, until Ctrl-C (HIVE=hive313 for 3.1.3)
	$(BIN)/python -m tests.hive.playground $(HIVE)

tables: install $(SPARK35)/.installed ## Write the tables of the conformance suite anew with real Hudi 0.15.0, 1.0.2 and 1.2.0
	$(BIN)/python -m tests.tables.generate

conformance: $(HIVE_STAMP) jar $(SPARK35)/.installed ## Spark, Hive and Hudi on every predicate of the suite, and what each keeps (STAGE=report ...)
	$(BIN)/python -m tests.conformance $(STAGE)

$(SPARK35)/.installed: $(STAMP) # Spark 3.5, for which all these releases of Hudi have bundles
	$(PYTHON) -m venv $(SPARK35)
	$(SPARK35)/bin/pip install --quiet --requirement requirements.lock
	$(SPARK35)/bin/pip install --quiet --no-deps --editable .
	$(SPARK35)/bin/pip install --quiet 'pyspark==3.5.5' setuptools
	touch $@

$(CONNECT)/.installed: $(STAMP) # what a client of Spark Connect needs beside
	$(PYTHON) -m venv $(CONNECT)
	$(CONNECT)/bin/pip install --quiet --requirement requirements.lock
	$(CONNECT)/bin/pip install --quiet --no-deps --editable .
	$(CONNECT)/bin/pip install --quiet 'pyspark[connect]>=4.1,<4.2'
	touch $@

jar: ## Build the jar for Hive: handler/java/target/sargo-hive.jar (needs a JDK and Maven)
	$(MAVEN) -q -Dmaven.test.skip package

test-java: ## Test the jar for Hive, check the format of its code, and build it without a warning
	$(MAVEN) verify

format-java: ## Format the Java code with google-java-format
	$(MAVEN) -q fmt:format

$(HIVE_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[hive]'
	touch $@

prove: install ## Hold 10 million random cases against the row-by-row oracle, then let every mutant of the rules die
	nice $(BIN)/python -m tests.prove --cases 10000000 --processes 2 --keep
	nice $(BIN)/python -m tests.prove.mutate

fuzz: install ## Hostile filters, SQL, tables, frames and killed writers, SECONDS each (SECONDS=3600 SEED=7; CI: 60)
	nice $(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED)

torture: install ## Damage every byte of the metadata of six real tables: no file may get lost (hours; TORTURE="--sample 2000")
	nice $(BIN)/python -m tests.torture --processes 2 $(TORTURE)

lint: install ## ruff (rules and format), mypy strict, layers and circles of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install ## Format the code, and let ruff mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BENCH_STAMP) ## Time the hot paths, beside other engines, and print ratios
	$(BIN)/python -m tests.bench

$(BENCH_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[bench]'
	touch $@

tpch: $(TPCH_STAMP) $(SPARK35)/.installed ## The scans of TPC-H on tables of real Hudi: what Sargo, Hudi and exact bounds keep (SF=1)
	$(BIN)/python -m tests.tpch --scale $(SF) --save

$(TPCH_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[tpch]'
	touch $@

docs: $(DOCS_STAMP) ## Build the documentation: build/docs/index.html (a broken link fails)
	SARGO_CACHE=off $(BIN)/python -m sphinx -W --keep-going -q -E -a -b html docs build/docs

$(DOCS_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

lock: install ## Write requirements.lock anew from pyproject.toml (for every Python >= 3.10)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.10 --extra dev --no-header --no-annotate --quiet pyproject.toml --output-file requirements.lock

clean: ## Remove what the build made
	rm -rf $(VENV) build dist *.egg-info
