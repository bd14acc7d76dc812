"""In which order to read slices for ``ORDER BY column LIMIT n``, and when to stop.

Each slice gets the *best* place that any of its rows may take in the sort. Slices are read best first, and once n rows
are found, reading may stop when the worst of them is at least as good as the best place of every slice that is left:

    rank       the best that a row of the slice may be                        stop before it when the worst row is
    ---------  -------------------------------------------------------------  ------------------------------------
    ANYTHING   NULL, and NULL may sort first                                  NULL, if NULL surely sorts first
    UNKNOWN    any value: a bound is missing, or a NaN cannot be excluded     NULL, if NULL surely sorts first
    BOUNDED    its bound: lo when ascending, hi when descending               at least as good as the bound
    NULLS      NULL, which sorts last: the slice holds nothing else           anything
    NOTHING    the slice holds no row                                         anything

A bound is only a bound (P20): no row need have it. A NULL is excluded where the null count is known to be 0 or the
filter is TRUE for no NULL of the column; a NaN where both bounds are known (P3). Where NULL sorts "either" way, a slice
with NULLs is read first and a NULL is never good enough to stop.

Pitfalls P3, P19 and P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
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
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics, array_dtype

__all__ = ["Nulls", "Rank", "SliceOrder", "SortKey", "order_slices", "rejects_null", "why_unordered"]

Nulls = Literal["first", "last", "either"]
Mask = npt.NDArray[np.bool_]


class Rank(enum.IntEnum):
    """What the best row of a slice may be; a smaller rank sorts before a greater one."""

    ANYTHING = 0
    UNKNOWN = 1
    BOUNDED = 2
    NULLS = 3
    NOTHING = 4


@dataclass(frozen=True, slots=True)
class SortKey:
    """``ORDER BY column [DESC] NULLS first / last``; "either" when it is not known where the engine puts NULL."""

    column: Field
    descending: bool
    nulls: Nulls


@dataclass(frozen=True, slots=True, eq=False)
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

    def best_value(self, place: int) -> Any:
        """The bound of the slice at this place in the value form of ``language.types``; None if it is not BOUNDED."""
        if self.ranks[place] != Rank.BOUNDED:
            return None
        bound = self.bounds[place]
        match self.key.column.type.kind:
            case Kind.DECIMAL:
                return Decimal(int(bound)).scaleb(-self.key.column.type.scale)
            case Kind.BOOLEAN:
                return bool(bound)
            case _:
                return bound.item() if isinstance(bound, np.generic) else bound

    def may_stop(self, read: int, worst: Any, *, ties_matter: bool = False) -> bool:
        """Whether no row of the slices from place ``read`` on can displace a row as good as ``worst``.

        ``worst`` is the worst of the n rows that were found in the slices before: its value of the column, as a Python
        value or in the form of ``language.types``; None is NULL. ``ties_matter``: there are further sort columns, so
        that an equal row may be the better one.
        """
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
    """Why bounds of this column say nothing about the order in which the engine sorts it; None: they do."""
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
    """Whether the filter is TRUE for no row whose column is NULL, whatever the other columns hold."""
    return not evaluate_slice(bound, {column.name: NULL}) & TRUE


def order_slices(
    key: SortKey, statistics: Sequence[ColumnStatistics], slices: npt.NDArray[np.intp], *, without_null: bool = False
) -> SliceOrder:
    """Order these slices, given by index, by what any number of sources know of the column.

    ``without_null``: the rows that are sought hold no NULL in the column (``rejects_null``).
    """
    k = len(slices)
    known = [one.take(slices) for one in statistics if one.type == key.column.type]
    bounds, is_known = _best_bounds(key, known, k)
    null = np.full(k, not without_null, np.bool_)
    value = np.ones(k, np.bool_)
    for one in known:
        value &= one.may_be_value
        if "." not in key.column.name:  # a field of a struct that is NULL is NULL too, but may not be counted (P19)
            null &= one.may_be_null
    ranks = np.where(value, np.where(is_known, Rank.BOUNDED, Rank.UNKNOWN), np.where(null, Rank.NULLS, Rank.NOTHING))
    if key.nulls != "last":
        ranks[null] = Rank.ANYTHING
    order = np.lexsort((_places(bounds, is_known & value, descending=key.descending), ranks))
    return SliceOrder(key, slices[order], ranks[order].astype(np.uint8), bounds[order])


def _best_bounds(key: SortKey, known: Sequence[ColumnStatistics], k: int) -> tuple[npt.NDArray[Any], Mask]:
    """The tightest of the sources' bounds on the side that sorts first, and where there is one."""
    found: list[tuple[npt.NDArray[Any], Mask]] = []
    for one in known:
        bound, is_known = (one.hi, one.hi_known) if key.descending else (one.lo, one.lo_known)
        if one.type.kind.is_fractional:
            is_known = one.usable_bounds[0]
        found.append((np.asarray(bound), is_known))
    if not found:
        return np.zeros(k, array_dtype(key.column.type)), np.zeros(k, np.bool_)

    def tighter(a: tuple[npt.NDArray[Any], Mask], b: tuple[npt.NDArray[Any], Mask]) -> tuple[npt.NDArray[Any], Mask]:
        take = b[1] & (~a[1] | np.asarray(b[0] < a[0] if key.descending else b[0] > a[0], np.bool_))
        return np.where(take, b[0], a[0]), a[1] | b[1]

    return reduce(tighter, found)


def _places(bounds: npt.NDArray[Any], is_known: Mask, *, descending: bool) -> npt.NDArray[np.intp]:
    """The place of each bound among the known ones, equal ones in slice order; 0 where it is not known."""
    chosen = np.flatnonzero(is_known)
    distinct, place = np.unique(bounds[chosen], return_inverse=True)
    places = np.zeros(len(bounds), np.intp)
    places[chosen] = len(distinct) - place.reshape(-1) if descending else place.reshape(-1) + 1
    return places


def _comparable(value: Any, column: Field) -> Any:
    """A value in a form that compares with the column's bounds exactly. Raises ValueError for one that cannot."""
    kind = column.type.kind
    if isinstance(value, datetime):
        if (kind is Kind.TIMESTAMP_LTZ) != (value.tzinfo is not None):
            raise ValueError(
                f"{column.name} is {column.type}: give a datetime with"
                f"{'' if kind is Kind.TIMESTAMP_LTZ else 'out'} a time zone"
            )
        wall = value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
        return (wall - EPOCH) // MICROSECOND
    if isinstance(value, date):
        return (value - EPOCH.date()).days
    if kind is Kind.DECIMAL:
        return Fraction(value) * 10**column.type.scale
    return int(value) if isinstance(value, bool) else value
