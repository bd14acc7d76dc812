"""The ranges of a column in the file slices as a picture: min to max of each, in order, on a line from 0 to 1.

    i = 100            lo                              hi
    slice 4            |--|                                        clustered: one range holds the constant
    slice 0               |---|
    slice 2                   |---------------|                    wide: most constants are in it
                          ^ 100

Numbers, dates and moments stand on the line by value. Texts, and numbers of which nearly all lie close together, stand
by rank: equal distances between neighbours. Of many slices evenly spaced ones of the sorted order are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Comparison, Fixed, IntervalSets, Membership, NullTest, OutOfRange, Prefix, Test
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.records import frozen
from evaluator.language.types import Type
from evaluator.language.value_texts import ordinal_text
from evaluator.statistics.columns import ColumnStatistics

__all__ = ["FileRanges", "Mark", "constants_of", "file_ranges", "most_known"]

#: Ranges that are drawn at most, and slices whose values are ranked.
MAX_RANGES, MAX_RANKED = 240, 20_000
#: Constants that are drawn at most.
MAX_MARKS = 24
#: Values stand by rank when the middle 90 % of them take less than this share of the line.
_CROWDED = 0.05

Positions = npt.NDArray[np.float64]


@frozen
class Mark:
    """A constant of the condition: its place on the line from 0 to 1, and how it is written."""

    at: float
    text: str


@frozen(eq=False, kw_only=True)
class FileRanges:
    """The ranges of one column.

    lo, hi          ``(k,)`` from 0 to 1, by lower bound: of the slices that are drawn
    slices          ``(k,)``: the index of each
    marks           the constants of the condition
    least, greatest the ends of the line as text
    known, unknown  how many slices have both bounds, and how many have not
    by_rank         whether distances on the line mean nothing
    typical_width   the median share of the line that a drawn range takes
    """

    column: str
    type: Type
    lo: Positions
    hi: Positions
    slices: npt.NDArray[np.int64]
    marks: tuple[Mark, ...]
    least: str
    greatest: str
    known: int
    unknown: int
    by_rank: bool

    @property
    def typical_width(self) -> float:
        """The median share of the line that a drawn range takes."""
        return float(np.median(self.hi - self.lo)) if len(self.lo) else 0.0


def most_known(providers: Sequence[StatisticsProvider], column: str) -> tuple[str, ColumnStatistics] | None:
    """The name and the statistics of the provider that knows both bounds in most slices; None if no one does."""
    best: tuple[int, str, ColumnStatistics] | None = None
    for provider in providers:
        if column in provider.statistics:
            statistics = provider.statistics[column]
            known = int(np.count_nonzero(statistics.lo_known & statistics.hi_known))
            if known and (best is None or known > best[0]):
                best = known, provider.name, statistics
    return None if best is None else best[1:]


def constants_of(test: Test) -> tuple[str, tuple[Any, ...]] | None:
    """The column of a test of a bare column, and the constants that it is compared with, as in statistics' arrays."""
    match test:
        case Comparison(left=BoundColumn(field=field), right=BoundConstant() as constant):
            return field.name, _ends(constant)
        case Comparison(left=BoundConstant() as constant, right=BoundColumn(field=field)):
            return field.name, _ends(constant)
        case Membership(operand=BoundColumn(field=field), members=members):
            return field.name, tuple(members.values[:MAX_MARKS])
        case Prefix(operand=BoundColumn(field=field), prefix=prefix):
            return field.name, _ends(prefix)
        case NullTest() | OutOfRange() | IntervalSets() | Fixed():
            return None
        case _:
            return None


def _ends(constant: BoundConstant) -> tuple[Any, ...]:
    ends = (constant.interval.lo, constant.interval.hi)
    return tuple(dict.fromkeys(end for end in ends if end is not None))


