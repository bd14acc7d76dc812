"""A bound filter in one slice, from one interval per column: the scalar rendering of the rule table.

    intervals                     i in [1, 9], no NULL       s in ['a', 'c'], NULL may occur
    leaves                        i < 5  {true, false}       s = 'x'  {false, null}
    i < 5 AND s = 'x'             {false, null}              TRUE is impossible: the slice is skipped

Intervals are in the form of the columns' arrays (``evaluator.evaluation.slice_intervals.interval_at``). ``interval_of``
gives the interval of any operand, functions included; the ways to evaluate many slices use it where they come down to
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Test, test_outcome
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.language import outcome
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.types import Kind
from evaluator.statistics.ranges import Range, range_of

__all__ = ["evaluate_slice", "interval_of", "outcome_of_test"]


def evaluate_slice(bound: BoundExpression, intervals: Mapping[str, Interval]) -> int:
    """The outcome of a filter in one slice. A column without an interval is unknown."""
    return bound.program.fold(
        leaf=lambda index: outcome_of_test(bound.leaves[index].test, intervals),
        negate=outcome.NOT_TABLE.__getitem__,
        conjoin=_conjoin,
        disjoin=_disjoin,
        refine=lambda result, by_leaf, bits: result & (by_leaf | ~bits),
    )


def _conjoin(outcomes: list[int]) -> int:
    result = outcome.TRUE
    for operand in outcomes:
        result = outcome.AND_TABLE[result << 3 | operand]
    return result


def _disjoin(outcomes: list[int]) -> int:
    result = outcome.FALSE
    for operand in outcomes:
        result = outcome.OR_TABLE[result << 3 | operand]
    return result


def outcome_of_test(test: Test, intervals: Mapping[str, Interval]) -> int:
    """The outcome of one test in one slice."""

    def scalar_range(operand: BoundOperand) -> Range:
        return range_of(interval_of(operand, intervals, ordinal=True))

    return int(test_outcome(test, scalar_range))


def interval_of(operand: BoundOperand, intervals: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    """The interval of an operand in one slice; a column as an argument of a function is in value form.

    Functions may be nested as deeply as filters: their arguments are computed without recursion.
    """
    if not isinstance(operand, BoundFunction):
        return _interval_of_leaf(operand, intervals, ordinal=ordinal)
    pending: list[tuple[BoundFunction, list[Interval]]] = [(operand, [])]
    while True:
        function, arguments = pending[-1]
        if len(arguments) < len(function.arguments):
            argument = function.arguments[len(arguments)]
            if isinstance(argument, BoundFunction):
                pending.append((argument, []))
            else:
                arguments.append(_interval_of_leaf(argument, intervals, ordinal=False))
            continue
        pending.pop()
        result = function.interval(arguments)
        if not pending:
            return result
        pending[-1][1].append(result)


def _interval_of_leaf(
    operand: BoundColumn | BoundConstant, intervals: Mapping[str, Interval], *, ordinal: bool
) -> Interval:
    if isinstance(operand, BoundConstant):
        return operand.interval
    interval = intervals.get(operand.field.name, UNKNOWN)
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
