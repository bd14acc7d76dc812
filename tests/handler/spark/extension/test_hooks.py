"""The hooks of the extension on Spark 4.1, over Parquet files named as Hudi's (`make test-extension`).

No bundle of Hudi for Scala 2.13 was at hand: this shows nothing about Hudi on Spark 4.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

from handler.shipped.artefacts import MissingError, spark_jar
from tests.handler.spark.extension.exact_conditions import CONDITIONS, NOT_SENT
from tests.tables.releases import ROOT

pytestmark = pytest.mark.extension

#: Query -> the files that it reads of 4, or of 8, and how often the sidecar is asked.
QUERIES = {
    "a range": (1, 1),
    "count": (1, 1),
    "a view": (1, 1),
    "a join with itself": (2, 1),
    "no filter": (4, 0),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    if not pyspark.__version__.startswith("4.1.") or shutil.which("javac") is None:
        pytest.skip("needs Spark 4.1 and a JDK")
    try:
        spark_jar("4.1")
    except MissingError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("hooks")
    program = [sys.executable, "-m", "tests.handler.spark.extension.hooks", str(folder / "work")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, dict[str, Any]] = json.loads(Path(folder / "work" / "outcomes.json").read_text("utf-8"))
    return told


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_reads_the_same_rows_from_few_files(outcomes: dict[str, dict[str, Any]], name: str) -> None:
    outcome = outcomes[name]
    assert outcome["equal"], outcome
    assert (outcome["files"], outcome["asked"]) == QUERIES[name]


def test_subqueries_that_spark_merges_keep_their_rows(outcomes: dict[str, dict[str, Any]]) -> None:
    assert outcomes["merged subqueries"]["equal"], outcomes["merged subqueries"]


def test_the_extension_works_from_when_it_is_applied(outcomes: dict[str, dict[str, Any]]) -> None:
    assert outcomes["before the extension is applied"]["asked"] == 0


def test_a_sidecar_that_is_down_leaves_the_scan_as_it_is(outcomes: dict[str, dict[str, Any]]) -> None:
    outcome = outcomes["a sidecar down"]
    assert outcome["equal"]
    assert outcome["files"] == outcome["files_without"] == 4
    assert "Sargo: nothing skipped (sidecar down)" in outcome["nodes"][0]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_read_as_it_is(outcomes: dict[str, dict[str, Any]], condition: str) -> None:
    assert CONDITIONS[condition] in outcomes["conditions"][condition]


@pytest.mark.parametrize("condition", NOT_SENT)
def test_a_condition_that_has_no_exact_form_is_not_sent(outcomes: dict[str, dict[str, Any]], condition: str) -> None:
    assert "DATE" not in outcomes["conditions"][condition]
