# Targets depend on `install`, which makes .venv once from the lock file. `demo` needs a small part of it.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo-installed
BENCH_STAMP := $(VENV)/.bench-installed
HIVE_STAMP := $(VENV)/.hive-installed
DOCS_STAMP := $(VENV)/.docs-installed
TPCH_STAMP := $(VENV)/.tpch-installed
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.10 --no-header --no-annotate --quiet
export RELEASE35 ?= 3.5.5
export SPARK35 := $(VENV)/$(if $(filter 3.5.5,$(RELEASE35)),spark35,spark-$(RELEASE35))
RELEASE ?= 4.3.0
SPARK4 := $(VENV)/spark-$(RELEASE)
CONNECT := $(VENV)/connect
OLDEST := $(VENV)/oldest
# The extras that use a library of their own; those of tests and documents are as in the lock file.
PRODUCT := codecs stores hdfs polars duckdb pandas merge sidecar html
STAGE ?=
HIVE ?= hive401
# Builds and tests last a minute: the JVM's second compiler would cost more than it saves.
export MAVEN_OPTS ?= -XX:+UseSerialGC -XX:TieredStopAtLevel=1
# Tests start hundreds of processes; what they import is compiled once, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=
MAVEN := mvn -B -ntp -f handler/java/pom.xml
MAVEN_SPARK := mvn -B -ntp -f handler/java/spark/pom.xml
# What the jars are made of; a jar that is newer is not built again.
JAVA := handler/sargo.thrift $(shell find handler/java -name target -prune -o -type f -print)
HIVE_JAR := handler/java/target/sargo-hive.jar
SPARK_JARS := handler/java/spark/target/3.5/sargo-spark-3.5_2.12.jar handler/java/spark/target/4/sargo-spark-4_2.13.jar
HOOKS := $(addprefix tests/handler/spark/extension/test_,hooks.py bucket_hooks.py dynamic_hooks.py)
PART ?=
ARGS ?=
# One process more than cores, for tests wait for Spark; at most four, which take 8 GB.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(min(4, (os.cpu_count() or 1) + 1))")
# `make test-all` sets SARGO_TESTS.
DAILY := "not cluster and not extension and not hive and not spark_full and not pages$(if $(filter all,$(SARGO_TESTS)),, and not nightly)"
AGAIN ?=
SECONDS ?= 60
BASE ?= HEAD~1
LIMIT ?= 1.3
FILES ?= 1000000
SEED ?= 1
TORTURE ?=
TABLES ?=
SF ?= 1

.PHONY: help install demo test test-all test-oldest test-spark test-spark4 test-spark35 test-connect test-extension test-hooks test-hive test-cluster hive-up tables conformance jar jar-hive jar-spark test-java test-emulators test-browser format-java prove torture torture-tables spark-sql fuzz lint thrift format bench bench-compare bench-curves flame-graphs tpch tpcds docs lock dist image release-notes clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

install: $(STAMP) ## Make the virtual environment .venv

$(DEMO_STAMP): pyproject.toml requirements-demo.lock handler/version.py
	$(PYTHON) -m venv $(VENV)
	@echo "Installing what Sargo itself needs: $$(grep -c == requirements-demo.lock) lines of requirements-demo.lock, some 90 MB"
	$(BIN)/pip install --disable-pip-version-check --requirement requirements-demo.lock
	@echo "Installing Sargo from this folder"
	@$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --editable .
	@touch $@

$(STAMP): $(DEMO_STAMP) requirements.lock
	@echo "Installing what the tests need: requirements.lock, some 1.5 GB; 'make demo' does without"
	$(BIN)/pip install --disable-pip-version-check --requirement requirements.lock
	@touch $@

demo: $(DEMO_STAMP) ## Skip files of a real Hudi table with real Hive filters, and prove that no row is lost
	$(BIN)/sargo demo

