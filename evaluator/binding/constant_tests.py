"""Tests of a column against a constant that is in its domain already, and of constants against each other.

A constant may fall between two values of the column: 5.5 among integers. Then ``x < 5.5`` is ``x <= 5``, ``x = 5.5`` is
never TRUE, and ``x != 5.5`` is TRUE for every value (C7).
"""

from __future__ import annotations

import math
from fractions import Fraction

from evaluator.binding import rules
from evaluator.binding.leaves import Comparison, Fixed, Membership, OutOfRange, Test
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundOperand
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import array_dtype
from evaluator.statistics.ranges import Members, range_of

__all__ = ["against_column", "between_constants", "constant_of", "outward"]

#: Below every value of a 38-digit decimal and of a bigint.
_LEAST = -(10**38)


def between_constants(op: str, left: BoundConstant, right: BoundConstant) -> Test:
    """A comparison that is the same on every row. Raises UnsupportedError for constants of different types."""
    if (left.type.kind is not right.type.kind and left.interval.value and right.interval.value) or any(
        c.interval.value and not c.interval.is_point for c in (left, right)
    ):
        raise UnsupportedError("a comparison of constants of different types is not decided")
    if Kind.CHAR in (left.type.kind, right.type.kind) and left.interval.value and right.interval.value:
        raise UnsupportedError("a comparison of CHAR constants is not decided: padding does not count")
    ranges = [range_of(c.interval) for c in (left, right)]
    if not (left.interval.value and right.interval.value):
        unequal = outcome.FALSE if left.interval.value or right.interval.value else outcome.TRUE
        return Fixed(unequal if op == "<=>" else outcome.NULL)
    return Fixed(int(rules.pack(rules.compare(op, *ranges))))


def against_column(op: str, column: BoundColumn, interval: Interval) -> Test:
    """A column against a constant in its domain; the constant may lie between two values of the column."""
    if op != "<=>" and column.type.kind.is_integer and interval.is_point and not interval.null:
        smallest, largest = column.type.integer_range()
        if not smallest <= interval.lo <= largest:
            above = interval.lo > largest
            return OutOfRange(column, op == "!=" or op in (("<", "<=") if above else (">", ">=")))
    if not isinstance(interval.lo, Fraction) and not isinstance(interval.hi, Fraction):
        return Comparison(op, column, constant_of(interval, column.type))
    if not interval.is_point or interval.null:
        return Comparison(op, column, constant_of(outward(interval, column), column.type))
    below, above = math.floor(interval.lo), math.ceil(interval.lo)
    match op:
        case "<" | "<=":
            return Comparison("<=", column, constant_of(interval.with_bounds(below, below), column.type))
        case ">" | ">=":
            return Comparison(">=", column, constant_of(interval.with_bounds(above, above), column.type))
        case "<=>":
            return Fixed(outcome.FALSE)
        case "=":
            return Membership(column, Members.of([], array_dtype(column.type), has_null=False))
        case _:
            # x != v is TRUE for every value x, as x >= -10^38 is.
            return Comparison(">=", column, constant_of(interval.with_bounds(_LEAST, _LEAST), column.type))


def outward(interval: Interval, operand: BoundOperand) -> Interval:
    """The next whole ordinals around an interval, for a column whose arrays hold integers."""
    if not isinstance(operand, BoundColumn):
        return interval
    lo = math.floor(interval.lo) if isinstance(interval.lo, Fraction) else interval.lo
    hi = math.ceil(interval.hi) if isinstance(interval.hi, Fraction) else interval.hi
    return interval.with_bounds(lo, hi)


def constant_of(interval: Interval, literal_type: Type) -> BoundConstant:
    """An interval as an operand."""
    return BoundConstant(None, interval, literal_type)
