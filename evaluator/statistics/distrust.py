"""Which stored statistics are trusted: one named rule for each known fault of writers (C4, P1 to P3, P6, P13, P20).

Hudi's column statistics come from the writer, and some writers have faults. Each rule is a pure function over arrays of
one column in many files, ``(n,)`` each. A ``distrust_*`` rule gives a mask of the statistics that are not used: such a
bound is unknown, and unknown keeps the file.

    stored                                 possible meaning
    -------------------------------------  ---------------------------------------------------------------------
    0.0 / 0.0, a float                     the file holds a NaN (hudi#18754)
    -1.0 .. 2.0, a float, over 100 rows    a row group holds a NaN, and values out of this range (hudi#18754)
    NaN as a bound                         the file holds a NaN, and the other bound is unusable too (iceberg#2069)
    null / null, nulls = rows, text        all null, or values too long for Parquet's bounds (hudi#18755), which take
                                           at least 2048 bytes
    "a" .. "b", nulls > 0, over 100 rows   a row group's text was too long and counts as null (hudi#18755)
    0 / 0, nulls = rows                    all null; the bounds are the type's zero

By kind of fault:

    truncated     ``widen_millis``, ``widen_nanos``, ``rescale_unscaled``; text that is too long:
                  ``distrust_null_bounds_of_text``
    widened       ``widen_float_as_double``: a FLOAT file of a DOUBLE column; integers are exact.
                  ``widen_unknown_unit``: a file of milliseconds in a table of microseconds.
                  ``widen_ancient_bounds``: days before 1582, moments before 1900
    missing       a missing record or bound is unknown, never "no rows": Trust.NO_RECORD, NO_BOUNDS (index_store)
    one-sided     each side is known by itself; a float with one side has none (``distrust_nan_bounds``)
    all-null      ``all_null``, ``ignore_bounds_of_all_null``, ``distrust_null_bounds_of_text``, ``believe_short_text``
    empty slice   ``holds_nothing``
    NaN-poisoned  ``distrust_nan_zero_bounds``, ``distrust_float_spanning_zero``, ``distrust_nan_bounds``
    wrong writer  ``distrust_text_beside_nulls``, ``distrust_reordered_text``, ``distrust_inverted_bounds``,
                  ``distrust_impossible_counts``; a type or unit that does not fit, a log file that was appended to,
                  files that are not Parquet: Trust.WRONG_TYPE, UNIT, APPENDED_LOG, NOT_PARQUET (index_store)

Counts hold ``UNKNOWN_COUNT`` (-1) where they are not known.

Pitfalls P1 to P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.epoch import DAY, FIRST_DAY, FIRST_GREGORIAN_DAY, REBASED_DAYS
from evaluator.language.types import Kind, Type
from evaluator.language.zones import FIRST_SHOWN
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.stored_bounds import Bounds, StoredBounds

__all__ = [
    "ANCIENT_DAY",
    "ANCIENT_MICROS",
    "ROWS_IN_ONE_ROW_GROUP",
    "Trust",
    "all_null",
    "believe_short_text",
    "distrust_float_spanning_zero",
    "distrust_impossible_counts",
    "distrust_inverted_bounds",
    "distrust_nan_bounds",
    "distrust_nan_zero_bounds",
    "distrust_null_bounds_of_text",
    "distrust_reordered_text",
    "distrust_text_beside_nulls",
    "holds_nothing",
    "ignore_bounds_of_all_null",
    "reason",
    "rescale_unscaled",
    "widen_ancient_bounds",
    "widen_float_as_double",
    "widen_millis",
    "widen_nanos",
    "widen_unknown_unit",
]

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: parquet-mr checks the size of a row group after 100 records at the earliest: a file of up to 100 rows has one.
ROWS_IN_ONE_ROW_GROUP = 100
#: parquet-mr leaves out bounds of 4096 bytes together: one of the two then has at least 2048.
_SHORTEST_LONG_TEXT = 2048
#: Milliseconds of the years 1 to 9999.
_MILLIS_OF_SQL = -62_135_596_800_000, 253_402_300_799_999
#: The least float above 0.0: one step of widening.
_SMALLEST_FLOAT = 2.0**-149
#: Readers may rebase older values from another calendar or zone: DATE before 1582-10-15, timestamps before 1900.
ANCIENT_DAY = FIRST_GREGORIAN_DAY
ANCIENT_MICROS = FIRST_SHOWN


class Trust(enum.IntEnum):
    """Why a statistic of a slice is missing or distrusted. ``OK``: it is used as stored."""

    OK = 0
    NO_RECORD = 1
    NO_BOUNDS = 2
    NAN_ZERO = 3
    NAN_HIDDEN = 4
    NAN_BOUND = 5
    LONG_STRING = 6
    WRONG_TYPE = 7
    UNIT = 8
    CUSTOM_MERGE = 9
    TOMBSTONE = 10
    APPENDED_LOG = 11
    INVERTED = 12
    ANCIENT = 13
    TEXT_ORDER = 14
    RENAMED = 15
    COUNTS = 16
    NOT_A_VALUE = 17
    KEY_GENERATOR = 18
    NOT_PARQUET = 19
    KEY_TWICE = 20
    READERS = 21


_REASONS = {
    Trust.OK: "the statistics are used",
    Trust.NO_RECORD: "a file of the slice has no statistics of the column (hudi#9397, hudi#19645)",
    Trust.NO_BOUNDS: "the statistics have no bounds",
    Trust.NAN_ZERO: "bounds 0.0 to 0.0 are what a NaN in the file leaves (hudi#18754)",
    Trust.NAN_HIDDEN: "bounds around 0.0 of a file with several row groups may hide a NaN and more (hudi#18754)",
    Trust.NAN_BOUND: "a bound is NaN (iceberg#2069)",
    Trust.LONG_STRING: "all-null text without bounds, or text beside nulls, may hide long values (hudi#18755)",
    Trust.WRONG_TYPE: "the statistics are of another type than the column (hudi#12993, paimon#7803)",
    Trust.UNIT: "the statistics may count milliseconds or microseconds (hudi#9884)",
    Trust.CUSTOM_MERGE: "the table's own merge rule can make values that are in no file",
    Trust.TOMBSTONE: "the statistics are marked as deleted",
    Trust.APPENDED_LOG: "a log file was appended to, or could not be checked: its statistics may be of a part",
    Trust.INVERTED: "the lower bound is above the upper one (hudi#7032)",
    Trust.ANCIENT: "bounds before 1582 (dates) or 1900 (timestamps) may be in another calendar (SPARK-31404)",
    Trust.TEXT_ORDER: "bounds of text were compared in UTF-16 order, or are not valid text",
    Trust.RENAMED: "another column had this name before (hudi#5275)",
    Trust.COUNTS: "the counts contradict each other",
    Trust.KEY_TWICE: "a record key may stand in more rows than one, of which the index knows one",
    Trust.NOT_A_VALUE: "the partition path holds no value of the column's type",
    Trust.NOT_PARQUET: "bounds of base files that are not Parquet have no known rules",
    Trust.READERS: "Hudi's readers take the column's value from the partition path, and differ in what they make of it",
    Trust.KEY_GENERATOR: "the table's key generator does not write the column's own value into the path",
}


def reason(trust: Trust | int) -> str:
    """A sentence for people, with the number of the report behind the rule."""
    return _REASONS[Trust(trust)]


def all_null(nulls: Counts, rows: Counts) -> Mask:
    """Where every row is null. For text the counts alone prove nothing: ``distrust_null_bounds_of_text``."""
    mask: Mask = (nulls == rows) & (rows > 0)
    return mask


def ignore_bounds_of_all_null(nulls: Counts, rows: Counts) -> Mask:
    """Hudi stores the type's zero as both bounds of an all-null column: 0 / 0 bounds nothing.

    Source: docs/facts/hudi-column-stats.md#faults-of-the-writers.
    """
    return all_null(nulls, rows)


def holds_nothing(lo_known: Mask, hi_known: Mask, nulls: Counts, rows: Counts) -> Mask:
    """A log file with deletions only: no bounds, no rows. It adds nothing to the union of a slice."""
    mask: Mask = ~lo_known & ~hi_known & (rows == 0) & (nulls == 0)
    return mask


def distrust_nan_zero_bounds(lo: Floats, hi: Floats) -> Mask:
    """P1, hudi#18754: parquet-mr drops the bounds of a column with a NaN; Hudi reads the absent bounds as 0.0 / 0.0.

    In a FLOAT file of a DOUBLE column, zeros are widened by one step first (``widen_float_as_double``).
    """
    mask: Mask = (np.abs(lo) <= _SMALLEST_FLOAT) & (np.abs(hi) <= _SMALLEST_FLOAT)
    return mask


def distrust_float_spanning_zero(lo: Floats, hi: Floats, rows: Counts) -> Mask:
    """P1, hudi#18754: the 0.0 / 0.0 of one row group with a NaN is merged into the range of the others.

    The merged range then contains 0.0, so a range without 0.0 is complete. Up to 100 rows there is one row group.
    """
    mask: Mask = (lo <= 0.0) & (hi >= 0.0) & ((rows > ROWS_IN_ONE_ROW_GROUP) | (rows == UNKNOWN_COUNT))
    return mask


def distrust_nan_bounds(lo: Floats, hi: Floats) -> Mask:
    """P3, iceberg#2069: a NaN as one bound makes both unusable. NaN is tested for, as it compares with nothing."""
    mask: Mask = np.isnan(lo) | np.isnan(hi)
    return mask


