"""Each rule of evaluator.statistics.distrust on the pitfall that it is for: what is stored, and whether it is
believed.

Pitfalls P1 to P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.epoch import DAY, EPOCH_ORDINAL
from evaluator.language.types import BIGINT, DATE, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, decimal_type
from evaluator.statistics import distrust
from evaluator.statistics.distrust import Trust
from index_store.formats.parquet_footers import Proof
from tests.evaluator.written_statistics import File, stored

NAN, INF = math.nan, math.inf
MICROS_1900 = -2_208_988_800_000_000
MICROS_1899 = MICROS_1900 - 1


def counts(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float64)


@pytest.mark.parametrize(
    ("lo", "hi", "doubted"),
    [
        pytest.param(0.0, 0.0, True, id="P1: what a NaN leaves"),
        pytest.param(-0.0, 0.0, True, id="P1: signed zeros are zeros"),
        pytest.param(-0.0, -0.0, True, id="P1: negative zeros too"),
        pytest.param(-(2.0**-149), 2.0**-149, True, id="P1: the zeros of a FLOAT file, widened for a DOUBLE column"),
        pytest.param(0.0, 2.0**-148, False, id="P1: beyond one step it is a range"),
        pytest.param(0.0, 1.0, False, id="P1: a range is no such pattern"),
        pytest.param(-1.0, 0.0, False, id="P1: nor up to zero"),
        pytest.param(5.0, 5.0, False, id="P1: nor one other value"),
    ],
)
def test_p1_zero_bounds_may_be_a_nan(lo, hi, doubted):
    assert distrust.distrust_nan_zero_bounds(floats(lo), floats(hi)).tolist() == [doubted]


@pytest.mark.parametrize(
    ("lo", "hi", "rows", "doubted"),
    [
        pytest.param(-1.0, 2.0, 101, True, id="P1: two row groups are possible"),
        pytest.param(-1.0, 2.0, 100, False, id="P1: one row group only"),
        pytest.param(0.0, 2.0, 5000, True, id="P1: zero as the lower bound"),
        pytest.param(-2.0, -0.0, 5000, True, id="P1: zero as the upper bound"),
        pytest.param(1.0, 2.0, 5000, False, id="P1: a NaN's zero would be in the range"),
        pytest.param(-2.0, -1.0, 5000, False, id="P1: below zero"),
        pytest.param(-1.0, 2.0, -1, True, id="P1: unknown row count"),
    ],
)
def test_p1_a_range_around_zero_may_hide_a_row_group_with_nan(lo, hi, rows, doubted):
    assert distrust.distrust_float_spanning_zero(floats(lo), floats(hi), counts(rows)).tolist() == [doubted]


@given(st.lists(st.lists(st.floats(width=32), min_size=100, max_size=110), min_size=1, max_size=3))
def test_p1_no_merged_range_that_is_believed_leaves_out_a_value(row_groups):
    """As parquet-mr and Hudi do it: a row group with NaN gives 0.0 to 0.0, the file's range is the union."""
    ranges = [(0.0, 0.0) if any(map(math.isnan, group)) else (min(group), max(group)) for group in row_groups]
    lo, hi = floats(min(low for low, _ in ranges)), floats(max(high for _, high in ranges))
    rows = counts(sum(map(len, row_groups)))
    doubted = distrust.distrust_nan_zero_bounds(lo, hi) | distrust.distrust_float_spanning_zero(lo, hi, rows)
    if len(row_groups) == 1:
        doubted = distrust.distrust_nan_zero_bounds(lo, hi)
    if not doubted[0]:
        assert all(lo[0] <= value <= hi[0] for group in row_groups for value in group)


@pytest.mark.parametrize(
    ("lo_known", "hi_known", "nulls", "rows", "doubted"),
    [
        pytest.param(False, False, 2, 2, True, id="P2: all null, or too long"),
        pytest.param(True, True, 2, 2, False, id="P2: bounds are there"),
        pytest.param(False, False, 1, 2, False, id="P2: no claim of all null"),
        pytest.param(False, False, 0, 0, False, id="P2: a log file of deletions"),
        pytest.param(False, False, -1, -1, False, id="P2: unknown counts claim nothing"),
    ],
)
def test_p2_text_without_bounds_is_not_all_null(lo_known, hi_known, nulls, rows, doubted):
    mask = distrust.distrust_null_bounds_of_text(
        np.array([lo_known]), np.array([hi_known]), counts(nulls), counts(rows)
    )
    assert mask.tolist() == [doubted]


