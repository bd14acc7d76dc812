"""Statistics of one column over all slices, as arrays. An index kind provides them, the rules read them.

    slice  lo   hi   lo_known  hi_known  null_count  row_count     meaning
    0       3   17   True      True       0          100           every value in [3, 17], no NULL
    1       0   40   False     True      -1          100           values up to 40; NULL possible
    2       0    0   False     False     50           50           nothing but NULL

The contract: ``lo[i] <= x <= hi[i]`` for every non-null x of slice i, wherever the bound is known. A bound that is not
known holds a ``filler`` and is masked; a rule sees "unknown", never the filler. A bound need not be a value that occurs
(docs/facts/pitfalls.md#p20).

Values stand in *ordinal* form, in which the arrays' order is the type's order: DATE as days and TIMESTAMP as
microseconds since 1970, DECIMAL as its unscaled integer, BOOLEAN as 0 and 1 (``to_ordinal``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.records import entity, frozen
from evaluator.language.types import Kind, Type
from evaluator.statistics.codes import Codes, sort_keys
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.groups import Bound, SliceGroup, slice_groups
from evaluator.statistics.ordered_bounds import AscendingOrder
from evaluator.statistics.ranges import GREATEST, LEAST
from evaluator.statistics.ranks import Ranks
from evaluator.statistics.stored_bounds import Bounds, taken

__all__ = [
    "UNKNOWN_COUNT",
    "ColumnStatistics",
    "PartStatistics",
    "PlainBounds",
    "array_dtype",
    "byte_mask",
    "filler",
    "from_values",
    "to_ordinal",
]

#: A count (of nulls, of rows) that is not known.
UNKNOWN_COUNT = -1

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]


@frozen(slots=False, eq=False)
class ColumnStatistics:
    """Bounds and counts of one column over n slices.

    lo, hi              ``(n,)`` of ``array_dtype(type)``; text, binary and wide decimals may be ``StoredBounds``, and
                        numbers ``PackedNumbers``, as may counts
    lo_known, hi_known  ``(n,) bool``
    null_count          ``(n,) int64``, ``UNKNOWN_COUNT`` where not known; of a merged slice an upper bound (0 is exact)
    row_count           ``(n,) int64``, ``UNKNOWN_COUNT`` where not known; null_count == row_count means all null
    parts               the same by part of a slice (its files, or values within them), where it is known
    index               the search index that ``indexing.with_index`` builds
    ranks               ranks of text, binary and wide decimals, which ``indexing.with_ranks`` makes
    trust               ``(n,) uint8``, codes of ``statistics.distrust.Trust``: why a statistic is missing or distrusted
    """

    type: Type
    lo: Bounds
    hi: Bounds
    _: KW_ONLY
    lo_known: Mask
    hi_known: Mask
    null_count: Counts
    row_count: Counts
    trust: npt.NDArray[np.uint8]
    parts: PartStatistics | None = None
    index: ColumnIndex | None = None
    ranks: Ranks | None = None

    def __len__(self) -> int:
        return len(self.lo)

    @cached_property
    def usable_bounds(self) -> tuple[Mask, Mask]:
        """``(n,) bool`` twice: where the lower and the upper bound bound every value.

        NaN may be among floating-point values unless both bounds are known, and has no place in an order
        (docs/facts/pitfalls.md#p3).
        """
        if not self.type.kind.is_fractional:
            return self.lo_known, self.hi_known
        known = _bound_all(self.lo, self.hi, self.lo_known & self.hi_known)
        return known, known

    @cached_property
    def may_be_null(self) -> Mask:
        """``(n,) bool``: neither the null count nor the row count is known to be 0."""
        mask: Mask = (self.null_count != 0) & (self.row_count != 0)
        return mask

    @cached_property
    def may_be_value(self) -> Mask:
        """``(n,) bool``: the null count is not known to be the row count, and that not to be 0."""
        return _may_be_value(self.null_count, self.row_count)

    def knows_range(self, rows: npt.NDArray[np.intp]) -> Mask:
        """``(k,) bool``: slices with both ``usable_bounds`` or without a value, for a few; no mask of all is made."""
        known = self.lo_known[rows] & self.hi_known[rows]
        if self.type.kind.is_fractional:
            known = _bound_all(self.lo[rows], self.hi[rows], known)
        return known | ~_may_be_value(self.null_count[rows], self.row_count[rows])

    @cached_property
    def any_null(self) -> bool | Mask:
        """``may_be_null``; one flag where it is the same in all slices."""
        return _uniform(self.may_be_null)

    @cached_property
    def any_value(self) -> bool | Mask:
        """``may_be_value``; one flag where it is the same in all slices."""
        return _uniform(self.may_be_value)

    @property
    def uniform_flags(self) -> dict[str, bool | list[bool]]:
        """Those of ``any_null``, ``any_value`` and ``unknown_bounds`` that are the same in all slices."""
        flags: dict[str, bool | list[bool]] = {
            name: flag for name in ("any_null", "any_value") if isinstance(flag := getattr(self, name), bool)
        }
        unknown = [flag for flag in self.unknown_bounds if isinstance(flag, bool)]
        return flags | ({"unknown_bounds": unknown} if len(unknown) == 2 else {})

    def knowing(self, flags: Mapping[str, bool | Sequence[bool]]) -> ColumnStatistics:
        """The same statistics, whose ``uniform_flags`` are these, so that they are not counted again."""
        found = replace(self)
        found.__dict__.update({name: flag if isinstance(flag, bool) else tuple(flag) for name, flag in flags.items()})
        return found

    @cached_property
    def unknown_bounds(self) -> tuple[bool | Mask, bool | Mask]:
        """Where the lower and the upper bound are unknown; one flag each where that is the same in all slices."""
        lo_known, hi_known = self.usable_bounds
        return _uniform(~lo_known), _uniform(~hi_known)

    @cached_property
    def order_of_lo(self) -> AscendingOrder:
        """The order of the lower bounds, known or not."""
        return AscendingOrder.of(self.lo)

    @cached_property
    def plain(self) -> PlainBounds:
        """The same statistics as plain Python values, for a few slices."""
        lo, hi = self.lo.tolist(), self.hi.tolist()
        lo_known, hi_known = (known.tolist() for known in self.usable_bounds)
        value = self.may_be_value.tolist()
        slices = range(len(lo))
        return PlainBounds(
            [(lo[i] if lo_known[i] else LEAST) if value[i] else GREATEST for i in slices],
            [(hi[i] if hi_known[i] else GREATEST) if value[i] else LEAST for i in slices],
            byte_mask(self.may_be_null),
            byte_mask(self.may_be_value),
        )

    @cached_property
    def groups(self) -> list[SliceGroup]:
        """Groups of slices that differ in nothing but their bounds, each sorted by the bounds."""
        lo_known, hi_known = self.usable_bounds
        lo_codes, hi_codes = (None, None) if self.index is None else (self.index.lo.codes, self.index.hi.codes)
        return slice_groups(
            Bound(self.lo, lo_known, self._sort_keys(self.lo, lo_codes)),
            Bound(self.hi, hi_known, self._sort_keys(self.hi, hi_codes)),
            self.may_be_null,
            self.may_be_value,
        )

    def _sort_keys(self, bounds: Bounds, codes: Codes | None) -> Callable[[npt.NDArray[np.intp]], npt.NDArray[Any]]:
        if codes is not None:
            return lambda rows: codes[rows]
        return lambda rows: sort_keys(self.type, taken(bounds, rows))

    def take(self, indices: npt.NDArray[Any]) -> ColumnStatistics:
        """The statistics of some slices only, by index or by mask, in that order; without index."""
        parts = None if self.parts is None else self.parts.take(indices, len(self))
        return ColumnStatistics(
            self.type,
            taken(self.lo, indices),
            taken(self.hi, indices),
            lo_known=self.lo_known[indices],
            hi_known=self.hi_known[indices],
            null_count=self.null_count[indices],
            row_count=self.row_count[indices],
            trust=self.trust[indices],
            parts=parts,
        )

    def scattered(self, rows: npt.NDArray[Any], n: int, trust_of_others: int) -> ColumnStatistics:
        """The statistics of n slices, of which these are the distinct ``rows``; the others are unknown."""
        lo, hi = (np.full(n, filler(self.type), array_dtype(self.type)) for _ in range(2))
        lo_known, hi_known = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        null_count, row_count = np.full(n, UNKNOWN_COUNT, np.int64), np.full(n, UNKNOWN_COUNT, np.int64)
        trust = np.full(n, trust_of_others, np.uint8)
        lo[rows], hi[rows], lo_known[rows], hi_known[rows] = self.lo, self.hi, self.lo_known, self.hi_known
        null_count[rows], row_count[rows], trust[rows] = self.null_count, self.row_count, self.trust
        return ColumnStatistics(
            self.type,
            lo,
            hi,
            lo_known=lo_known,
            hi_known=hi_known,
            null_count=null_count,
            row_count=row_count,
            trust=trust,
            parts=None if self.parts is None else PartStatistics(self.parts.statistics, rows[self.parts.slice_of]),
        )

    @classmethod
    def unknown(cls, column_type: Type, n: int, trust: int = 0) -> ColumnStatistics:
        """Statistics of n slices in which nothing is known of the column."""
        empty = np.full(n, filler(column_type), array_dtype(column_type))
        unset = np.zeros(n, np.bool_)
        count = np.full(n, UNKNOWN_COUNT, np.int64)
        return cls(
            column_type,
            empty,
            empty,
            lo_known=unset,
            hi_known=unset,
            null_count=count,
            row_count=count,
            trust=np.full(n, trust, np.uint8),
        )


def _bound_all(lo: Bounds, hi: Bounds, known: Mask) -> Mask:
    """Where floating-point bounds, both of them known, bound every value: neither is NaN."""
    mask: Mask = known & ~np.isnan(lo) & ~np.isnan(hi)
    return mask


def _may_be_value(null_count: Counts, row_count: Counts) -> Mask:
    mask: Mask = ((null_count != row_count) & (row_count != 0)) | (row_count == UNKNOWN_COUNT)
    return mask


@entity
class PlainBounds:
    """Bounds of a column in a few slices as lists, ``LEAST`` and ``GREATEST`` where ``ranges.Range`` says so.

    ``null`` and ``value`` are integers with a byte per slice: 1 where NULL, or a value, may occur.
    """

    lo: list[Any]
    hi: list[Any]
    null: int
    value: int


def byte_mask(values: Mask | npt.NDArray[np.uint8]) -> int:
    """The flags, or outcomes, of some slices as one integer: a byte per slice, the first slice lowest."""
    return int.from_bytes(values.tobytes(), "little")


@frozen(eq=False)
class PartStatistics:
    """Statistics of one column by part of a slice: ``slice_of[j]``, ``(p,) intp``, is the slice of part j.

    A part is one of the files of a slice, or what a sketch knows apart within a file: one value, or one prefix. Every
    value of the column in the slice lies in one of the slice's parts, so a leaf over this one column has the union of
    its outcomes in the parts. That is tighter than its outcome on the bounds of the whole slice, which also span the
    gaps between the parts:

        slice  [1, 900]     parts  [1, 40] and [800, 900]     x = 500: possible by the slice, impossible by the parts
    """

    statistics: ColumnStatistics
    slice_of: npt.NDArray[np.intp]

    def take(self, indices: npt.NDArray[Any], n: int) -> PartStatistics:
        """The parts of some of n slices, by index or by mask, which must not name a slice twice."""
        new_number = np.full(n, -1, np.intp)
        rows = np.flatnonzero(indices) if indices.dtype == np.bool_ else indices
        new_number[rows] = np.arange(len(rows))
        wanted = np.flatnonzero(new_number[self.slice_of] >= 0)
        return PartStatistics(self.statistics.take(wanted), new_number[self.slice_of[wanted]])


def _uniform(flags: Mask) -> bool | Mask:
    count = int(np.count_nonzero(flags))
    return False if count == 0 else True if count == len(flags) else flags


def array_dtype(column_type: Type) -> np.dtype[Any]:
    """The numpy dtype that holds the bounds of this type."""
    match column_type.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return np.dtype(np.float64)
        case Kind.DECIMAL:
            return np.dtype(np.int64) if column_type.precision <= 18 else np.dtype(object)
        case Kind.STRING | Kind.CHAR | Kind.VARCHAR | Kind.BINARY | Kind.VOID | Kind.OTHER:
            return np.dtype(object)
        case _:
            return np.dtype(np.int64)


def filler(column_type: Type) -> object:
    """A harmless value to stand under a mask: it compares with every value of the type."""
    match column_type.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return 0.0
        case Kind.BINARY:
            return b""
        case Kind.STRING | Kind.CHAR | Kind.VARCHAR:
            return ""
        case _:
            return 0


def to_ordinal(value: Any, column_type: Type) -> Any:
    """A value in the form that arrays hold: a decimal becomes its unscaled integer, a boolean 0 or 1.

    Raises ValueError for a decimal that the type's scale cannot hold exactly.
    """
    match column_type.kind:
        case Kind.DECIMAL:
            sign, digits, exponent = Decimal(value).as_tuple()
            if not isinstance(exponent, int):
                raise ValueError(f"{value} is not a number")
            unscaled = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
            shift = exponent + column_type.scale
            if shift >= 0:
                return unscaled * 10**shift
            if unscaled % 10**-shift:
                raise ValueError(f"{value} does not fit {column_type}")
            return unscaled // 10**-shift
        case Kind.BOOLEAN:
            return int(value)
        case _:
            return value


def from_values(
    column_type: Type,
    lo: Sequence[Any],
    hi: Sequence[Any],
    null_count: Sequence[int | None] | None = None,
    row_count: Sequence[int | None] | None = None,
) -> ColumnStatistics:
    """Statistics of some slices from Python values, one element per slice; None is an unknown bound or count.

    The bounds are values of ``language.types``: a Decimal for DECIMAL, days for DATE. Raises ValueError for a decimal
    that does not fit the scale of the type.
    """
    n = len(lo)

    def bounds(values: Sequence[Any]) -> tuple[Bounds, Mask]:
        known = np.array([v is not None for v in values], np.bool_)
        array = np.full(n, filler(column_type), array_dtype(column_type))
        for i, value in enumerate(values):
            if value is not None:
                array[i] = to_ordinal(value, column_type)
        return array, known

    def counts(values: Sequence[int | None] | None) -> Counts:
        given: Sequence[int | None] = [None] * n if values is None else values
        return np.array([UNKNOWN_COUNT if v is None else v for v in given], np.int64)

    lo_array, lo_known = bounds(lo)
    hi_array, hi_known = bounds(hi)
    return ColumnStatistics(
        column_type,
        lo_array,
        hi_array,
        lo_known=lo_known,
        hi_known=hi_known,
        null_count=counts(null_count),
        row_count=counts(row_count),
        trust=np.zeros(n, np.uint8),
    )