def distrust_null_bounds_of_text(lo_known: Mask, hi_known: Mask, nulls: Counts, rows: Counts) -> Mask:
    """P2, hudi#18755: text without bounds is written with nulls = rows, whether all null or too long for bounds.

    Both the missing bounds and the null count are distrusted.
    """
    mask: Mask = all_null(nulls, rows) & ~lo_known & ~hi_known
    return mask


def distrust_text_beside_nulls(nulls: Counts, rows: Counts) -> Mask:
    """P2, hudi#18755: a row group with too long text counts as all null and is missing from the merged range.

    Without any null, or with one row group, none is missing.
    """
    mask: Mask = (nulls != 0) & ((rows > ROWS_IN_ONE_ROW_GROUP) | (rows == UNKNOWN_COUNT))
    return mask


def believe_short_text(sizes: Counts) -> Mask:
    """P2, hudi#18755: where the column's uncompressed size is too small for a value without bounds.

    Each value is written in full once: in a dictionary, in a page, or as suffixes that add up to it. A size of 0 means
    that the writer did not know it, and proves nothing.
    """
    mask: Mask = (sizes > 0) & (sizes < _SHORTEST_LONG_TEXT)
    return mask


def distrust_reordered_text(values: Iterable[str], *, upper: bool) -> Mask:
    """P20: Java compares text by UTF-16 units, SQL by code points. The orders differ above U+FFFF.

    Where the least value in UTF-16 order is not the least by code points, it has a character above U+FFFF; where the
    greatest is not, it has one of U+E000 to U+FFFF. U+FFFD replaces bytes that were not valid text.
    """

    def suspicious(text: str) -> bool:
        if text.isascii():
            return False
        if upper:
            return any("\ue000" <= char <= "\uffff" for char in text)
        return any(char > "\uffff" or char == "\ufffd" for char in text)

    if isinstance(values, StoredBounds) and values.is_ascii():
        return np.zeros(len(values), np.bool_)
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if "".join(listed).isascii():
        return np.zeros(len(listed), np.bool_)
    return np.fromiter((suspicious(text) for text in listed), np.bool_, len(listed))


