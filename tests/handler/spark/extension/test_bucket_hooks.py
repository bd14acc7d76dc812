"""Joins by buckets on Spark 4.1, over Parquet files named as Hudi's (`make test-extension`).

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
from tests.handler.spark.extension.bucket_hooks import QUERIES
from tests.tables.releases import ROOT

pytestmark = pytest.mark.extension


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    if not pyspark.__version__.startswith("4.1.") or shutil.which("javac") is None:
        pytest.skip("needs Spark 4.1 and a JDK")
    try:
        spark_jar("4.1")
    except MissingError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("hooks")
    program = [sys.executable, "-m", "tests.handler.spark.extension.bucket_hooks", str(folder / "work")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, dict[str, Any]] = json.loads(Path(folder / "work" / "outcomes.json").read_text("utf-8"))
    return told


@pytest.mark.parametrize("name", QUERIES)
def test_rows_and_exchanges_are_as_expected(outcomes: dict[str, dict[str, Any]], name: str) -> None:
    (exchanges, scans), _ = QUERIES[name]
    outcome = outcomes[name]
    assert outcome["equal"], outcome
    assert outcome["aqe true"] == outcome["aqe false"] == [exchanges, scans]


def test_a_row_in_another_bucket_fails_the_query(outcomes: dict[str, dict[str, Any]]) -> None:
    assert "that belongs to bucket" in outcomes["misplaced"]["error"]
