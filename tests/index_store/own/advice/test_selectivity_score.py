"""The score is what its definition says, pair by pair; and it says what Hyperspace says of its examples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language.types import DOUBLE, INT, STRING, decimal_type
from evaluator.statistics.columns import PartStatistics, from_values
from evaluator.statistics.stored_bounds import StoredBounds
from index_store.own.advice.selectivity_score import (
    ABOUT,
    AT_LEAST,
    AT_MOST,
    score_of_counts,
    score_of_filters,
    score_of_lookups,
    score_of_statistics,
)
from tests.sampling import examples

#: Values of each type, in ascending order.
SCALES = {
    INT: list(range(-4, 8)),
    DOUBLE: [float("-inf"), -1.5, 0.0, 0.5, 2.0, 9.5, float("inf")],
    STRING: ["", "a", "aa", "ab", "b", "ä", "日", "\U0001f600"],
    decimal_type(38, 0): [-(10**30), -1, 0, 1, 10**25, 10**37],
}


@st.composite
def slices_of_ranges(draw):
    """Bounds of slices: (lo, hi) with None where not known, or "null" for a slice without a value."""
    of = draw(st.sampled_from(list(SCALES)))
    scale = SCALES[of]
    end = st.integers(0, len(scale) - 1)

    @st.composite
    def one(draw):
        if draw(st.integers(0, 5)) == 0:
            return "null"
        low, high = sorted((draw(end), draw(end)))
        known = draw(st.sampled_from(["both"] * 4 + ["lo", "hi", "none"]))
        return scale[low] if known in ("both", "lo") else None, scale[high] if known in ("both", "hi") else None

    return of, draw(st.lists(one(), min_size=2, max_size=9))


def statistics_of(of, ranges, counts=True):
    null = [one == "null" for one in ranges]
    return from_values(
        of,
        [None if one == "null" else one[0] for one in ranges],
        [None if one == "null" else one[1] for one in ranges],
        [3 if one else 0 for one in null] if counts else None,
        [3] * len(null) if counts else None,
    )


def meet(a, b, fractional=False):
    """Whether two ranges may have a value in common."""
    if "null" in (a, b):
        return False
    if fractional:  # NaN is in no order: one unknown end, none is believed
        a, b = ((None, None) if None in one else one for one in (a, b))
    return (a[0] is None or b[1] is None or a[0] <= b[1]) and (b[0] is None or a[1] is None or b[0] <= a[1])


@given(slices_of_ranges(), st.booleans())
@settings(max_examples=examples(58, at_night=3000))
@pytest.mark.nightly
def test_the_score_of_ranges_is_the_share_of_pairs_that_do_not_meet(given_, stored):
    of, ranges = given_
    found = statistics_of(of, ranges)
    if stored and of not in (INT, DOUBLE):
        found = replace(found, lo=StoredBounds.of(found.lo, of), hi=StoredBounds.of(found.hi, of))
    n = len(ranges)
    overlaps = sum(meet(ranges[i], ranges[j], of is DOUBLE) for i in range(n) for j in range(n) if i != j)
    said = score_of_statistics(found)
    assert said.score == pytest.approx(100 * (1 - overlaps / (n * (n - 1))))
    assert said.basis == AT_LEAST


@given(slices_of_ranges())
@settings(max_examples=examples(39, at_night=2000))
def test_what_a_typical_equality_leaves_is_counted_at_the_ends_of_ranges(given_):
    of, ranges = given_
    if of is DOUBLE:
        ranges = [one if one == "null" or None not in one else (None, None) for one in ranges]
    values = [one for one in ranges if one != "null"]
    left = [
        len(values) if end is None else sum(meet((end, end), one) for one in values) for one in values for end in one
    ]
    assert score_of_statistics(statistics_of(of, ranges)).left == pytest.approx(np.mean(left) if left else 0.0)


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=6), min_size=2, max_size=8))
@settings(max_examples=examples(39, at_night=2000))
def test_equalities_leave_out_at_least_what_the_score_of_ranges_says(files):
    """Whichever values are asked for, each file's alike: by bounds, and by the listed values all the more."""
    n = len(files)
    lo, hi = [min(some) for some in files], [max(some) for some in files]
    bounds = from_values(INT, lo, hi, [0] * n, [9] * n)
    kept = [
        np.mean([sum(lo[j] <= value <= hi[j] for j in range(n) if j != i) for value in some])
        for i, some in enumerate(files)
    ]
    asked = [(i, value) for i, some in enumerate(files) for value in some]
    held = np.array([[lo[j] <= value <= hi[j] for j in range(n)] for _, value in asked])
    looked_up = score_of_lookups(held, np.array([i for i, _ in asked]))
    assert looked_up.score == pytest.approx(100 * (1 - np.mean(kept) / (n - 1)))
    assert score_of_statistics(bounds).score <= looked_up.score + 1e-9
    points = PartStatistics(
        from_values(INT, [value for _, value in asked], [value for _, value in asked]),
        np.array([i for i, _ in asked], np.intp),
    )
    listed = replace(bounds, parts=points)
    assert score_of_statistics(listed).score >= looked_up.score - 1e-9


