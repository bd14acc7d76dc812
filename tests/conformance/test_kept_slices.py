"""Every predicate on every table: no slice with a match is skipped, by Spark's text or by real Hive's filter.

And both keep the same slices wherever the engines give the predicate the same meaning.

The truth of the rows is Spark's own, from a full scan (``row_truth``). Where Hive gives a predicate another meaning, it
is Hive's own (``hive_truth``). Both are stored.
"""

from __future__ import annotations

import pytest

from tests.conformance.hive_truth import hive_keys
from tests.conformance.meanings import NOT_ALIKE, other_meaning
from tests.conformance.paths import HIVES, Kept
from tests.conformance.stored_truth import MODES, TABLES, truth_of
from tests.sampling import share


@pytest.mark.parametrize(("name", "mode"), share([(name, mode) for name in TABLES for mode in MODES], 20))
def test_the_text_skips_no_slice_with_a_match(kept: Kept, name: str, mode: str) -> None:
    truth = truth_of(name)
    lost = {
        sql: missing
        for sql in truth.predicates
        if (missing := truth.groups_of(truth.numbers(sql, mode) or ()) - kept.text(name, sql))
    }
    assert lost == {}


@pytest.mark.parametrize(("name", "version"), share([(name, version) for name in TABLES for version in HIVES], 20))
def test_the_filter_of_hive_skips_no_slice_with_a_match(kept: Kept, name: str, version: str) -> None:
    truth = truth_of(name)
    lost = {}
    for sql in truth.predicates:
        by_hive, keys = kept.hive(name, sql, version), hive_keys(truth, sql, version)
        if by_hive is not None and keys is not None:
            missing = {truth.group_of_key(key) for key in keys} - by_hive
            if missing:
                lost[sql] = missing
    assert lost == {}


@pytest.fixture(scope="module")
def unlike(kept: Kept) -> dict[str, dict[str, str]]:
    """SQL -> table -> how many slices the text alone and Hive 4's filter alone keep, where both mean the same.

    By day of one in five tables.
    """
    unlike: dict[str, dict[str, str]] = {}
    for name in share(TABLES, 5):
        for sql in truth_of(name).predicates:
            by_hive, by_text = kept.hive(name, sql, "4.0.1"), kept.text(name, sql)
            if by_hive is not None and by_hive != by_text and not other_meaning(sql, "4.0.1"):
                unlike.setdefault(sql, {})[name] = f"text {len(by_text - by_hive)}, Hive {len(by_hive - by_text)}"
    return unlike


def test_text_and_hive_keep_the_same_slices_where_they_mean_the_same(unlike: dict[str, dict[str, str]]) -> None:
    assert {sql: where for sql, where in unlike.items() if sql not in NOT_ALIKE} == {}


@pytest.mark.nightly
def test_what_is_listed_as_not_alike_still_keeps_other_slices(unlike: dict[str, dict[str, str]]) -> None:
    assert sorted(NOT_ALIKE.keys() - unlike.keys()) == [], "these keep the same now: remove them"
