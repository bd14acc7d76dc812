"""The hooks of the extension on Spark 4, over Parquet files named as Hudi's (`make test-extension`).

No bundle of Hudi for Scala 2.13 was at hand: this shows nothing about Hudi on Spark 4.
"""

from __future__ import annotations

import pytest

from tests.handler.spark.extension.exact_conditions import CONDITIONS, NOT_SENT
from tests.handler.spark.extension.programs import Outcomes, told_by

pytestmark = pytest.mark.extension

#: Query -> the files that it reads of 4, or of 8, and how often the sidecar is asked.
QUERIES = {
    "a range": (1, 1),
    "count": (1, 1),
    "a field of a struct": (1, 1),
    "names in other letters": (1, 1),
    "a view": (1, 1),
    "a join with itself": (2, 1),
    "no filter": (4, 0),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return told_by("hooks", "4", tmp_path_factory.mktemp("hooks") / "work", seconds=600)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_reads_the_same_rows_from_few_files(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes[name]
    assert outcome["equal"], outcome
    files, asked = QUERIES[name]
    assert (outcome["files"], outcome["asked"]) == (files, asked)
    assert all(("Sargo: 1 of 4 file slices" in node) == (asked > 0) for node in outcome["nodes"]), outcome


def test_subqueries_that_spark_merges_keep_their_rows(outcomes: Outcomes) -> None:
    assert outcomes["merged subqueries"]["equal"], outcomes["merged subqueries"]


@pytest.mark.parametrize("scanned", [0, 1])
@pytest.mark.parametrize("condition", ["true", "i >= 0"])
def test_footers_answer_aggregates(outcomes: Outcomes, condition: str, scanned: int) -> None:
    outcome = outcomes[f"aggregates of {condition}, {scanned} files scanned"]
    assert outcome["equal"], outcome
    assert (outcome["files"], outcome["files_without"]) == (scanned, 4)
    assert len(outcome["nodes"]) == scanned
    assert all("Sargo: 1 of 4 file slices, 3 by footers" in node for node in outcome["nodes"])


def test_a_sum_that_overflows_does_so_as_in_spark(outcomes: Outcomes) -> None:
    """NULL, which is no sum of the files that are read alone; with ANSI arithmetic an error."""
    assert outcomes["a sum that overflows, ANSI false"]["rows"] == [[None]]
    assert "OUT_OF_RANGE" in outcomes["a sum that overflows, ANSI true"]["error"]


def test_the_extension_works_from_when_it_is_applied(outcomes: Outcomes) -> None:
    assert outcomes["before the extension is applied"]["asked"] == 0


def test_a_sidecar_that_is_down_leaves_the_scan_as_it_is(outcomes: Outcomes) -> None:
    outcome = outcomes["a sidecar down"]
    assert outcome["equal"]
    assert outcome["files"] == outcome["files_without"] == 4
    assert "Sargo: nothing skipped (sidecar down)" in outcome["nodes"][0]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_read_as_it_is(outcomes: Outcomes, condition: str) -> None:
    assert CONDITIONS[condition] in outcomes["conditions"][condition]


@pytest.mark.parametrize("condition", NOT_SENT)
def test_a_condition_that_has_no_exact_form_is_not_sent(outcomes: Outcomes, condition: str) -> None:
    assert "DATE" not in outcomes["conditions"][condition]
