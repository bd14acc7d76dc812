"""The order in which to read slices for ``ORDER BY column LIMIT n``, and the test whether reading may stop.

A slice is ranked by the *best* row that it may hold, the one that would sort first. Slices are read best first. Once n
rows are found, reading may stop when the worst of them sorts no later than the best possible row of every unread slice:

    rank       the best row that the slice may hold                           stop before it when the worst row is
    ---------  -------------------------------------------------------------  ------------------------------------
    ANYTHING   NULL, and NULL may sort first                                  NULL, if NULL surely sorts first
    UNKNOWN    any value: a bound is missing, or a NaN cannot be excluded     NULL, if NULL surely sorts first
    BOUNDED    its bound: lo when ascending, hi when descending               at least as good as the bound
    NULLS      NULL, which sorts last: the slice holds nothing else           anything
    NOTHING    none: the slice holds no row                                   anything

    ORDER BY fare LIMIT 2    slices [3, 17], [20, 80], [60, 90]    found 4 and 9 in the first: stop, as 9 < 20

A bound need not be the value of a row (P20). A NULL is excluded where the null count is known to be 0, or where the
filter is TRUE for no NULL of the column. A NaN is excluded where both bounds are known (P3). Where NULL sorts "either"
way, a slice with NULLs is read first, and a NULL as the worst row never allows to stop. P3, P19 and P20 are described
in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.evaluate import evaluate_slice
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.interval import NULL
from evaluator.language.outcome import TRUE
from evaluator.language.records import entity, record
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics, array_dtype
from evaluator.statistics.stored_bounds import plain_value

__all__ = ["Nulls", "Rank", "SliceOrder", "SortKey", "order_slices", "rejects_null", "why_unordered"]

Nulls = Literal["first", "last", "either"]
Mask = npt.NDArray[np.bool_]


class Rank(enum.IntEnum):
    """The best row that a slice may hold; a smaller rank sorts before a greater one."""

    ANYTHING = 0
    UNKNOWN = 1
    BOUNDED = 2
    NULLS = 3
    NOTHING = 4


@record
class SortKey:
    """``ORDER BY column [DESC] NULLS first / last``; "either": the engine's order of NULL is not known."""

    column: Field
    descending: bool
    nulls: Nulls


@entity
class SliceOrder:
    """k slices in the order in which to read them.

    slices   ``(k,) intp``, indices
    ranks    ``(k,) uint8``, codes of ``Rank``, never falling
    bounds   ``(k,)`` of ``array_dtype(key.column.type)``: the best value of each slice of rank BOUNDED
    """

    key: SortKey
    slices: npt.NDArray[np.intp]
    ranks: npt.NDArray[np.uint8]
    bounds: npt.NDArray[Any]

    def best_value(self, position: int) -> Any:
        """The bound of the slice at this position as a value of ``language.types``; None where it is not BOUNDED."""
        if self.ranks[position] != Rank.BOUNDED:
            return None
        bound = self.bounds[position]
        match self.key.column.type.kind:
            case Kind.DECIMAL:
                return Decimal(int(bound)).scaleb(-self.key.column.type.scale)
            case Kind.BOOLEAN:
                return bool(bound)
            case _:
                return plain_value(bound)

    def may_stop(self, read: int, worst: Any, *, ties_matter: bool = False) -> bool:
        """Whether no row of the slices from position ``read`` on can sort before a row like ``worst``.

        ``worst`` is the value of the column in the worst of the n rows found so far, as a Python value or in the form
        of ``language.types``; None is NULL. ``ties_matter``: further sort columns may put an equal row first.
        """
        if not isinstance(read, int) or isinstance(read, bool):
            raise TypeError(f"read is the number of slices that were read, not {type(read).__name__}")
        if read < 0:
            raise ValueError(f"read is {read}: give the number of slices that were read, from 0 on")
        if read >= len(self.slices) or self.ranks[read] == Rank.NOTHING:
            return True
        rank = self.ranks[read]
        if worst is None:
            return not ties_matter and (self.key.nulls == "first" or rank == Rank.NULLS)
        if rank != Rank.BOUNDED:
            return bool(rank == Rank.NULLS)
        value, bound = _comparable(worst, self.key.column), self.bounds[read]
        if isinstance(value, float) and (math.isnan(value) or value == bound == 0.0):
            return False  # engines place NaN and the two zeros differently
        if value == bound:
            return not ties_matter
        return bool(value > bound if self.key.descending else value < bound)


