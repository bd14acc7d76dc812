"""C2: every rule is exact. Over a small domain, the possible values are those that some values within the bounds give.

A bound that is not known reaches to the end of the domain. One slice and many slices are asked, and must agree.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evaluator.binding import rules
from evaluator.binding.truth_values import Possible
from evaluator.language import outcome
from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.statistics.ranges import GREATEST, LEAST, MaskedBound, Members, Range, masked_range_of, range_of

#: Known bounds are 1 to 3; 0 and 4 can be reached only by bounds that are not known.
ENDS = (None, 1, 2, 3)
DOMAIN = range(5)
FLAGS = ((False, True), (True, True), (True, False), (False, False))
OPS = {"<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge}
INTERVALS = [
    Interval(lo, hi, null, value)
    for lo, hi in itertools.product(ENDS, ENDS)
    if lo is None or hi is None or lo <= hi
    for null, value in FLAGS
]


def values_of(interval: Interval) -> list[Any]:
    """What a row may hold; None is NULL."""
    inside = (
        [x for x in DOMAIN if (interval.lo is None or x >= interval.lo) and (interval.hi is None or x <= interval.hi)]
        if interval.value
        else []
    )
    return inside + [None] * interval.null


def image(found: Iterator[bool | None]) -> int:
    result = outcome.EMPTY
    for value in found:
        result |= outcome.of_value(value)
    return result


def masked(intervals: list[Interval], filler: Any = 0, dtype: Any = np.int64) -> Range:
    """Many slices at once; ``filler`` stands under the bounds that are not known."""

    def bound(ends: list[Any]) -> MaskedBound:
        values = np.empty(len(ends), dtype)
        values[:] = [filler if end is None else end for end in ends]
        return MaskedBound(values, np.array([end is None for end in ends]))

    return Range(
        bound([i.lo for i in intervals]),
        bound([i.hi for i in intervals]),
        np.array([i.null for i in intervals]),
        np.array([i.value for i in intervals]),
    )


def with_plain_flags(a: Range) -> Range:
    """The same where one flag stands for all slices that agree."""

    def bound(of: MaskedBound) -> MaskedBound:
        first = bool(of.unknown[0])
        return MaskedBound(of.values, first if (of.unknown == first).all() else of.unknown)

    return Range(bound(a.lo), bound(a.hi), a.null, a.value)


@pytest.mark.parametrize("filler", [0, 2, 9])
@pytest.mark.parametrize("op", OPS)
def test_a_comparison_of_two_ranges_is_exact(op: str, filler: int) -> None:
    pairs = list(itertools.product(INTERVALS, INTERVALS))
    expected = [
        image(None if x is None or y is None else OPS[op](x, y) for x in values_of(a) for y in values_of(b))
        for a, b in pairs
    ]
    one = [rules.pack(rules.compare(op, range_of(a), range_of(b))) for a, b in pairs]
    many = rules.pack(rules.compare(op, masked([a for a, _ in pairs], filler), masked([b for _, b in pairs], filler)))
    wanted = [_with_flags(e, a, b) for e, (a, b) in zip(expected, pairs, strict=True)]
    assert one == wanted
    assert many.tolist() == wanted


def _with_flags(expected: int, a: Interval, b: Interval) -> int:
    """An operand without a row at all leaves what the other's flag says of NULL."""
    return (expected & ~outcome.NULL) | (outcome.NULL if a.null or b.null else 0)


@pytest.mark.parametrize("filler", [0, 2, 9])
def test_null_safe_equality_of_two_ranges_is_exact_and_never_null(filler: int) -> None:
    pairs = list(itertools.product(INTERVALS, INTERVALS))
    wanted = [image(x == y for x in values_of(a) for y in values_of(b)) for a, b in pairs]
    assert [rules.pack(rules.compare("<=>", range_of(a), range_of(b))) for a, b in pairs] == wanted
    many = rules.compare("<=>", masked([a for a, _ in pairs], filler), masked([b for _, b in pairs], filler))
    assert rules.pack(many).tolist() == wanted


@pytest.mark.parametrize("op", OPS)
def test_a_constant_for_all_slices_at_once(op: str) -> None:
    for value in DOMAIN:
        constant = Interval(value, value, null=False)
        wanted = [rules.pack(rules.compare(op, range_of(a), range_of(constant))) for a in INTERVALS]
        many = rules.compare(op, masked(INTERVALS), masked_range_of(constant, 0))
        assert rules.pack(many).tolist() == wanted
    unknown = masked_range_of(Interval(), 0)
    assert rules.pack(rules.compare(op, unknown, unknown)) == outcome.UNKNOWN


