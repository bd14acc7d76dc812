"""One slice at a time, as plain Python values: the scalar rendering of the rule table.

``evaluate_slice`` answers a whole filter for one slice; ``interval_of`` gives any operand's interval, functions
included, and is what the paths over many slices ask where they come down to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.binding.bind import BoundExpression
from evaluator.binding.leaves import Test, test_outcome
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.language import outcome
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.ranges import Range, range_of

__all__ = ["SliceRow", "evaluate_slice", "interval_at", "interval_of", "interval_of_row", "outcome_of_test", "rows_of"]

#: lo, hi, lo known, hi known, may be null, may be a value.
SliceRow = tuple[Any, Any, bool, bool, bool, bool]


def evaluate_slice(bound: BoundExpression, statistics: Mapping[str, Interval]) -> int:
    """The outcome of one slice from intervals of its columns, in the form of the columns' arrays (``interval_at``)."""
    stack: list[int] = []
    for step in bound.program:
        match step.operation:
            case "leaf":
                stack.append(outcome_of_test(bound.leaves[step.operand].test, statistics))
            case "not":
                stack.append(outcome.NOT_TABLE[stack.pop()])
            case operation:
                table = outcome.AND_TABLE if operation == "and" else outcome.OR_TABLE
                result = outcome.TRUE if operation == "and" else outcome.FALSE
                for _ in range(step.operand):
                    result = table[result << 3 | stack.pop()]
                stack.append(result)
    return stack[0]


def outcome_of_test(test: Test, statistics: Mapping[str, Interval]) -> int:
    """The outcome of one test in one slice, likewise."""

    def scalar_range(operand: BoundOperand) -> Range:
        return range_of(interval_of(operand, statistics, ordinal=True))

    return int(test_outcome(test, scalar_range))


def interval_at(statistics: ColumnStatistics, index: int) -> Interval:
    """One slice's statistics of a column as an interval, in the form of the arrays."""
    [row] = rows_of(statistics.take(np.array([index])))
    return interval_of_row(statistics, row)


def rows_of(statistics: ColumnStatistics) -> Iterator[SliceRow]:
    """A column slice by slice as Python values."""
    return zip(
        statistics.lo.tolist(),
        statistics.hi.tolist(),
        statistics.lo_known.tolist(),
        statistics.hi_known.tolist(),
        statistics.may_be_null.tolist(),
        statistics.may_be_value.tolist(),
        strict=True,
    )


def interval_of_row(statistics: ColumnStatistics, row: SliceRow) -> Interval:
    """One of ``rows_of`` as an interval."""
    lo, hi, lo_known, hi_known, null, value = row
    if statistics.type.kind.is_fractional and not (lo_known and hi_known and lo == lo and hi == hi):
        lo_known = hi_known = False  # NaN may be among the values: it has no place in an order
    return Interval(lo if lo_known else None, hi if hi_known else None, null, value)


def interval_of(operand: BoundOperand, statistics: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    """The interval of an operand in one slice; a column as an argument of a function is in value form.

    Functions may be nested as deeply as filters: their arguments are computed without recursion.
    """
    if not isinstance(operand, BoundFunction):
        return _known_of(operand, statistics, ordinal=ordinal)
    pending: list[tuple[BoundFunction, list[Interval]]] = [(operand, [])]
    while True:
        function, known = pending[-1]
        if len(known) < len(function.arguments):
            argument = function.arguments[len(known)]
            if isinstance(argument, BoundFunction):
                pending.append((argument, []))
            else:
                known.append(_known_of(argument, statistics, ordinal=False))
            continue
        pending.pop()
        result = function.interval(known)
        if not pending:
            return result
        pending[-1][1].append(result)


def _known_of(operand: BoundColumn | BoundConstant, statistics: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    if isinstance(operand, BoundConstant):
        return operand.interval
    interval = statistics.get(operand.field.name, UNKNOWN)
    if operand.is_nested:
        interval = interval.nullable()
    return interval if ordinal else _value_form(interval, operand)


def _value_form(interval: Interval, column: BoundColumn) -> Interval:
    if column.type.kind is not Kind.DECIMAL:
        return interval
    scale = 10**column.field.type.scale
    return interval.with_bounds(
        *(None if bound is None else Fraction(int(bound), scale) for bound in (interval.lo, interval.hi))
    )
