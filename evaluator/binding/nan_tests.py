"""Comparisons of a floating-point column with the constant NaN.

Spark takes NaN for equal to itself and greater than every number. Hive compares by the hardware in some paths, for
which NaN is neither less nor greater nor equal, and like Spark in others:

    x is a number    x = NaN, x > NaN, x >= NaN    x != NaN    x < NaN, x <= NaN
    ---------------  ----------------------------  ----------  ----------------------
    Spark            FALSE                         TRUE        TRUE
    Hive             FALSE                         TRUE        TRUE or FALSE

Where x is NaN, too, nothing is claimed (docs/facts/pitfalls.md#p3). That may be only where bounds are not known, which
is what the open end above infinity stands for (``evaluator.binding.interval_sets``).
"""

from __future__ import annotations

import math

from evaluator.binding.leaves import IntervalSets, Piece
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundOperand
from evaluator.binding.type_coercion import without_lossless_casts
from evaluator.language import outcome
from evaluator.language.interval import point
from evaluator.language.semantics import Semantics

__all__ = ["against_nan", "is_nan"]


def is_nan(operand: BoundOperand) -> bool:
    """Whether an operand is the constant NaN."""
    return isinstance(operand, BoundConstant) and isinstance(operand.value, float) and math.isnan(operand.value)


def against_nan(op: str, operand: BoundOperand, semantics: Semantics) -> IntervalSets | None:
    """A column compared with NaN; None for any other operand."""
    column = without_lossless_casts(operand)
    if not isinstance(column, BoundColumn) or not column.type.kind.is_fractional:
        return None
    infinity = BoundConstant(None, point(math.inf), column.type)
    beyond = Piece(infinity, None, True, False)
    everything = Piece(None, None, False, False)
    of_null = outcome.FALSE if op == "<=>" else outcome.NULL
    if op in ("<", "<=") and not semantics.functions_of_spark:
        return IntervalSets(column, (everything,), (everything,), (), of_null)
    if op in ("<", "<=", "!="):
        return IntervalSets(column, (everything,), (beyond,), (), of_null)
    return IntervalSets(column, (beyond,), (everything,), (), of_null)