test: install ## Run every test but those that start Hive and the long ones on Spark
	$(BIN)/python -m pytest -m $(DAILY) -n $(WORKERS) --dist loadfile || { test $$? = 1 && test -n "$(AGAIN)" \
	  && echo "What failed runs once more, alone. A test that passes now depends on time or load: mend it." \
	  && $(BIN)/python -m pytest -m $(DAILY) --last-failed --last-failed-no-failures none; }

test-all: install ## Run make test with all cases instead of a share, and other examples of the property tests
	SARGO_TESTS=all $(MAKE) test

$(OLDEST)/.installed: $(STAMP) # the oldest libraries that pyproject.toml allows, beside the tools of the lock file
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --requirement requirements.lock uv
	$(OLDEST)/bin/uv pip compile --quiet --python $(OLDEST)/bin/python --resolution lowest-direct $(addprefix --extra=,$(PRODUCT)) pyproject.toml --output-file $(OLDEST)/oldest.txt
	$(OLDEST)/bin/pip install --quiet --no-deps --requirement $(OLDEST)/oldest.txt --editable .
	touch $@

test-oldest: $(OLDEST)/.installed ## Run make test with the oldest libraries that pyproject.toml allows (PYTHON=python3.10: Python 3.10 to 3.12)
	$(OLDEST)/bin/python -m pytest -m $(DAILY) -n $(WORKERS) --dist loadfile

test-spark: install ## Run every test on Spark
	$(BIN)/python -m pytest -m spark

test-spark35: $(SPARK35)/.installed ## Run every test on Spark with Spark 3.5 (RELEASE35=3.5.9)
	$(SPARK35)/bin/python -m pytest -m spark

test-spark4: $(SPARK4)/.installed jar-spark ## Run every test on Spark, and the extension's plans, with another Spark 4 (RELEASE=4.2.1)
	$(SPARK4)/bin/python -m pytest -m spark
	SARGO_EXTENSION=$(PART) $(SPARK4)/bin/python -m pytest -m extension $(HOOKS)

test-extension: $(SPARK35)/.installed jar-spark ## Run queries and writes of four releases of Hudi on Spark 3.5 with the session extension (PART=quick: one, no writes; RELEASE35=3.5.9)
	SARGO_EXTENSION=$(PART) $(BIN)/python -m pytest -m extension tests/handler/spark/extension

test-hooks: install jar-spark ## Run the extension's plans on Spark 4, over Parquet files named as Hudi's (PART=quick: without most joins)
	SARGO_EXTENSION=$(PART) $(BIN)/python -m pytest -m extension $(HOOKS)

test-connect: $(CONNECT)/.installed ## Run the tests of Spark Connect on a real session of it
	$(CONNECT)/bin/python -m pytest tests/handler/spark/connect_session.py

test-hive: $(HIVE_STAMP) jar-hive ## Run the query matrix and the faults on real Hive 4.0.1 and 3.1.3 (PART=quick: what CI runs)
	$(BIN)/python -m tests.hive $(PART)

test-cluster: $(HIVE_STAMP) jar-hive ## Run queries on real HDFS and YARN: Tez in containers, the sidecar without Java, nodes killed
	$(BIN)/python -m pytest -m cluster tests/cluster $(ARGS)

hive-up: $(HIVE_STAMP) jar-hive ## Start a HiveServer2 with Hudi tables that skips files, until Ctrl-C (HIVE=hive313 for 3.1.3)
	$(BIN)/python -m tests.hive.playground $(HIVE)

tables: install $(SPARK35)/.installed ## Write the tables of the conformance suite anew with real Hudi 0.15.0, 1.0.2 and 1.2.0
	$(BIN)/python -m tests.tables.generate

conformance: $(HIVE_STAMP) jar-hive $(SPARK35)/.installed ## Spark, Hive and Hudi on every predicate of the suite, and what each keeps (STAGE=report ...)
	$(BIN)/python -m tests.conformance $(STAGE)

