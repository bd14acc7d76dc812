"""A query through the extension that loses a row, or reads a file that prune skips, is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from tests.conformance.extension_session import Answer, ExtensionSession
from tests.conformance.extension_tally import Tally

SQL = "i = 100"
HALF = "1 of 2 file slices"


@dataclass
class _Without:
    """What queries give with the extension off, and without Hudi's own skipping."""

    off: Answer
    scanned: Answer

    def plain(self, *_: str) -> Answer:
        return self.off

    def whole(self, *_: str) -> Answer:
        return self.scanned


def told(answer: Answer, truth: tuple[str, ...] | None, off: Answer, scanned: Answer) -> Tally:
    tally = Tally()
    tally.rows("t", SQL, answer, truth, cast(ExtensionSession, _Without(off, scanned)), "t")
    return tally


def gives(*rows: str, says: str = "") -> Answer:
    return Answer(rows, says=says)


@pytest.mark.parametrize("rows", [("a",), (), ("a", "b", "b"), ("a", "c")])
def test_other_rows_are_wrong(rows: tuple[str, ...]) -> None:
    whole = gives("a", "b")
    assert list(told(gives(*rows, says=HALF), ("a", "b"), whole, whole).wrong) == ["t: i = 100"]


def test_the_same_rows_are_right() -> None:
    tally = told(gives("a", "b", says=HALF), ("a", "b"), gives(), gives())
    assert (tally.asked, tally.answered, tally.wrong) == (1, 1, {})


def test_rows_that_the_reader_loses_without_the_extension_too_are_counted() -> None:
    tally = told(gives("a", says=HALF), ("a", "b"), gives("a"), gives("a"))
    assert (tally.of_reader, tally.wrong) == (1, {})


def test_rows_that_hudis_own_skipping_loses_are_counted_unless_there_was_an_answer() -> None:
    whole = gives("a", "b")
    assert told(gives("a"), ("a", "b"), gives("a"), whole).of_hudi == 1
    assert told(gives("a", says=HALF), ("a", "b"), gives("a"), whole).wrong


def test_a_query_may_fail_only_if_it_fails_without_the_extension() -> None:
    fails = Answer(None, failure="ClassCastException")
    assert told(fails, ("a",), fails, gives("a")).failing == 1
    assert told(fails, ("a",), gives("a"), gives("a")).wrong
    assert told(gives("a", says=HALF), None, gives("a"), fails).uncompared == 1


@pytest.mark.parametrize(
    ("sql", "groups", "counted"),
    [
        (SQL, "ab", "equal"),
        (SQL, "a", "fewer"),
        (SQL, "abc", "wrong"),
        (SQL, "cd", "wrong"),
        ("dt < date '0001-01-02'", "abc", "unsent"),
        ("dt < date '2020-01-02'", "abc", "wrong"),
    ],
)
def test_the_files_are_those_of_prune_in_the_partitions_that_hudi_leaves(sql: str, groups: str, counted: str) -> None:
    tally = Tally()
    answer = Answer((), frozenset(groups), f"{len(groups)} of 5 file slices")
    tally.files("t", sql, answer, frozenset("abx"), 5, lambda: frozenset("abcde"))
    assert {name for name in ("equal", "fewer", "unsent", "wrong") if getattr(tally, name)} == {counted}


def test_a_scan_that_says_that_nothing_was_skipped_is_wrong() -> None:
    tally = Tally()
    tally.files("t", SQL, Answer((), frozenset("a"), "nothing skipped (failure)"), frozenset("a"), 1, frozenset)
    assert tally.wrong == {"t, no answer: i = 100": "nothing skipped (failure)"}


@pytest.mark.parametrize(
    ("says", "is_answered", "skips"),
    [
        ("", False, False),
        ("nothing skipped (sidecar down)", False, False),
        ("2 of 2 file slices", True, False),
        ("2 of 2 file slices, 0 of 10 file slices", True, True),
    ],
)
def test_what_a_scan_says(says: str, is_answered: bool, skips: bool) -> None:
    answer = Answer((), says=says)
    assert (answer.is_answered, answer.skips) == (is_answered, skips)
