"""The difference of two moments beside an interval, as microseconds between two wall clocks.

    current_timestamp() - t < interval '1' hour    timestampdiff('microsecond', t, current_timestamp()) < 3600000000
    d - date '2020-01-31' >= interval '7' day      timestampdiff('microsecond', DATE '2020-01-31', d) >= 604800000000

An interval of months has no such length, and is compared by no engine with a difference. Hive 2 counts instants, which
differ from what its clock shows: not decided.

Sources: Spark ``SubtractTimestamps``, ``SubtractDates``; Hive ``DateTimeMath.subtract``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    if semantics.moves_by_instant and not semantics.functions_of_spark:
        return node
    for difference, other in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(difference, ex.Call) or difference.function != "-" or len(difference.arguments) != 2:
            continue
        span = span_of(other)
        if span is None or span.unit == "months" or not _are_moments(difference.arguments, bind):
            continue
        end, start = difference.arguments
        count = ex.Call("timestampdiff", (_MICROSECOND, start, end))
        length = ex.Literal(span.micros, BIGINT)
        return ex.Compare(node.op, *((count, length) if difference is node.left else (length, count)))
    return node


def _are_moments(operands: Sequence[ex.Operand], bind: Callable[[ex.Operand], BoundOperand]) -> bool:
    kinds = [bind(operand).type.kind for operand in operands]
    return all(kind is Kind.DATE or kind.is_timestamp for kind in kinds)