$(SPARK35)/.installed: $(STAMP) # Spark 3.5, for which all these releases of Hudi have bundles
	$(PYTHON) -m venv $(SPARK35)
	$(SPARK35)/bin/pip install --quiet --requirement requirements.lock
	$(SPARK35)/bin/pip install --quiet --no-deps --editable .
	$(SPARK35)/bin/pip install --quiet 'pyspark[connect]==$(RELEASE35)' setuptools
	# Its extra asks for numpy 1, without need; pyarrow needs the numpy of the lock file.
	grep '^numpy==' requirements.lock | $(SPARK35)/bin/pip install --quiet --no-deps --requirement /dev/stdin
	$(MAVEN) -q dependency:get -Dtransitive=false -Dartifact=org.apache.spark:spark-connect_2.12:$(RELEASE35) \
	  || { test '$(RELEASE35)' != 3.5.5 && echo 'Maven finds no server of Spark Connect $(RELEASE35): its test will be skipped'; }
	touch $@

$(SPARK4)/.installed: $(STAMP) # Spark 4 of another line than the lock file's
	$(PYTHON) -m venv $(SPARK4)
	$(SPARK4)/bin/pip install --quiet --requirement requirements.lock
	$(SPARK4)/bin/pip install --quiet --no-deps --editable .
	$(SPARK4)/bin/pip install --quiet 'pyspark==$(RELEASE)'
	touch $@

$(CONNECT)/.installed: $(STAMP) # what a client of Spark Connect needs beside
	$(PYTHON) -m venv $(CONNECT)
	$(CONNECT)/bin/pip install --quiet --requirement requirements.lock
	$(CONNECT)/bin/pip install --quiet --no-deps --editable .
	$(CONNECT)/bin/pip install --quiet 'pyspark[connect]>=4.1,<4.2'
	touch $@

jar-hive: $(HIVE_JAR) ## Build the jar for Hive alone: handler/java/target/sargo-hive.jar

jar: jar-hive jar-spark ## Build the jars for Hive, Spark 3.5 and Spark 4 (needs a JDK and Maven)

jar-spark: $(SPARK_JARS)

$(HIVE_JAR): $(JAVA)
	$(MAVEN) -q -Dmaven.test.skip package
	@touch $@

handler/java/spark/target/3.5/%.jar: $(JAVA)
	$(MAVEN_SPARK) -q -Dmaven.test.skip package
	@touch $@

handler/java/spark/target/4/%.jar: $(JAVA)
	$(MAVEN_SPARK) -q -P spark4 -Dmaven.test.skip package
	@touch $@

test-emulators: install ## Run the tests on Azurite and fake-gcs-server, which must be on the PATH
	$(BIN)/python -m pytest tests/handler/object_stores/test_other_stores.py -rs

test-browser: install ## Open the HTML pages in Chromium: search, sort, keyboard, dark mode, phone, accessibility
	$(BIN)/pip install --quiet --editable '.[browser]'
	@test -n "$$CHROMIUM" || which chromium || which chromium-browser || which google-chrome \
	  || { test "$$(id -u)" = 0 && which apt-get && apt-get update -qq \
	       && apt-get install -y -qq --no-install-recommends chromium; } \
	  || { echo "No Chromium: apt-get install chromium as root, or CHROMIUM=/path/to/chrome make test-browser"; exit 1; }
	$(BIN)/python -m pytest -m browser -rs

test-java: ## Test the jars, check the format of their code, and build them without a warning
	$(MAVEN) verify
	$(MAVEN_SPARK) verify
	$(MAVEN_SPARK) -P spark4 verify

format-java: ## Format the Java code with google-java-format
	$(MAVEN) -q fmt:format