def file_ranges(column: str, statistics: ColumnStatistics, constants: Sequence[Any] = ()) -> FileRanges | None:
    """The ranges of a column, to be drawn; None where no slice has both bounds, or values have no order to draw."""
    rows = np.flatnonzero(statistics.lo_known & statistics.hi_known & statistics.may_be_value).astype(np.int64)
    known = len(rows)
    if not known:
        return None
    if known > MAX_RANKED:
        rows = rows[np.linspace(0, known - 1, MAX_RANKED).astype(np.intp)]
    values = list(constants)
    try:
        lo, hi, at, by_rank = _placed(statistics, rows, values)
    except (TypeError, ValueError, OverflowError):  # a constant of another form than the column's
        values = []
        try:
            lo, hi, at, by_rank = _placed(statistics, rows, values)
        except (TypeError, ValueError, OverflowError):
            return None
    least = ordinal_text(statistics.lo[int(rows[int(np.argmin(lo))])], statistics.type)
    greatest = ordinal_text(statistics.hi[int(rows[int(np.argmax(hi))])], statistics.type)
    order = np.lexsort((hi, lo))
    if len(order) > MAX_RANGES:
        order = order[np.linspace(0, len(order) - 1, MAX_RANGES).astype(np.intp)]
    marks = tuple(
        Mark(float(place), ordinal_text(value, statistics.type)) for place, value in zip(at, values, strict=True)
    )
    return FileRanges(
        column=column,
        type=statistics.type,
        lo=lo[order],
        hi=hi[order],
        slices=rows[order],
        marks=marks,
        least=least,
        greatest=greatest,
        known=known,
        unknown=len(statistics) - known,
        by_rank=by_rank,
    )


def _placed(
    statistics: ColumnStatistics, rows: npt.NDArray[np.int64], constants: Sequence[Any]
) -> tuple[Positions, Positions, Positions, bool]:
    """Lower bounds, upper bounds and constants on the line, and whether by rank."""
    los, his = statistics.lo[rows], statistics.hi[rows]
    if los.dtype != object:
        numbers = np.concatenate([los.astype(np.float64), his.astype(np.float64)])
        wanted = np.array([float(value) for value in constants], np.float64)
        finite = numbers[np.isfinite(numbers)]
        if len(finite) == len(numbers) and not _is_crowded(numbers):
            least, greatest = float(numbers.min()), float(numbers.max())
            width = greatest - least
            if 0 < width < float("inf"):
                places = (np.concatenate([numbers, wanted]) - least) / width
                return _split(places, len(rows), by_rank=False)
        distinct, ranks = np.unique(numbers, return_inverse=True)
        spread = max(len(distinct) - 1, 1)
        return _split(
            np.concatenate([ranks.reshape(-1) / spread, _between(distinct, wanted) / spread]), len(rows), by_rank=True
        )
    texts = np.concatenate([los, his])
    distinct = np.array(sorted(set(texts.tolist())), object)
    ranks = np.searchsorted(distinct, texts)
    spread = max(len(distinct) - 1, 1)
    wanted = np.empty(len(constants), object)
    wanted[:] = list(constants)
    return _split(np.concatenate([ranks / spread, _between(distinct, wanted) / spread]), len(rows), by_rank=True)


def _between(distinct: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Positions:
    """The rank of each constant; half a rank below the next value for one that is no bound."""
    left = np.searchsorted(distinct, wanted, "left")
    is_bound = np.searchsorted(distinct, wanted, "right") > left
    places: Positions = np.where(is_bound, left, left - 0.5).astype(np.float64)
    return places


def _is_crowded(numbers: Positions) -> bool:
    low, high = np.quantile(numbers, (0.05, 0.95))
    return bool((high - low) < _CROWDED * (numbers.max() - numbers.min()))


def _split(places: Positions, k: int, *, by_rank: bool) -> tuple[Positions, Positions, Positions, bool]:
    shown = np.nan_to_num(places.astype(np.float64), nan=1.0, posinf=1.0, neginf=0.0)
    return np.clip(shown[:k], 0, 1), np.clip(shown[k : 2 * k], 0, 1), np.clip(shown[2 * k :], -0.04, 1.04), by_rank
