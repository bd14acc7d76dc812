"""The difference of two moments beside an interval, as microseconds between two wall clocks.

    current_timestamp() - t < interval '1' hour    timestampdiff('microsecond', t, current_timestamp()) < 3600000000
    d - date '2020-01-31' >= interval '7' day      timestampdiff('microsecond', DATE '2020-01-31', d) >= 604800000000

An interval of months has no such length, and is compared by no engine with a difference. Hive 2 counts instants, which
differ from what its clock shows: not decided.

Sources: Spark ``SubtractTimestamps``, ``SubtractDates``; Hive ``DateTimeMath.subtract``.
"""

from __future__ import annotations

from collections.abc import Callable

from evaluator.binding.operands import BoundOperand
from evaluator.language import expression as ex
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import BIGINT, STRING, Kind

__all__ = ["as_microseconds"]

_MICROSECOND = ex.Literal("microsecond", STRING)


def as_microseconds(
    node: ex.Compare,
    bind: Callable[[ex.Operand], BoundOperand],
    span_of: Callable[[ex.Operand], TimeSpan | None],
    semantics: Semantics,
) -> ex.Compare:
    """A comparison of a difference with an interval as one of numbers; any other comparison as it is.

    ``bind`` binds an operand; ``span_of`` gives the interval that an operand is, or None.
    """
    counts_instants = semantics.moves_by_instant and not semantics.functions_of_spark
    if counts_instants or not (_is_difference(node.left) or _is_difference(node.right)):
        return node
    sides = [_in_microseconds(side, bind, span_of) for side in (node.left, node.right)]
    left, right = sides
    return node if left is None or right is None else ex.Compare(node.op, left, right)


def _is_difference(operand: ex.Operand) -> bool:
    return isinstance(operand, ex.Call) and operand.function == "-" and len(operand.arguments) == 2


def _in_microseconds(
    operand: ex.Operand,
    bind: Callable[[ex.Operand], BoundOperand],
    span_of: Callable[[ex.Operand], TimeSpan | None],
) -> ex.Operand | None:
    """A difference of moments, or an interval, as a number; None for any other operand."""
    span = span_of(operand)
    if span is not None:
        return None if span.unit == "months" else ex.Literal(span.micros, BIGINT)
    if not isinstance(operand, ex.Call) or not _is_difference(operand):
        return None
    end, start = operand.arguments
    kinds = [bind(moment).type.kind for moment in operand.arguments]
    if not all(kind is Kind.DATE or kind.is_timestamp for kind in kinds):
        return None
    return ex.Call("timestampdiff", (_MICROSECOND, start, end))