$(HIVE_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[hive]'
	touch $@

prove: install ## Hold 10 million random cases against the row-by-row oracle, then let every mutant of the rules die
	nice $(BIN)/python -m tests.prove --cases 10000000 --processes 2 --keep
	nice $(BIN)/python -m tests.prove.mutate

torture-tables: install $(SPARK35)/.installed ## Ten random tables written by real Hudi, random conditions on each: no file with a matching row is skipped (TABLES="--tables 3 --seed 7"; --extension, --meanwhile: queries through the extension of Spark; --lives: tables that are upgraded, restored, reindexed)
	$(BIN)/python -m tests.random_tables --columns $(TABLES)

spark-sql: install jar-spark $(SPARK35)/.installed ## The SQL that Spark tests itself with, over tables of Hudi: the same rows with the extension as without (hours; SQL="--files subquery/ --ways aqe,shuffled")
	TZ=UTC $(SPARK35)/bin/python -m tests.spark_sql $(SQL)

fuzz: install ## Hostile filters, SQL, tables, frames and killed writers, SECONDS each (SECONDS=3600 SEED=7; CI: 10)
	nice $(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED)

torture: install ## Every fault of a store, every race of index writers, every damaged byte of six tables: nothing may get lost (hours; TORTURE="--sample 2000")
	SARGO_TESTS=all nice $(BIN)/python -m pytest -q -n 2 tests/handler/object_stores/test_faults*.py tests/index_store/own/*/test_races.py
	nice $(BIN)/python -m tests.torture --processes 2 $(TORTURE)

lint: install ## ruff (rules and format), mypy strict, layers and circles of imports, the code from sargo.thrift
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.handler.sidecar.thrift_code --check

thrift: install ## Write the code from handler/sargo.thrift anew (needs Debian's thrift-compiler)
	$(BIN)/python -m tests.handler.sidecar.thrift_code

format: install ## Format the code, and let ruff mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BENCH_STAMP) ## Time the hot paths, beside other engines, and print ratios
	$(BIN)/python -m tests.bench

bench-compare: install ## The hot paths of this checkout beside those of BASE, in turns: ratios with spread; fails beyond LIMIT (BASE=main SECONDS=300)
	$(BIN)/python -m tests.bench.compare --base $(BASE) --seconds $(SECONDS) --limit $(LIMIT)

bench-curves: $(BENCH_STAMP) ## How cost grows from 100 files to millions, beside other engines: writes docs/internals/growth.md (FILES=10000000)
	$(BIN)/python -m tests.bench.curves --most $(FILES)

flame-graphs: $(BENCH_STAMP) ## Where the hot paths spend their time, in BASE and now: writes docs/performance
	$(BIN)/python -m tests.bench.flames --base $(BASE)

$(BENCH_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[bench]'
	touch $@

tpch: $(TPCH_STAMP) $(SPARK35)/.installed ## The scans of TPC-H on tables of real Hudi: what Sargo, Hudi and exact bounds keep (SF=1)
	$(BIN)/python -m tests.tpch --scale $(SF) --save

tpcds: $(TPCH_STAMP) $(SPARK35)/.installed ## The same for TPC-DS
	$(BIN)/python -m tests.tpcds --scale $(SF) --save

$(TPCH_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[tpch]'
	touch $@

docs: $(DOCS_STAMP) ## Build the documentation: build/docs/index.html (a broken link fails), and run the examples of its pages
	SARGO_CACHE=off $(BIN)/python -m sphinx -W --keep-going -q -E -a -b html docs build/docs
	$(BIN)/python -m pytest tests/docs tests/examples -m pages -n $(WORKERS)

$(DOCS_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

lock: install ## Write requirements.lock and requirements-demo.lock anew from pyproject.toml (for every Python >= 3.10)
	$(BIN)/pip install --quiet uv
	$(COMPILE) --extra dev pyproject.toml --output-file requirements.lock
	$(COMPILE) --constraint requirements.lock pyproject.toml --output-file requirements-demo.lock

dist: install ## Build the wheel (with the jars) and the sdist twice, try them in clean environments, report: dist/ (ARGS=--quick)
	nice $(BIN)/python -m tests.release $(ARGS)

image: install ## Build the sidecar's container from Debian's packages, without a registry, and try it (mmdebstrap, buildah)
	$(BIN)/python -m tests.release.image

release-notes: install ## Print the notes of this version, from CHANGELOG.md
	@$(BIN)/python -m tests.release.release_notes

clean: ## Remove what the build made
	rm -rf $(VENV) build dist *.egg-info