@pytest.mark.parametrize(
    ("nulls", "rows", "doubted"),
    [
        pytest.param(0, 5000, False, id="P2: no null at all"),
        pytest.param(3, 100, False, id="P2: one row group"),
        pytest.param(3, 101, True, id="P2: a row group may count as null"),
        pytest.param(3, -1, True, id="P2: unknown row count"),
        pytest.param(-1, 101, True, id="P2: unknown null count"),
    ],
)
def test_p2_text_beside_nulls_may_hide_a_row_group(nulls, rows, doubted):
    assert distrust.distrust_text_beside_nulls(counts(nulls), counts(rows)).tolist() == [doubted]


@pytest.mark.parametrize(
    ("size", "believed"),
    [
        pytest.param(2047, True, id="P2: smaller than the shortest value without bounds"),
        pytest.param(2048, False, id="P2: one value of 2048 bytes may be there"),
        pytest.param(29, True, id="P2: a page of nulls"),
        pytest.param(1, True, id="P2: the smallest size that is one"),
        pytest.param(0, False, id="P2: a writer that knows no size"),
        pytest.param(-1, False, id="P2: unknown size"),
    ],
)
def test_p2_a_small_column_holds_no_long_text(size, believed):
    assert distrust.believe_short_text(counts(size)).tolist() == [believed]


@pytest.mark.parametrize(
    ("lo", "hi", "doubted"),
    [
        pytest.param(NAN, 1.0, True, id="P3: lower"),
        pytest.param(1.0, NAN, True, id="P3: upper"),
        pytest.param(NAN, NAN, True, id="P3: both"),
        pytest.param(-INF, INF, False, id="P3: infinities are values"),
    ],
)
def test_p3_each_bound_is_checked_for_nan(lo, hi, doubted):
    assert distrust.distrust_nan_bounds(floats(lo), floats(hi)).tolist() == [doubted]


@pytest.mark.parametrize(
    ("nulls", "rows", "ignored"),
    [
        pytest.param(5, 5, True, id="P6: all null"),
        pytest.param(1, 1, True, id="P6: one null"),
        pytest.param(4, 5, False, id="P6: one value"),
        pytest.param(-1, -1, False, id="P6: unknown is not all null"),
        pytest.param(0, 0, False, id="P6: no rows"),
        pytest.param(-1, 5, False, id="P6: unknown null count"),
    ],
)
def test_p6_only_a_known_null_count_proves_all_null(nulls, rows, ignored):
    assert distrust.ignore_bounds_of_all_null(counts(nulls), counts(rows)).tolist() == [ignored]


@pytest.mark.parametrize(
    ("value", "upper", "expected"),
    [
        pytest.param(1_000, False, 1_000_000, id="P13: lower bound as it is"),
        pytest.param(1_000, True, 1_000_999, id="P13: upper bound may be cut off"),
        pytest.param(-1, True, -1, id="P13: before the epoch, rounded down to -1 ms"),
    ],
)
def test_p13_milliseconds_are_widened(value, upper, expected):
    assert distrust.widen_millis(counts(value), upper=upper).tolist() == [expected]