def why_unordered(column: Field, semantics: Semantics) -> str | None:
    """Why bounds of this column do not bound the engine's sort order; None where they do."""
    match column.type.kind:
        case Kind.CHAR:
            return "CHAR may be stored padded or not, and sorts without its padding"
        case Kind.OTHER | Kind.VOID:
            return f"{column.type} has no bounds"
        case Kind.TIMESTAMP_LTZ if semantics.utc_timestamps and not semantics.is_utc:
            return "the engine may sort instants by wall clock, which goes back when clocks are set back"
        case _:
            return None


def rejects_null(bound: BoundExpression, column: Field) -> bool:
    """Whether the filter is TRUE for no row whose column is NULL, whatever values the other columns have."""
    return not evaluate_slice(bound, {column.name: NULL}) & TRUE


def order_slices(
    key: SortKey, statistics: Sequence[ColumnStatistics], slices: npt.NDArray[np.intp], *, without_null: bool = False
) -> SliceOrder:
    """Order these slices, given by index, by the statistics of the column from any number of index kinds.

    ``without_null``: no row that the query wants has NULL in the column (``rejects_null``).
    """
    k = len(slices)
    known = [column.take(slices) for column in statistics if column.type == key.column.type]
    bounds, is_known = _best_bounds(key, known, k)
    null = np.full(k, not without_null, np.bool_)
    value = np.ones(k, np.bool_)
    for column in known:
        value &= column.may_be_value
        if "." not in key.column.name:  # a field of a struct that is NULL is NULL too, but may not be counted (P19)
            null &= column.may_be_null
    ranks = np.where(value, np.where(is_known, Rank.BOUNDED, Rank.UNKNOWN), np.where(null, Rank.NULLS, Rank.NOTHING))
    if key.nulls != "last":
        ranks[null] = Rank.ANYTHING
    order = np.lexsort((_order_of(bounds, is_known & value, descending=key.descending), ranks))
    return SliceOrder(key, slices[order], ranks[order].astype(np.uint8), bounds[order])


def _best_bounds(key: SortKey, known: Sequence[ColumnStatistics], k: int) -> tuple[npt.NDArray[Any], Mask]:
    """The tightest bound of any index kind on the side that sorts first, and a mask of where there is one."""
    candidates: list[tuple[npt.NDArray[Any], Mask]] = []
    for column in known:
        bound, is_known = (column.hi, column.hi_known) if key.descending else (column.lo, column.lo_known)
        if column.type.kind.is_fractional:
            is_known = column.usable_bounds[0]
        candidates.append((np.asarray(bound), is_known))
    if not candidates:
        return np.zeros(k, array_dtype(key.column.type)), np.zeros(k, np.bool_)

    def tighter(a: tuple[npt.NDArray[Any], Mask], b: tuple[npt.NDArray[Any], Mask]) -> tuple[npt.NDArray[Any], Mask]:
        take = b[1] & (~a[1] | np.asarray(b[0] < a[0] if key.descending else b[0] > a[0], np.bool_))
        return np.where(take, b[0], a[0]), a[1] | b[1]

    return reduce(tighter, candidates)


def _order_of(bounds: npt.NDArray[Any], is_known: Mask, *, descending: bool) -> npt.NDArray[np.intp]:
    """Sort keys of the known bounds, equal for equal bounds; 0 where a bound is not known."""
    rows = np.flatnonzero(is_known)
    distinct, rank = np.unique(bounds[rows], return_inverse=True)
    ranks = np.zeros(len(bounds), np.intp)
    ranks[rows] = len(distinct) - rank.reshape(-1) if descending else rank.reshape(-1) + 1
    return ranks


def _comparable(value: Any, column: Field) -> Any:
    """A value in a form that compares exactly with the column's bounds. Raises ValueError where there is none."""
    kind = column.type.kind
    if isinstance(value, datetime):
        if (kind is Kind.TIMESTAMP_LTZ) != (value.tzinfo is not None):
            raise ValueError(
                f"{column.name} is {column.type}: give a datetime with"
                f"{'' if kind is Kind.TIMESTAMP_LTZ else 'out'} a time zone"
            )
        wall_clock = value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
        return (wall_clock - EPOCH) // MICROSECOND
    if isinstance(value, date):
        return (value - EPOCH.date()).days
    if kind is Kind.DECIMAL:
        return Fraction(value) * 10**column.type.scale
    return int(value) if isinstance(value, bool) else value