def distrust_inverted_bounds(lo: Bounds, hi: Bounds) -> Mask:
    """P20, hudi#7032: a lower bound above the upper one proves that one of them is wrong, not which."""
    mask: Mask = np.asarray(lo > hi, np.bool_)
    return mask


def widen_ancient_bounds(bound: Any, of: Type, *, upper: bool) -> tuple[Any, Mask]:
    """P13, P14, SPARK-31404: readers may rebase a value before a cutoff by days, and never rebase later ones.

    The calendars name a day of the years 1 to 1582 at most ten days apart, and zones a moment at most one day: each
    bound of such days is moved outward by ``REBASED_DAYS``. So is an upper bound shortly after the cutoff, as values
    from before it may be read after it. Gives the bounds, and where they are known: before the year 1 none is.

    A column of another type has its bounds as they are.
    """
    if of.kind is not Kind.DATE and not of.kind.is_timestamp:
        return bound, np.ones(len(bound), np.bool_)
    cutoff, day = (ANCIENT_DAY, 1) if of.kind is Kind.DATE else (ANCIENT_MICROS, DAY)
    slack = REBASED_DAYS * day
    ancient = bound < (cutoff + slack if upper else cutoff)
    widened = np.where(ancient, bound + (slack if upper else -slack), bound)
    return widened, bound >= FIRST_DAY * day