SETS = [members for size in range(4) for members in itertools.combinations(DOMAIN, size)]


@pytest.mark.parametrize("filler", [0, 2, 9])
@pytest.mark.parametrize("has_null", [False, True])
def test_membership_is_exact(has_null: bool, filler: int) -> None:
    for numbers in SETS:
        members = Members.of(list(reversed(numbers)), np.int64, has_null)
        wanted = [
            image(
                (None if has_null else False) if x not in numbers and x is not None else None if x is None else True
                for x in values_of(a)
            )
            for a in INTERVALS
        ]
        one = [rules.pack(rules.is_in(range_of(a), members)) for a in INTERVALS]
        many = rules.pack(rules.is_in(masked(INTERVALS, filler), members))
        loose = [_reaches(a, numbers) for a in INTERVALS]
        assert [actual | more for actual, more in zip(wanted, loose, strict=True)] == [
            actual | more for actual, more in zip(one, loose, strict=True)
        ]
        assert all(exact & ~actual == 0 for exact, actual in zip(wanted, one, strict=True))
        assert np.broadcast_to(many, len(INTERVALS)).tolist() == one


@pytest.mark.parametrize("sides", list(itertools.product((True, False, None), repeat=2)), ids=str)
def test_membership_is_the_same_when_one_flag_stands_for_all_slices(sides: tuple[bool | None, bool | None]) -> None:
    """``sides``: the lower and the upper bounds are all known, all unknown, or some of them."""
    chosen = [
        a
        for a in INTERVALS
        if all(side is None or (end is not None) is side for end, side in zip((a.lo, a.hi), sides, strict=True))
    ]
    for numbers in SETS:
        members = Members.of(numbers, np.int64, has_null=False)
        wanted = [rules.pack(rules.is_in(range_of(a), members)) for a in chosen]
        for filler in (0, 2, 9):
            actual = rules.pack(rules.is_in(with_plain_flags(masked(chosen, filler)), members))
            assert np.broadcast_to(actual, len(chosen)).tolist() == wanted


@pytest.mark.parametrize("text", ["a\0", b"a\0", "", b""], ids=repr)
def test_a_constant_for_all_slices_keeps_nul_at_its_end(text: str | bytes) -> None:
    constant, less = Interval(text, text, null=False), Interval(text[:1], text[:1], null=False)
    slices_of = masked([constant, less], text[:0], object)
    fewer = text[:1] < text
    expected = [TRUE, FALSE if fewer else TRUE]
    assert rules.pack(rules.compare("=", slices_of, masked_range_of(constant, text[:0]))).tolist() == expected
    assert rules.pack(rules.compare("<=", masked_range_of(constant, text[:0]), slices_of)).tolist() == expected


def _reaches(a: Interval, numbers: tuple[int, ...]) -> int:
    """A range that the members fill completely may still be taken to hold another value."""
    return (
        (outcome.FALSE | outcome.NULL) if a.value and a.lo != a.hi and set(values_of(a)) - {None} <= set(numbers) else 0
    )


def test_members_are_kept_once_and_in_order() -> None:
    members = Members.of([3, 1, 3, 2], np.int64, has_null=True)
    assert (members.values, members.array.tolist(), members.has_null) == ([1, 2, 3], [1, 2, 3], True)


TEXTS = ["", "a", "aa", "ab", "abz", "ac", "b", "ba", "c", "\U0010ffff"]


@pytest.mark.parametrize(("prefix", "successor"), [("ab", "ac"), ("a", "b"), ("\U0010ffff", None), ("c", "d")])
def test_a_prefix_is_exact(prefix: str, successor: str | None) -> None:
    ends = [None, *TEXTS]
    intervals = [
        Interval(lo, hi, null, value)
        for lo, hi in itertools.product(ends, ends)
        if lo is None or hi is None or lo <= hi
        for null, value in FLAGS
    ]
    between = [
        prefix,
        prefix + "\0",
        prefix + "zz",
        *TEXTS,
        "\0",
        "aaa",
        "abb",
        "a~",
        "b~",
        "~",
        "\U0010ffff\U0010ffff",
    ]
    wanted = []
    for interval in intervals:
        inside = (
            [
                x
                for x in between
                if (interval.lo is None or x >= interval.lo) and (interval.hi is None or x <= interval.hi)
            ]
            if interval.value
            else []
        )
        wanted.append(image(iter([x.startswith(prefix) for x in inside])) | (outcome.NULL if interval.null else 0))
    p = range_of(Interval(prefix, prefix, null=False))
    q = None if successor is None else range_of(Interval(successor, successor, null=False))
    one = [rules.pack(rules.starts_with(range_of(a), p, q, True)) for a in intervals]
    assert one == wanted
    p = masked_range_of(Interval(prefix, prefix, null=False), "")
    q = None if successor is None else masked_range_of(Interval(successor, successor, null=False), "")
    for filler in ("", "ab", "zz"):
        many = rules.pack(rules.starts_with(masked(intervals, filler, object), p, q, True))
        assert many.tolist() == wanted
    necessary = rules.pack(rules.starts_with(masked(intervals, "", object), p, q, False))
    assert necessary.tolist() == [w | (outcome.FALSE if a.value else 0) for w, a in zip(wanted, intervals, strict=True)]


