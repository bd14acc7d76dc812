"""Joins by buckets on Spark 4, over Parquet files named as Hudi's (`make test-extension`).

No bundle of Hudi for Scala 2.13 was at hand: this shows nothing about Hudi on Spark 4.
"""

from __future__ import annotations

import pytest

from tests.handler.spark.extension.bucket_hooks import QUERIES
from tests.handler.spark.extension.programs import Outcomes, told_by

pytestmark = pytest.mark.extension


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return told_by("bucket_hooks", "4", tmp_path_factory.mktemp("hooks") / "work", seconds=600)


@pytest.mark.parametrize("name", QUERIES)
def test_rows_and_exchanges_are_as_expected(outcomes: Outcomes, name: str) -> None:
    (exchanges, scans), _ = QUERIES[name]
    outcome = outcomes[name]
    assert outcome["equal"], outcome
    assert outcome["aqe true"] == outcome["aqe false"] == [exchanges, scans]


def test_a_row_in_another_bucket_fails_the_query(outcomes: Outcomes) -> None:
    assert "that belongs to bucket" in outcomes["misplaced"]["error"]
