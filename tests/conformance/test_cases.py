"""The extent of the suite: predicates, pitfalls, Hudi's wrong results, kinds of tables."""

from __future__ import annotations

import re

from index_store.opened_table import OpenTable
from tests.conformance.cases import BY_HAND, CASES
from tests.conformance.hive_filters import stored
from tests.conformance.hive_truth import hive_rows
from tests.conformance.meanings import HIVE_3_UNREAD, OTHER_MEANINGS
from tests.conformance.stored_truth import TABLES, truth_of


def test_there_are_at_least_400_predicates() -> None:
    assert len(CASES) >= 400
    assert len({case.sql for case in CASES}) == len(CASES)


def test_every_pitfall_has_predicates() -> None:
    named = {word for about in BY_HAND for word in about.split() if re.fullmatch(r"P\d+", word)}
    assert named == {f"P{n}" for n in range(1, 21)}


def test_tables_are_of_every_version_and_type(opened: dict[str, OpenTable]) -> None:
    assert {truth_of(name).table_version for name in TABLES} == {6, 8, 9}
    for version in (6, 9):
        kinds = {name.rpartition("_")[2] for name in TABLES if truth_of(name).table_version == version}
        assert kinds == {"cow", "mor"}
    layouts = {bool(table.at().slices[0].partition) for table in opened.values()}
    assert layouts == {True, False}


def test_every_predicate_that_hive_knows_has_a_filter_or_a_reason() -> None:
    for version, filters in stored()["filters"].items():
        assert filters.keys() == {case.sql for case in CASES}, version
        assert sum("filter" in answer for answer in filters.values()) > 700


def test_the_stored_truth_is_of_these_tables_and_predicates(opened: dict[str, OpenTable]) -> None:
    texts = [case.sql for case in CASES]
    for name in TABLES:
        truth = truth_of(name)
        assert set(truth.groups) <= {file_slice.file_id for file_slice in opened[name].at().slices}
        assert [sql for sql in texts if sql in truth.predicates] == list(truth.predicates)
        assert {sql for sql in texts if sql not in truth.predicates} <= {sql for sql in texts if "tn" in sql}


def test_every_wrong_result_of_hudi_that_is_named_shows_on_some_table() -> None:
    """Hudi's own data skipping loses a row, or fails, for some predicate of each "H", as stored."""
    unseen = {about for about in BY_HAND if re.search(r"\bH", about)}
    for name in TABLES:
        truth = truth_of(name)
        for about in list(unseen):
            for sql in BY_HAND[about]:
                if sql in truth.predicates and (numbers := truth.numbers(sql, "legacy")):
                    kept = truth.kept_by_hudi(sql)
                    if truth.hudi_fails(sql) or (kept is not None and truth.groups_of(numbers) - kept):
                        unseen.discard(about)
    assert unseen == set()


def test_every_other_meaning_of_hive_is_named() -> None:
    """Every entry is needed: a predicate whose rows no longer differ must leave the list."""
    seen: set[str] = set()
    for version, answers in hive_rows().items():
        for sql, answer in answers.items():
            unread = version == "3.1.3" and "error" in answer and re.search(rf"\b({'|'.join(HIVE_3_UNREAD)})\b", sql)
            constant = "filter" not in stored()["filters"][version][sql]
            if not unread and not constant:
                seen.add(sql)
    assert sorted(seen - OTHER_MEANINGS.keys()) == []
    assert sorted(OTHER_MEANINGS.keys() - seen) == []
