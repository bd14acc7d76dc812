"""Comparisons of one pair of operands together: which of less, equal and greater make them TRUE, and which FALSE.

Leaf by leaf ``i < l AND i > l`` may be TRUE in a file where the ranges of i and l overlap, because each comparison may.
Two values that are not NULL stand in one of three orders, and a comparison has one value in each:

    ==============================  ====  =====  =======  ============  =============  ==========
    conditions                      less  equal  greater  one is NULL   both are NULL  judged as
    ==============================  ====  =====  =======  ============  =============  ==========
    i < l OR i >= l                 T     T      T        NULL          NULL           never F
    i < l AND i > l                 F     F      F        NULL          NULL           never T
    i <= l AND l <= i               F     T      F        NULL          NULL           i = l
    i <= l AND i != l               T     F      F        NULL          NULL           i < l
    i < l OR i <=> l                T     T      F        NULL          T              F as i > l
    ==============================  ====  =====  =======  ============  =============  ==========

What is claimed is that TRUE (or FALSE) does not occur, so it stays sound where an engine makes NULL of a comparison:
in Kleene's logic a NULL in place of TRUE or FALSE leaves the result as it is, or makes it NULL.

Both operands must have the same values in every comparison of the row. Not so is an operand with a moment of the clock
or a random number in it, or a conditional of which the condition is not known. Doubles and floats are left out where
the engine is not known to order NaN above all numbers, as Spark does (pitfall P3, docs/facts/pitfalls.md#p3).
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.binding.leaves import Comparison, Fixed, Test
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand, BoundSingle
from evaluator.binding.program import Program
from evaluator.functions.conversions import keeps_value
from evaluator.language import outcome
from evaluator.language.function_names import MIRRORED
from evaluator.language.records import record
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind

__all__ = ["OperandPair", "judged", "pair_of"]

#: The outcome of each comparison where the left side is less, equal and greater.
_BY_ORDER = {
    "=": (outcome.FALSE, outcome.TRUE, outcome.FALSE),
    "!=": (outcome.TRUE, outcome.FALSE, outcome.TRUE),
    "<": (outcome.TRUE, outcome.FALSE, outcome.FALSE),
    "<=": (outcome.TRUE, outcome.TRUE, outcome.FALSE),
    ">": (outcome.FALSE, outcome.FALSE, outcome.TRUE),
    ">=": (outcome.FALSE, outcome.TRUE, outcome.TRUE),
}
#: The comparison that is TRUE in these orders.
_COMPARISONS = {by_order: op for op, by_order in _BY_ORDER.items()}
_BY_ORDER["<=>"] = _BY_ORDER["="]
_NEVER_TRUE = Fixed(outcome.FALSE | outcome.NULL)
_NEVER_FALSE = Fixed(outcome.TRUE | outcome.NULL)


@record
class OperandPair:
    """Two operands that comparisons of a filter have in common, in the order of the first comparison."""

    left: BoundOperand
    right: BoundOperand

    @property
    def mirrored(self) -> OperandPair:
        """The pair in the other order."""
        return OperandPair(self.right, self.left)


def pair_of(test: Test, semantics: Semantics) -> OperandPair | None:
    """The pair that a comparison compares; None where its truth does not follow from their order alone."""
    if not isinstance(test, Comparison):
        return None
    sides = (test.left, test.right)
    if any(isinstance(side, BoundConstant) or not _has_one_value(side, semantics) for side in sides):
        return None
    if any(side.type.kind.is_fractional for side in sides) and not semantics.functions_of_spark:
        return None
    return OperandPair(test.left, test.right)


def _has_one_value(operand: BoundOperand, semantics: Semantics) -> bool:
    """Whether the operand has the same value, or NULL, in all conditions of a row."""
    if not semantics.functions_of_spark:
        return _is_column_in_another_type(operand)
    stack = [operand]
    while stack:
        match stack.pop():
            case BoundColumn():
                pass
            case BoundConstant(of_clock=of_clock):
                if of_clock:
                    return False
            case function:
                if type(function) not in (BoundFunction, BoundSingle) or function.function == "branches":
                    return False
                stack.extend(function.arguments)
    return True


def _is_column_in_another_type(operand: BoundOperand) -> bool:
    if type(operand) is BoundFunction and operand.function == "cast":
        [source] = operand.arguments
        widens = keeps_value(source.type, operand.type)
        return isinstance(source, BoundColumn) and (widens or source.type.kind is Kind.DATE)
    return isinstance(operand, BoundColumn)


def judged(pair: OperandPair, program: Program, tests: Mapping[int, Test]) -> tuple[Test | None, int]:
    """What a program over comparisons of a pair says together: a test, and the values that it may rule out.

    ``tests`` are those of the program's leaves, by number. No test where it rules out nothing.
    """
    *by_order, of_one_null, of_both_null = program.fold(
        leaf=lambda index: _outcomes(pair, tests[index]),
        negate=lambda operand: [outcome.NOT_TABLE[one] for one in operand],
        conjoin=lambda operands: _folded(outcome.AND_TABLE, outcome.TRUE, operands),
        disjoin=lambda operands: _folded(outcome.OR_TABLE, outcome.FALSE, operands),
    )
    bits = (outcome.TRUE | outcome.FALSE) & ~(of_one_null | of_both_null)
    if by_order == [outcome.TRUE] * 3:
        return _NEVER_FALSE, bits
    if by_order == [outcome.FALSE] * 3:
        return _NEVER_TRUE, bits
    op = _COMPARISONS.get(tuple(by_order))
    return None if op is None else Comparison(op, pair.left, pair.right), bits


def _outcomes(pair: OperandPair, test: Test) -> list[int]:
    """The outcome of a comparison in each order, with one NULL and with two."""
    assert isinstance(test, Comparison)
    op = test.op if test.left == pair.left else MIRRORED[test.op]
    of_nulls = [outcome.FALSE, outcome.TRUE] if op == "<=>" else [outcome.NULL, outcome.NULL]
    return [*_BY_ORDER[op], *of_nulls]


def _folded(table: tuple[int, ...], start: int, operands: list[list[int]]) -> list[int]:
    total = [start] * 5
    for operand in operands:
        total = [table[a << 3 | b] for a, b in zip(total, operand, strict=True)]
    return total