@given(st.lists(st.lists(st.integers(0, 12), max_size=6) | st.none(), min_size=2, max_size=8), st.booleans())
@settings(max_examples=examples(39, at_night=2000))
def test_the_score_of_listed_values_is_the_share_of_values_that_are_in_no_other_slice(lists, as_text):
    of, value = (STRING, str) if as_text else (INT, int)
    places = [i for i, some in enumerate(lists) for _ in some or ()]
    points = [value(one) for some in lists for one in some or ()]
    whole = from_values(
        of,
        [None if some is None or not some else min(map(value, some)) for some in lists],
        [None if some is None or not some else max(map(value, some)) for some in lists],
        [4 if some == [] else 0 for some in lists],
        [4] * len(lists),
    )
    parts = PartStatistics(from_values(of, points, points), np.array(places, np.intp))
    said = score_of_statistics(replace(whole, parts=parts))
    n = len(lists)
    overlap = 0.0
    for i, mine in enumerate(lists):
        for j, other in enumerate(lists):
            if i == j or mine == [] or other == []:
                continue
            if mine is None or other is None:
                overlap += 1
            else:  # a value counts as often as it is listed
                overlap += sum(one in other for one in mine) / len(mine)
    assert said.score == pytest.approx(100 * (1 - overlap / (n * (n - 1))))


def test_parts_that_are_ranges_meet_as_ranges_do():
    """Prefixes: 'a'..'b' meets 'aa'..'ab' and not 'c'; one slice counts once, however many of its parts meet."""
    whole = from_values(STRING, ["a", "aa", "c"], ["b", "ad", "c"], [0, 0, 0], [9, 9, 9])
    parts = PartStatistics(from_values(STRING, ["a", "aa", "ac", "c"], ["b", "ab", "ad", "c"]), np.array([0, 1, 1, 2]))
    said = score_of_statistics(replace(whole, parts=parts))
    assert said.score == pytest.approx(100 * (1 - (1 + 1 + 0) / 6))
    assert said.asked == 4


def test_with_too_many_parts_some_of_them_are_asked_for():
    n = 50
    lo = [10 * i for i in range(n) for _ in range(4)]
    parts = PartStatistics(from_values(INT, lo, [one + 12 for one in lo]), np.repeat(np.arange(n), 4))
    whole = from_values(INT, [None] * n, [None] * n, [0] * n, [9] * n)
    whole = replace(whole, parts=parts)
    every, some = score_of_statistics(whole), score_of_statistics(whole, most=200 * 20)
    assert (every.asked, some.asked) == (200, 20)
    assert some.score == pytest.approx(every.score, abs=1)


@pytest.mark.parametrize(
    ("ranges", "score"),
    [
        ([(0, 100)] * 8, 0),  # every file spans what the column spans
        ([(i, 100 - i) for i in range(8)], 0),  # very similar ranges
        ([(10 * i, 10 * i + 9) for i in range(8)], 100),  # sorted
        ([(0, 9)] * 4 + [(10, 19)] * 4, 100 * 8 * 4 / 56),
        ([(None, None)] * 8, 0),
        (["null"] * 8, 100),  # a comparison leaves out every file
        ([(0, 1)], 0),  # nothing to tell apart
    ],
    ids=["same", "similar", "sorted", "two groups", "unknown", "null", "one file"],
)
def test_scores_of_layouts(ranges, score):
    assert score_of_statistics(statistics_of(INT, ranges)).score == pytest.approx(score)


@pytest.mark.parametrize("of", [INT, STRING], ids=str)
def test_ends_in_the_wrong_order_are_not_believed(of):
    value = {INT: int, STRING: str}[of]
    ranges = [(value(9), value(1)), (value(2), value(3)), (value(4), value(5)), (value(6), value(7))]
    assert score_of_statistics(statistics_of(of, ranges)).score == pytest.approx(100 * (1 - 6 / 12))


def test_two_million_files_are_compared_without_comparing_pairs():
    rng = np.random.default_rng(1)
    n = 2_000_000
    lo = rng.integers(0, 1 << 40, n)
    known = from_values(INT, [0], [0])
    found = type(known)(
        INT,
        lo,
        lo + (1 << 39),
        lo_known=np.ones(n, np.bool_),
        hi_known=np.ones(n, np.bool_),
        null_count=np.zeros(n, np.int64),
        row_count=np.full(n, 5),
        trust=np.zeros(n, np.uint8),
    )
    said = score_of_statistics(found)
    assert said.score == pytest.approx(25, abs=0.2)  # two numbers of [0, 1] are over 1/2 apart: 1/4
    assert said.left == pytest.approx(n * 3 / 8, rel=0.01)


def test_the_score_of_counts_is_the_share_of_files_without_any():
    assert score_of_counts(np.array([0, 0, 0, 5, -1])).score == pytest.approx(60)
    assert score_of_counts(np.array([0, 0, 0, 5, -1])).left == 2


def test_look_ups_count_each_file_alike():
    held = np.array([[1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], np.bool_)
    said = score_of_lookups(held, np.array([0, 0, 1]))
    assert said.left == pytest.approx(1 + (0.5 + 3) / 2)
    assert said.basis == ABOUT
    assert said.score == pytest.approx(100 * (1 - ((0.5 + 3) / 2) / 3))


def test_full_filters_are_an_upper_limit():
    said = score_of_filters(np.array([0.01, 0.01, 1.0]))
    assert said.basis == AT_MOST
    assert said.score == pytest.approx(66)
    assert said.left == pytest.approx(1 + 2 * 1.02 / 3)


def test_a_score_of_a_sample_is_that_of_the_table():
    said = score_of_statistics(statistics_of(INT, [(0, 9)] * 4 + [(10, 19)] * 4)).scaled(800)
    assert said.slices == 800
    assert said.left == pytest.approx(1 + 799 * 3 / 7)
