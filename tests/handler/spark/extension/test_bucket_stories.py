"""Joins and groups by the key of tables with buckets, on real Spark 3.5 with real Hudi: `make test-extension`."""

from __future__ import annotations

import pytest

from tests.handler.spark.extension.bucket_queries import QUERIES, REFUSED
from tests.handler.spark.extension.programs import QUICK, Outcomes, told_by
from tests.tables.releases import RELEASES

pytestmark = [pytest.mark.extension, pytest.mark.timeout(1800)]

TESTED = ["1.2.0"] if QUICK else ["1.2.0", "1.0.2"]


@pytest.fixture(scope="module", params=TESTED)
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The outcomes of all stories with one release of Hudi."""
    release = RELEASES[request.param]
    release.fetch()
    return told_by("bucket_stories", "3.5", tmp_path_factory.mktemp("stories"), release.hudi, seconds=1700)


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


@pytest.mark.parametrize("size", ["few", "very many"])
def test_the_keys_of_a_join_lose_no_row_of_a_scan_by_buckets(outcomes: Outcomes, size: str) -> None:
    outcome = outcomes[f"{size} keys of a join"]
    assert outcome["equal"], outcome
    assert outcome["rows"] == 200
    assert outcome["aqe true"] == outcome["aqe false"] == [1, 1]


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
