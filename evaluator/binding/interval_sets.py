"""Conditions on one column together: the sets of values on which they are TRUE, FALSE and NULL.

Leaf by leaf ``i > 0 AND i < 0`` may be TRUE in a file of -5 to 5, because each comparison may. Together they are TRUE
on no value at all. The truth of conditions on one column is a step function of its value: between two neighbouring
constants nothing changes. So it is computed once per filter, in every *cell* (each constant, each gap between two
constants, NULL), and cells of the same truth become intervals:

    i > 0 AND i < 0               TRUE: none           FALSE: all             NULL row: NULL
    c NOT IN (5, 6) OR c IS NULL  TRUE: <= 4 or >= 7   FALSE: 5 to 6          NULL row: TRUE
    i < 5 OR i > 90               TRUE: <= 4 or >= 91  FALSE: 5 to 90         NULL row: NULL

Why this is sound: a row's value x lies in one cell. A leaf's outcome in that cell contains the leaf's value on the row,
because it is what the leaf's own test says of a slice that holds nothing but x. C1 combines these outcomes. NaN has no
place in an order, so it has a cell of its own above infinity, where every comparison may be TRUE or FALSE; only unknown
bounds reach it.

``evaluator.binding.refinement`` puts the result beside the conditions that it is made of, but where leaf by leaf is as
tight, as for ``x >= 1 AND x < 5``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from evaluator.binding.interval_cells import Cells, constants_of, ends_of, is_discrete
from evaluator.binding.leaves import (
    BoundLeaf,
    Comparison,
    IntervalSets,
    Membership,
    NullTest,
    OutOfRange,
    Prefix,
    Test,
)
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.binding.program import And, Leaf, Not, Or, Program, Step
from evaluator.language import outcome
from evaluator.language.types import Type

__all__ = ["column_of", "is_one_interval", "is_tight", "judged_together", "without_last_nots"]

#: Conditions with more constants are left as they are.
_MAX_CONSTANTS = 64
_HALF_LINES = {"<": (False, False), "<=": (False, True), ">": (True, False), ">=": (True, True)}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


def column_of(test: Test) -> BoundColumn | None:
    """The column of a test whose truth is a step function of it."""
    match test:
        case Comparison(left=BoundColumn() as column, right=BoundConstant(interval=constant)):
            known = constant.value and not constant.null and constant.lo is not None and constant.hi is not None
            return column if known else None
        case Membership(operand=BoundColumn() as column, members=members):
            return column if len(members.values) <= _MAX_CONSTANTS else None
        case Prefix(operand=BoundColumn() as column) | NullTest(operand=BoundColumn() as column):
            return column
        case OutOfRange(operand=BoundColumn() as column):
            return column
        case _:
            return None


def without_last_nots(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps of a condition without the NOTs around it."""
    end = len(steps)
    while type(steps[end - 1]) is Not:
        end -= 1
    return steps[:end]


def is_tight(program: Program, leaves: Sequence[BoundLeaf], of: Type) -> bool:
    """Whether leaf by leaf is as tight, for the commonest conditions: one interval, or a choice of single values."""
    *inner, last = without_last_nots(program.steps)
    tests: list[tuple[Test, bool]] = []
    negates = False
    for step in inner:
        if type(step) is Leaf:
            tests.append((leaves[step.index].test, False))
        elif type(step) is Not and negates:
            tests[-1] = (tests[-1][0], not tests[-1][1])
        elif type(step) is not type(last):
            return False
        negates = type(step) is Leaf
    if type(last) is Or:
        if all(_is_choice(test) and not negated for test, negated in tests):
            return not is_discrete(of) or not _touch(tests)
        tests = [(test, not negated) for test, negated in tests]
        if any(isinstance(test, NullTest) for test, _ in tests):
            return False
    elif type(last) is not And:
        return False
    return is_one_interval(tests)


def is_one_interval(tests: list[tuple[Test, bool]]) -> bool:
    """Whether these conditions on one column, ANDed, are one interval that is not empty."""
    of: Type | None = None
    lower: tuple[Any, bool] | None = None
    upper: tuple[Any, bool] | None = None
    for test, negated in tests:
        if isinstance(test, NullTest) and negated:
            continue
        if not isinstance(test, Comparison) or not isinstance(test.right, BoundConstant):
            return False
        if type(test.left) is not BoundColumn:  # a function of the column has constants of its own
            return False
        op = _NEGATED.get(test.op, "") if negated else test.op
        if (op not in _HALF_LINES and op != "=") or not test.right.interval.is_point:
            return False
        value = test.right.interval.lo
        of = test.left.type
        is_lower, closed = _HALF_LINES.get(op, (True, True))
        if is_lower:
            lower = max((value, not closed), lower or (value, not closed))
        if not is_lower or op == "=":
            upper = min((value, closed), upper or (value, closed))
    if of is not None and is_discrete(of):
        least, greatest = ends_of(of)
        first = least if lower is None else lower[0] + lower[1]
        last = greatest if upper is None else upper[0] - (not upper[1])
        return bool(max(first, least) <= min(last, greatest))
    if lower is None or upper is None:
        return True
    return bool(lower[0] < upper[0]) or (lower[0] == upper[0] and not lower[1] and upper[1])


def _is_choice(test: Test) -> bool:
    return isinstance(test, Membership) or (isinstance(test, Comparison) and test.op == "=")


def _touch(tests: list[tuple[Test, bool]]) -> bool:
    """Whether two of the values that are asked for are neighbours."""
    values = sorted({value for test, _ in tests for value in constants_of(test)})
    return any(after - before <= 1 for before, after in pairwise(values))


def judged_together(program: Program, leaves: Sequence[BoundLeaf], column: BoundColumn) -> IntervalSets | None:
    """The sets of values of one column on which a program over it is TRUE, FALSE and NULL."""
    tests = {index: leaves[index].test for index in program.leaf_indices}
    constants = {constant for test in tests.values() for constant in constants_of(test)}
    if column.type.kind.is_fractional:
        constants.add(math.inf)
    if len(constants) > _MAX_CONSTANTS:
        return None
    try:
        cells = Cells(sorted(constants), column)
    except TypeError:  # constants without a common order
        return None

    def conjoin(operands: list[list[int]]) -> list[int]:
        return [_fold(outcome.AND_TABLE, outcome.TRUE, of_cell) for of_cell in zip(*operands, strict=True)]

    def disjoin(operands: list[list[int]]) -> list[int]:
        return [_fold(outcome.OR_TABLE, outcome.FALSE, of_cell) for of_cell in zip(*operands, strict=True)]

    *values, of_null = program.fold(
        leaf=lambda index: cells.outcomes(tests[index]),
        negate=lambda operand: [outcome.NOT_TABLE[of_cell] for of_cell in operand],
        conjoin=conjoin,
        disjoin=disjoin,
    )
    return IntervalSets(
        column,
        cells.pieces(values, outcome.TRUE),
        cells.pieces(values, outcome.FALSE),
        cells.pieces(values, outcome.NULL),
        of_null,
    )


def _fold(table: Sequence[int], start: int, outcomes: Sequence[int]) -> int:
    total = start
    for one in outcomes:
        total = table[total << 3 | one]
    return total