@pytest.mark.parametrize(("null", "value"), FLAGS)
def test_null_tests_and_constants_follow_the_flags(null: bool, value: bool) -> None:
    a = range_of(Interval(1, 2, null, value))
    assert rules.pack(rules.is_null(a)) == (TRUE if null else 0) | (FALSE if value else 0)
    for truth, other in ((TRUE, FALSE), (FALSE, TRUE)):
        of_values, of_null = truth if value else 0, truth | NULL if null else 0
        assert rules.pack(rules.is_constant(a, truth == TRUE)) == of_values | of_null
        anything = rules.pack(rules.is_constant(a, truth == TRUE, any_of_null=True))
        assert anything == of_values | of_null | (other if null else 0)
    many = masked([Interval(1, 2, null, value)] * 2)
    assert rules.pack(rules.is_null(many)).tolist() == [rules.pack(rules.is_null(a))] * 2
    for truth in (True, False):
        assert rules.pack(rules.is_constant(many, truth)).tolist() == [rules.pack(rules.is_constant(a, truth))] * 2


@pytest.mark.parametrize("answer", [True, False, None])
def test_a_slice_of_one_value_is_decided_by_the_value(answer: bool | None) -> None:
    left = {True: TRUE, False: FALSE, None: TRUE | FALSE}[answer]
    asked: list[str] = []

    def holds(value: str) -> bool | None:
        asked.append(value)
        return answer

    point, wide, half = Interval("a", "a"), Interval("a", "b"), Interval("a", None)
    intervals = [point, wide, half, Interval(None, "a"), Interval("a", "a"), Interval(None, None)]
    every, both = TRUE | FALSE | NULL, TRUE | FALSE
    actual = np.array([every, every, every, both, both, both], np.uint8)
    expected = [left | NULL, every, every, both, left, both]
    for filler in ("a", ""):
        asked.clear()
        decided = rules.refine_single_values(actual, masked(intervals, filler, object), holds)
        assert decided.tolist() == expected
        assert asked == ["a"]
    one = [rules.refine_single_values(int(f), range_of(a), holds) for f, a in zip(actual, intervals, strict=True)]
    assert one == expected
    for settled in (TRUE, FALSE, NULL, TRUE | NULL, FALSE | NULL):
        assert rules.refine_single_values(settled, range_of(point), holds) == settled
        some = np.full(2, settled, np.uint8)
        assert rules.refine_single_values(some, masked([point, wide], "", object), holds).tolist() == [settled] * 2
    scalar = masked_range_of(point, "")
    assert rules.refine_single_values(TRUE | FALSE, scalar, holds) == TRUE | FALSE
    assert actual.tolist()[0] == TRUE | FALSE | NULL


def test_flags_and_arrays_are_packed_alike() -> None:
    choices = (False, True, np.array([False, True]))
    for possible in itertools.starmap(Possible, itertools.product(choices, repeat=3)):
        packed = np.broadcast_to(rules.pack(possible), 2).tolist()
        wanted = [
            sum(bit for flags, bit in zip(possible, (1, 2, 4), strict=True) if np.broadcast_to(flags, 2)[k])
            for k in range(2)
        ]
        assert packed == wanted
    with pytest.raises(ValueError, match="argument 2"):
        rules.pack((True, False))  # type: ignore[arg-type]


def test_the_ends_of_all_values_lie_outside_of_every_value() -> None:
    for value in (0, -1.5, "", b"x", LEAST, GREATEST):
        if value is not LEAST:
            assert LEAST < value  # noqa: SIM300
            assert LEAST <= value  # noqa: SIM300
            assert value > LEAST
            assert value >= LEAST
            assert not value < LEAST
            assert not value <= LEAST
        if value is not GREATEST:
            assert value < GREATEST
            assert value <= GREATEST
            assert not value > GREATEST
            assert not value >= GREATEST
    assert not LEAST < LEAST
    assert not GREATEST < GREATEST
    assert (repr(LEAST), repr(GREATEST)) == ("LEAST", "GREATEST")
