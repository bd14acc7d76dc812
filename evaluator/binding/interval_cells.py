"""The cells of a column's values between which the truth of conditions may change: constants, the gaps between, NULL.

    i > 0 AND i < 9      ( , 0)  0  (0, 9)  9  (9, )  NULL

In each cell a test has one outcome, which holds for every value of the cell. NaN is in the last gap, where every
comparison of a column that may have it is open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evaluator.binding import rules
from evaluator.binding.leaves import Comparison, Membership, NullTest, Piece, Prefix, Test, possible_values
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.language import outcome
from evaluator.language.interval import Interval
from evaluator.language.types import Kind, Type
from evaluator.statistics.ranges import GREATEST, LEAST, Range, range_of

__all__ = ["Cells", "constants_of", "ends_of", "is_discrete"]

_BOTH = outcome.TRUE | outcome.FALSE


def is_discrete(of: Type) -> bool:
    """Whether each value of the type has a next one."""
    return of.kind.is_integer or of.kind in (Kind.DATE, Kind.BOOLEAN)


def ends_of(of: Type) -> tuple[float, float]:
    """The least and the greatest value of a discrete type, as far as conditions on it are judged by them."""
    return (0, 1) if of.kind is Kind.BOOLEAN else (-math.inf, math.inf)


def constants_of(test: Test) -> list[Any]:
    """The values at which the truth of a test may change."""
    match test:
        case Comparison(right=BoundConstant(interval=constant)):
            return [constant.lo, constant.hi]
        case Membership(members=members):
            return list(members.values)
        case Prefix(prefix=prefix, successor=successor):
            return [prefix.interval.lo] if successor is None else [prefix.interval.lo, successor.interval.lo]
        case _:
            return []


class _Between:
    """Any value in the gap between two constants, as far as constants can tell: the rules compare it with them."""

    __slots__ = ("_above", "_below", "_is_first", "_is_last")

    def __init__(self, below: Any, above: Sequence[Any], *, is_first: bool) -> None:
        self._below: Any = below
        self._above: Any = above[0] if above else None
        self._is_first, self._is_last = is_first, not above

    def __lt__(self, other: object) -> bool:
        return other is not self and not self._is_last and self._above <= other

    def __gt__(self, other: object) -> bool:
        return other is not self and not self._is_first and self._below >= other

    def __le__(self, other: object) -> bool:
        return other is self or self < other

    def __ge__(self, other: object) -> bool:
        return other is self or self > other


class Cells:
    """Gap, constant, gap, ..., constant, gap, and NULL last."""

    def __init__(self, constants: list[Any], column: BoundColumn) -> None:
        self._constants = constants
        self._type = column.type
        self._count = 2 * len(constants) + 1

    def outcomes(self, test: Test) -> list[int]:
        """The outcome of a test in each cell, and for NULL."""
        cells = [self._outcome(test, number) for number in range(self._count)]
        nothing = Range(GREATEST, LEAST, True, False)
        return [*cells, int(rules.pack(possible_values(test, lambda operand: _range(operand, nothing))))]

    def _outcome(self, test: Test, number: int) -> int:
        at, is_constant = divmod(number, 2)
        if is_constant:
            constant = self._constants[at]
            single = Range(constant, constant, False, True)
            return int(rules.pack(possible_values(test, lambda operand: _range(operand, single))))
        if self._type.kind.is_fractional and number == self._count - 1:  # NaN
            if isinstance(test, NullTest):
                return outcome.FALSE
            has_null = isinstance(test, Membership) and test.members.has_null
            return _BOTH | outcome.NULL if has_null else _BOTH
        between = _Between(self._constants[at - 1] if at else None, self._constants[at : at + 1], is_first=at == 0)
        gap = Range(between, between, False, True)
        return int(rules.pack(possible_values(test, lambda operand: _range(operand, gap))))

    def pieces(self, outcomes: Sequence[int], bit: int) -> tuple[Piece, ...]:
        """The intervals of the cells with this bit; neighbours are joined."""
        found: list[Piece] = []
        start: int | None = None
        numbers = [number for number in range(self._count) if not self._is_empty(number)]
        for place, number in enumerate(numbers):
            if outcomes[number] & bit and start is None:
                start = number
            if start is not None and not outcomes[number] & bit:
                found.append(self._piece(start, numbers[place - 1]))
                start = None
        if start is not None:
            found.append(self._piece(start, numbers[-1]))
        return tuple(found)

    def _is_empty(self, number: int) -> bool:
        """Whether a gap holds no value of the type."""
        if number % 2 or not is_discrete(self._type):
            return False
        least, greatest = ends_of(self._type)
        at = number // 2
        below = self._constants[at - 1] if at else least - 1
        above = self._constants[at] if at < len(self._constants) else greatest + 1
        return bool(above - below < 2)

    def _piece(self, first: int, last: int) -> Piece:
        lo = self._constants[first // 2 - (first % 2 == 0)] if first else None
        hi = self._constants[last // 2] if last < self._count - 1 else None
        lo_open, hi_open = first % 2 == 0, last % 2 == 0
        if is_discrete(self._type):
            lo, lo_open = (lo if lo is None else lo + lo_open), False
            hi, hi_open = (hi if hi is None else hi - hi_open), False
        return Piece(self._end(lo), self._end(hi), lo_open, hi_open)

    def _end(self, value: Any) -> BoundConstant | None:
        return None if value is None else BoundConstant(None, Interval(value, value, False, True), self._type)


def _range(operand: Any, of_column: Range) -> Range:
    return range_of(operand.interval) if isinstance(operand, BoundConstant) else of_column