def distrust_impossible_counts(nulls: Counts, rows: Counts) -> Mask:
    """P18: more nulls than rows, or a negative count other than "unknown": neither count can be used."""
    mask: Mask = ((rows != UNKNOWN_COUNT) & (nulls > rows)) | (nulls < UNKNOWN_COUNT) | (rows < UNKNOWN_COUNT)
    return mask


def widen_float_as_double(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """P19: readers widen a FLOAT as DOUBLE exactly (0.1 -> 0.10000000149) or by its text (0.1): one step outward."""
    with np.errstate(over="ignore"):
        low = np.nextafter(lo.astype(np.float32), np.float32(-np.inf))
        high = np.nextafter(hi.astype(np.float32), np.float32(np.inf))
    return low.astype(np.float64), high.astype(np.float64)


def widen_millis(bound: npt.NDArray[np.int64], *, upper: bool) -> npt.NDArray[np.int64]:
    """P13, delta-kernel-rs#1002: milliseconds as microseconds; an upper bound may have been cut: plus 999."""
    micros: npt.NDArray[np.int64] = bound * 1000 + (999 if upper else 0)
    return micros


def widen_nanos(bound: npt.NDArray[np.int64], *, upper: bool) -> npt.NDArray[np.int64]:
    """P13: nanoseconds as microseconds, a lower bound rounded down and an upper one up."""
    micros: npt.NDArray[np.int64] = -(-bound // 1000) if upper else bound // 1000
    return micros


def widen_unknown_unit(bound: npt.NDArray[np.int64], *, upper: bool) -> npt.NDArray[np.int64]:
    """P14, hudi#9884: microseconds by the table's schema, which are milliseconds where a writer chose these.

    With ``hoodie.parquet.outputtimestamptype=TIMESTAMP_MILLIS`` Hudi writes files of milliseconds under a schema of
    microseconds, and statistics without a type do not show it. A number that is a moment of the years 1 to 9999 in
    both units, which in microseconds is one of 1968 to 1978, is widened to both; any other is microseconds.
    """
    both = (bound >= _MILLIS_OF_SQL[0]) & (bound <= _MILLIS_OF_SQL[1])
    millis = widen_millis(np.where(both, bound, 0), upper=upper)
    outward: npt.NDArray[np.int64] = np.where(both, (np.maximum if upper else np.minimum)(bound, millis), bound)
    return outward


def rescale_unscaled(unscaled: int, scale: int, wanted: int, *, upper: bool) -> int:
    """P12: an unscaled decimal at another scale, exactly or outward: 1.25 at scale 1 is 1.2 below and 1.3 above."""
    if wanted >= scale:
        return unscaled * int(10 ** (wanted - scale))
    divisor = int(10 ** (scale - wanted))
    return -(-unscaled // divisor) if upper else unscaled // divisor
