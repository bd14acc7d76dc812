"""Joins and groups by the key of tables with buckets, on real Spark 3.5 with real Hudi: `make test-extension`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handler.shipped.artefacts import MissingError, spark_jar
from tests.handler.spark.extension.bucket_queries import QUERIES, REFUSED
from tests.tables.releases import PYTHON, RELEASES, ROOT

pytestmark = [pytest.mark.extension, pytest.mark.timeout(1800)]

Outcomes = dict[str, dict[str, Any]]
TESTED = ["1.2.0"] if os.environ.get("SARGO_EXTENSION") == "quick" else ["1.2.0", "1.0.2"]


@pytest.fixture(scope="module", params=TESTED)
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The outcomes of all stories with one release of Hudi."""
    if not PYTHON.exists():
        pytest.skip("there is no Spark 3.5: make .venv/spark35/.installed")
    try:
        spark_jar("3.5")
    except MissingError as error:
        pytest.skip(str(error))
    release = RELEASES[request.param]
    release.fetch()
    folder = tmp_path_factory.mktemp("stories")
    program = [PYTHON, "-m", "tests.handler.spark.extension.bucket_stories", folder, release.hudi]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1700, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told: Outcomes = json.loads((Path(folder) / "outcomes.json").read_text("utf-8"))
    return told


@pytest.mark.parametrize("name", [*QUERIES, *REFUSED])
def test_rows_and_exchanges_are_as_expected_with_adaptive_execution_and_without(outcomes: Outcomes, name: str) -> None:
    (exchanges, scans), _ = {**QUERIES, **REFUSED}[name]
    outcome = outcomes[name]
    assert outcome["equal"], outcome
    assert outcome["rows"]
    assert outcome["aqe true"] == outcome["aqe false"] == [exchanges, scans]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a table of the catalog", [0, 2]),
        ("settings of the session", [0, 2]),
        ("time travel", [1, 0]),
    ],
)
def test_options_of_the_catalog_and_of_the_session_count(outcomes: Outcomes, name: str, expected: list[int]) -> None:
    assert outcomes[name]["equal"], outcomes[name]
    assert outcomes[name]["aqe true"] == outcomes[name]["aqe false"] == expected


def test_a_cached_table_has_the_same_rows(outcomes: Outcomes) -> None:
    assert outcomes["a cached table"]["equal"], outcomes["a cached table"]


def test_random_queries_have_the_same_rows(outcomes: Outcomes) -> None:
    outcome = outcomes["random queries"]
    assert outcome["equal"], outcome
    assert outcome["scans"] > 100


def test_by_default_a_join_has_no_exchange(outcomes: Outcomes) -> None:
    assert outcomes["auto joins"]["equal"]
    assert outcomes["auto joins"]["aqe true"] == [0, 2]


def test_by_default_a_broadcast_stays_one(outcomes: Outcomes) -> None:
    assert outcomes["auto leaves a broadcast"]["equal"]
    assert outcomes["auto leaves a broadcast"]["aqe true"] == [1, 0]


def test_the_plan_names_the_buckets_and_counts_rows(outcomes: Outcomes) -> None:
    seen = outcomes["explained"]
    assert "8 buckets of id" in seen["explained"]
    assert "Location: NarrowedIndex" in seen["explained"]
    assert "Exchange" not in seen["explained"]
    assert "(unknown)" not in seen["explained"]
    assert (seen["rows_counted"], seen["tasks"]) == (200, 8)


def test_a_row_in_another_bucket_than_its_keys_fails_the_query(outcomes: Outcomes) -> None:
    seen = outcomes["swapped"]
    assert seen["equal"]
    assert "that belongs to bucket" in seen["error"]
    assert "SET spark.sargo.buckets=false" in seen["error"]
