"""Where a column has to lie for ``lower``, ``upper`` or ``initcap`` of it to be a constant.

None of them keeps the order of texts, so bounds of its results are wide. But only a few texts have a given image:

    upper(s) = 'CHERRY'     s is in 'CH' .. 'CI', or in 'Ch' .. 'Ci', or in 'cH' .. 'cI', or in 'ch' .. 'ci'

This is ANDed to the condition, which it follows from: a range of s without such a text decides it.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.binding.leaves import Comparison, IntervalSets, Membership, Prefix, Test
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.binding.text_pieces import pieces_outside, text_piece
from evaluator.functions.letter_case import INITCAP, LOWER, UPPER
from evaluator.language import outcome
from evaluator.language.types import Kind

__all__ = ["implied_by_image"]

#: The most members of a list whose sources are listed.
_MAX_MEMBERS = 4
_PLAIN = (Kind.STRING, Kind.VARCHAR)
_CASES = {"lower": LOWER, "lcase": LOWER, "upper": UPPER, "ucase": UPPER, "initcap": INITCAP}


def implied_by_image(test: Test) -> IntervalSets | None:
    """A condition on a column that holds wherever a test of its case is TRUE; None for other tests.

    It is NULL where the column is NULL, and FALSE nowhere but where the test is FALSE.
    """
    match test:
        case Comparison(op="=" | "<=>", left=operand, right=BoundConstant(interval=interval)):
            images: Sequence[object] = [interval.lo] if interval.is_point and not interval.null else []
        case Membership(operand=operand, members=members) if (
            not members.has_null and len(members.values) <= _MAX_MEMBERS
        ):
            images = list(members.values)
        case Prefix(operand=operand, prefix=prefix):
            images = [prefix.value]
        case _:
            return None
    column = _cased_column(operand)
    if column is None or not images or not all(images):
        return None
    assert isinstance(operand, BoundFunction)
    ranges = [one for image in images for one in _CASES[operand.function].sources(str(image))]
    if any(not lo for lo, _ in ranges):
        return None
    inside = tuple(text_piece(lo, hi) for lo, hi in ranges)
    return IntervalSets(column, inside, tuple(pieces_outside(sorted(ranges))), (), outcome.NULL)


def _cased_column(operand: BoundOperand) -> BoundColumn | None:
    """The column, stored as text without blanks of CHAR, whose case is tested."""
    if not isinstance(operand, BoundFunction) or operand.function not in _CASES or len(operand.arguments) != 1:
        return None
    [column] = operand.arguments
    return column if isinstance(column, BoundColumn) and column.field.type.kind in _PLAIN else None