@given(st.integers(-62_135_596_800, 253_402_300_799), st.integers(0, 999_999), st.booleans())
def test_p14_a_bound_of_an_unknown_unit_holds_the_moment_in_both_units(second, micro, upper):
    moment = second * 1_000_000 + micro
    for stored_number in (moment, moment // 1000):
        [bound] = distrust.widen_unknown_unit(counts(stored_number), upper=upper).tolist()
        assert bound >= moment if upper else bound <= moment
    [recent] = distrust.widen_unknown_unit(counts(253_402_300_800_000 + abs(moment)), upper=upper).tolist()
    assert recent == 253_402_300_800_000 + abs(moment)


def test_p14_the_first_and_the_last_moment_in_milliseconds_are_widened_and_no_other() -> None:
    first, last = -62_135_596_800_000, 253_402_300_799_999
    numbers = counts(first - 1, first, last, last + 1)
    assert distrust.widen_unknown_unit(numbers, upper=False).tolist() == [first - 1, first * 1000, last, last + 1]
    assert distrust.widen_unknown_unit(numbers, upper=True).tolist() == [first - 1, first, last * 1000 + 999, last + 1]


@pytest.mark.parametrize(
    ("value", "upper", "expected"),
    [
        (1_603_594_800_000_000_001, False, 1_603_594_800_000_000),
        (1_603_594_800_000_000_001, True, 1_603_594_800_000_001),
        (1_500, False, 1),
        (1_500, True, 2),
        (2_000, True, 2),
        (-1_500, False, -2),
        (-1_500, True, -1),
    ],
)
def test_p13_nanoseconds_are_rounded_outward(value, upper, expected):
    assert distrust.widen_nanos(counts(value), upper=upper).tolist() == [expected]


@pytest.mark.parametrize(
    ("of", "stored", "lower", "upper"),
    [
        pytest.param(DATE, -141_428, -141_459, -141_397, id="P13: 1582-10-14"),
        pytest.param(DATE, -141_427, -141_427, -141_396, id="P13: 1582-10-15: earlier days may be read after it"),
        pytest.param(DATE, -141_396, -141_396, -141_396, id="P13: 1582-11-15"),
        pytest.param(DATE, -719_162, -719_193, -719_131, id="P13: the first day"),
        pytest.param(DATE, -719_163, None, None, id="P13: before the year 1"),
        pytest.param(
            TIMESTAMP, MICROS_1900 - 1, MICROS_1900 - 1 - 31 * DAY, MICROS_1900 - 1 + 31 * DAY, id="P13: 1899"
        ),
        pytest.param(TIMESTAMP_LTZ, MICROS_1900, MICROS_1900, MICROS_1900 + 31 * DAY, id="P13: 1900"),
        pytest.param(BIGINT, -200_000, -200_000, -200_000, id="no date"),
    ],
)
def test_p13_ancient_bounds_may_be_rebased(of, stored, lower, upper):
    for is_upper, expected in ((False, lower), (True, upper)):
        bounds, known = distrust.widen_ancient_bounds(counts(stored), of, upper=is_upper)
        assert known.tolist() == [expected is not None]
        assert expected is None or bounds.tolist() == [expected]


@pytest.mark.parametrize("year", range(1, 1582, 31))
@pytest.mark.parametrize(("month", "day"), [(1, 1), (2, 28), (3, 1), (10, 4), (12, 31)])
def test_p13_no_day_moves_by_more_in_another_calendar(year, month, day):
    julian = 367 * year - 7 * (year + 5001 + int((month - 9) / 7)) // 4 + 275 * month // 9 + day + 1_729_777 - 2_440_588
    proleptic = datetime.date(year, month, day).toordinal() - EPOCH_ORDINAL
    assert abs(julian - proleptic) <= 10
    for read, written in ((julian, proleptic), (proleptic, julian)):
        lower, upper = (distrust.widen_ancient_bounds(counts(written), DATE, upper=end) for end in (False, True))
        assert not lower[1][0] or lower[0][0] <= read
        assert not upper[1][0] or read <= upper[0][0]


@pytest.mark.parametrize(
    ("nulls", "rows", "doubted"),
    [
        pytest.param(6, 5, True, id="P18: more nulls than rows"),
        pytest.param(5, 5, False, id="P18: all null"),
        pytest.param(-2, 5, True, id="P18: no count"),
        pytest.param(5, -7, True, id="P18: no count of rows"),
        pytest.param(-1, 5, False, id="P18: unknown nulls"),
        pytest.param(5, -1, False, id="P18: unknown rows"),
    ],
)
def test_p18_counts_that_contradict_are_not_used(nulls, rows, doubted):
    assert distrust.distrust_impossible_counts(counts(nulls), counts(rows)).tolist() == [doubted]


def test_p18_a_log_of_deletions_holds_nothing_and_an_unknown_one_may():
    no = np.zeros(3, np.bool_)
    assert distrust.holds_nothing(no, no, counts(0, -1, 1), counts(0, -1, 1)).tolist() == [True, False, False]
    assert distrust.holds_nothing(~no, no, counts(0, 0, 0), counts(0, 0, 0)).tolist() == [False] * 3


@pytest.mark.parametrize(
    ("lo", "hi", "doubted"),
    [pytest.param(3, 2, True, id="P20: upside down"), pytest.param(2, 2, False, id="P20: one value")],
)
def test_p20_inverted_bounds_prove_a_fault(lo, hi, doubted):
    assert distrust.distrust_inverted_bounds(counts(lo), counts(hi)).tolist() == [doubted]
    low, high = np.array([str(lo)], object), np.array([str(hi)], object)
    assert distrust.distrust_inverted_bounds(low, high).tolist() == [doubted]


@pytest.mark.parametrize(
    ("text", "as_lower", "as_upper"),
    [
        ("apple", False, False),
        ("äßé日", False, False),
        ("\U0001d11e", True, False),
        ("\uff21", False, True),
        ("\ue000", False, True),
        ("\uffff", False, True),
        ("\ud7ff", False, False),
        ("\U00010000", True, False),
        ("a\ufffd", True, True),
        ("", False, False),
    ],
)
def test_p20_text_that_java_orders_otherwise(text, as_lower, as_upper):
    assert distrust.distrust_reordered_text([text], upper=False).tolist() == [as_lower]
    assert distrust.distrust_reordered_text([text], upper=True).tolist() == [as_upper]
    for upper, expected in ((False, as_lower), (True, as_upper)):
        assert distrust.distrust_reordered_text(["plain", text, "\u00e4"], upper=upper).tolist() == [
            False,
            expected,
            False,
        ]


@given(st.lists(st.text(), min_size=1, max_size=8))
def test_p20_bounds_in_utf16_order_that_are_believed_bound_every_value(values):
    lo = min(values, key=lambda text: text.encode("utf-16-be", "surrogatepass"))
    hi = max(values, key=lambda text: text.encode("utf-16-be", "surrogatepass"))
    if not distrust.distrust_reordered_text([lo], upper=False)[0]:
        assert all(lo <= value for value in values)
    if not distrust.distrust_reordered_text([hi], upper=True)[0]:
        assert all(value <= hi for value in values)


@given(st.integers(-(10**20), 10**20), st.integers(0, 18), st.integers(0, 18))
def test_p12_decimals_are_rescaled_exactly_or_outward(unscaled, scale, wanted):
    low = distrust.rescale_unscaled(unscaled, scale, wanted, upper=False)
    high = distrust.rescale_unscaled(unscaled, scale, wanted, upper=True)
    assert low * 10**scale <= unscaled * 10**wanted <= high * 10**scale
    assert high - low <= 1
    if wanted >= scale:
        assert low == high


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_p19_a_float_read_as_double_is_within_the_widened_bounds(value):
    low, high = distrust.widen_float_as_double(floats(value), floats(value))
    as_text = float(str(np.float32(value)))
    assert low[0] < value < high[0]
    assert low[0] <= as_text <= high[0]


def test_p1_zeros_that_were_widened_from_float_to_double_are_still_doubted():
    zeros = distrust.widen_float_as_double(floats(0.0, -0.0), floats(0.0, 0.0))
    assert distrust.distrust_nan_zero_bounds(*zeros).tolist() == [True, True]


def test_every_trust_code_has_a_reason_and_fits_a_byte():
    assert len({distrust.reason(trust) for trust in Trust}) == len(Trust)
    assert max(Trust) < 256
    assert "hudi#18754" in distrust.reason(Trust.NAN_ZERO)


def known(statistics):
    """What is left of one slice: lo, hi, may be null, may be a value."""
    [lo], [hi] = statistics.lo.tolist(), statistics.hi.tolist()
    return (
        lo if statistics.lo_known[0] else None,
        hi if statistics.hi_known[0] else None,
        bool(statistics.may_be_null[0]),
        bool(statistics.may_be_value[0]),
    )


D52, D53 = decimal_type(5, 2), decimal_type(5, 3)
UNKNOWN, NOTHING_BUT_NULL = (None, None, True, True), (None, None, True, False)


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        pytest.param(
            stored(TIMESTAMP_LTZ, File(1, 2, ordinal=15), unit="millis"),
            (1000, 2999, False, True),
            id="truncated: milliseconds",
        ),
        pytest.param(
            stored(TIMESTAMP_LTZ, File(1_500, 1_500, ordinal=17), unit="nanos"),
            (1, 2, False, True),
            id="truncated: nanoseconds",
        ),
        pytest.param(
            stored(D52, File(Decimal("1.115"), Decimal("1.115"), of=D53)),
            (111, 112, False, True),
            id="truncated: a decimal of a smaller scale",
        ),
        pytest.param(stored(STRING, File(nulls=10)), UNKNOWN, id="truncated: text too long for bounds"),
        pytest.param(stored(BIGINT, File(1, 2, of=INT)), (1, 2, False, True), id="widened: int to bigint is exact"),
        pytest.param(
            stored(DOUBLE, File(1.0, 1.0, of=FLOAT)),
            (1 - 2**-24, 1 + 2**-23, False, True),
            id="widened: float to double by a step",
        ),
        pytest.param(stored(INT, None), UNKNOWN, id="missing: no record"),
        pytest.param(stored(INT, File(1, 2), None), UNKNOWN, id="missing: no record of a log file"),
        pytest.param(stored(INT, File(nulls=0)), (None, None, False, True), id="missing: no bounds"),
        pytest.param(stored(INT, File(1, 2, nulls=None, rows=None)), (1, 2, True, True), id="missing: no counts"),
        pytest.param(stored(INT, File(1, None)), (1, None, False, True), id="one-sided: an integer"),
        pytest.param(
            stored(STRING, File("a", "b"), File("c", "\uff21")),
            ("a", None, False, True),
            id="one-sided: the other bound is in another order",
        ),
        pytest.param(stored(INT, File(0, 0, nulls=10)), NOTHING_BUT_NULL, id="all-null: zeros are no bounds"),
        pytest.param(
            stored(STRING, File(nulls=10), proof=Proof(all_null=True)),
            NOTHING_BUT_NULL,
            id="all-null: text, proven by the footer",
        ),
        pytest.param(
            stored(INT, File(0, 0, nulls=10), File(5, 6)), (5, 6, True, True), id="all-null: base below a log"
        ),
        pytest.param(stored(INT, File(1, 2), File(rows=0)), (1, 2, False, True), id="empty: a log of deletions"),
        pytest.param(stored(DOUBLE, File(0.0, 0.0)), (None, None, False, True), id="NaN-poisoned: zeros"),
        pytest.param(
            stored(DOUBLE, File(-1.0, 2.0, rows=5000)), (None, None, False, True), id="NaN-poisoned: a row group"
        ),
        pytest.param(stored(DOUBLE, File(NAN, 2.0)), (None, None, False, True), id="NaN-poisoned: a bound"),
        pytest.param(
            stored(INT, File("1", "2", of=STRING)), (None, None, False, True), id="wrong writer: another type"
        ),
        pytest.param(
            stored(TIMESTAMP_LTZ, File(1, 2, ordinal=15)), (None, None, False, True), id="wrong writer: the unit"
        ),
        pytest.param(stored(INT, File(2, 1)), (None, None, False, True), id="wrong writer: upside down"),
        pytest.param(stored(INT, File(1, 2, nulls=11)), UNKNOWN, id="wrong writer: more nulls than rows"),
        pytest.param(stored(INT, File(1, 2, deleted=True)), UNKNOWN, id="wrong writer: a tombstone"),
        pytest.param(stored(INT, File(1, 2), File(3, 4), merges=False), UNKNOWN, id="wrong writer: values of its own"),
    ],
)
def test_what_is_left_of_each_kind_of_fault(statistics, expected):
    assert known(statistics) == expected


def test_every_rule_names_its_report_or_its_pitfall_and_is_told_by_kind_of_fault():
    rules = [name for name in distrust.__all__ if callable(getattr(distrust, name)) and name.islower()]
    for name in rules:
        if name not in ("reason", "all_null", "holds_nothing"):
            assert re.search(r"P\d+|#\d+|docs/facts/", getattr(distrust, name).__doc__), name
        assert name == "reason" or f"``{name}``" in distrust.__doc__, name
