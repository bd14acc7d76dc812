"""C1: the tables of AND, OR and NOT are exactly the images of Kleene's logic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evaluator.language import outcome

VALUES = (True, False, None)
SETS = range(1, 8)


def members(of: int) -> list[bool | None]:
    return [v for v in VALUES if of & outcome.of_value(v)]


def union(values: list[bool | None]) -> int:
    result = 0
    for value in values:
        result |= outcome.of_value(value)
    return result


def kleene_and(a: bool | None, b: bool | None) -> bool | None:
    return False if False in (a, b) else None if None in (a, b) else True


def kleene_or(a: bool | None, b: bool | None) -> bool | None:
    return True if True in (a, b) else None if None in (a, b) else False


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SETS, SETS)))
def test_and_and_or_of_two_sets_are_the_kleene_images(a: int, b: int) -> None:
    pairs = list(itertools.product(members(a), members(b)))
    one, two = np.array([a], np.uint8), np.array([b], np.uint8)
    assert outcome.conjoin([one, two], 1).tolist() == [union([kleene_and(x, y) for x, y in pairs])]
    assert outcome.disjoin([one, two], 1).tolist() == [union([kleene_or(x, y) for x, y in pairs])]


def test_the_tables_for_one_slice_hold_the_same_answers() -> None:
    every = np.arange(64, dtype=np.uint8)
    assert tuple(outcome.conjoin([every >> 3, every & 7], 64).tolist()) == outcome.AND_TABLE
    assert tuple(outcome.disjoin([every >> 3, every & 7], 64).tolist()) == outcome.OR_TABLE
    assert tuple(outcome.negate(every[:8]).tolist()) == outcome.NOT_TABLE
    assert outcome.EMPTY == 0


def test_an_integer_holds_an_outcome_in_every_byte() -> None:
    ones = int.from_bytes(b"\1" * 64, "little")
    a = int.from_bytes(bytes(pair >> 3 for pair in range(64)), "little")
    b = int.from_bytes(bytes(pair & 7 for pair in range(64)), "little")
    assert tuple(outcome.and_of(a, b, ones).to_bytes(64, "little")) == outcome.AND_TABLE
    assert tuple(outcome.not_of(b, ones).to_bytes(64, "little")) == outcome.NOT_TABLE * 8


@pytest.mark.parametrize("a", SETS)
def test_not_swaps_true_and_false_and_keeps_null(a: int) -> None:
    expected = union([None if v is None else not v for v in members(a)])
    assert outcome.negate(np.array([a], np.uint8)).tolist() == [expected]


def test_unknown_survives_and_or_and_not() -> None:
    unknown = np.array([outcome.UNKNOWN], np.uint8)
    true, false = np.array([outcome.TRUE], np.uint8), np.array([outcome.FALSE], np.uint8)
    assert outcome.negate(unknown).tolist() == [outcome.UNKNOWN]
    assert outcome.conjoin([unknown, true], 1).tolist() == [outcome.UNKNOWN]
    assert outcome.disjoin([unknown, false], 1).tolist() == [outcome.UNKNOWN]


def test_no_children_at_all_are_true_for_and_and_false_for_or() -> None:
    assert outcome.conjoin([], 2).tolist() == [outcome.TRUE] * 2
    assert outcome.disjoin([], 2).tolist() == [outcome.FALSE] * 2


@pytest.mark.parametrize(("of", "text"), [(1, "{true}"), (6, "{false, null}"), (7, "{true, false, null}"), (0, "{}")])
def test_an_outcome_is_described_as_a_set(of: int, text: str) -> None:
    assert outcome.describe(of) == text


def test_unknown_is_the_set_of_all_three_values() -> None:
    assert outcome.UNKNOWN == union([True, False, None]) == outcome.TRUE + outcome.FALSE + outcome.NULL
