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

The result is a leaf beside those that it is made of. The step ``Refine`` of the program intersects their outcomes:

    conditions                         refined                         why
    ---------------------------------  ------------------------------  -----------------------------------------------
    a tree over one column only        TRUE, FALSE and NULL            it has the same value on every row
    some members of an AND             TRUE                            the AND is TRUE only where these are
    some members of an OR              FALSE                           the OR is FALSE only where these are

Nothing is added where leaf by leaf is as tight, as for ``x >= 1 AND x < 5``. A list alone is refined where its
members are all values of an interval (``evaluator.binding.member_runs``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from evaluator.binding.interval_cells import Cells, constants_of, is_discrete
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
from evaluator.binding.member_runs import interval_sets_of, runs_of
from evaluator.binding.operands import BoundColumn, BoundConstant
from evaluator.binding.program import And, Leaf, Not, Or, Program, Refine, Step
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.types import Type

__all__ = ["refined"]

#: A filter of more leaves is left as it is; so are conditions with more constants.
_MAX_LEAVES, _MAX_CONSTANTS = 256, 64
_BOTH = outcome.TRUE | outcome.FALSE
_HALF_LINES = {"<": (False, False), "<=": (False, True), ">": (True, False), ">=": (True, True)}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


def refined(leaves: list[BoundLeaf], steps: list[Step]) -> list[Step]:
    """The steps of a program with ``Refine`` where conditions on one column say more together; adds their leaves."""
    if len(leaves) > _MAX_LEAVES:
        return steps
    names = [leaf.columns for leaf in leaves]
    shared: set[tuple[str, ...]] = {name for name in names if names.count(name) > 1 and len(name) == 1}
    if (not shared or _is_plain_conjunction(leaves, steps, shared)) and not any(
        isinstance(leaf.test, Membership) and _holds_runs(leaf.test) for leaf in leaves
    ):
        return steps
    return _Walk(leaves).walk(steps)


def _is_plain_conjunction(leaves: Sequence[BoundLeaf], steps: Sequence[Step], shared: set[tuple[str, ...]]) -> bool:
    """Whether a filter of ANDs has one interval that is not empty for each column: the commonest filters."""
    tests: dict[tuple[str, ...], list[tuple[Test, bool]]] = {name: [] for name in shared}
    last: list[tuple[Test, bool]] | None = None
    for step in steps:
        form = type(step)
        if form is Leaf:
            leaf = leaves[step.index]  # type: ignore[union-attr]
            last = tests.get(leaf.columns, [])
            last.append((leaf.test, False))
        elif form is Not and last is not None:
            last[-1] = (last[-1][0], True)
            last = None
        elif form is And:
            last = None
        else:
            return False
    return all(_is_one_interval(of_column) for of_column in tests.values())


@dataclass(slots=True)
class _Part:
    """A piece of the program: over one column only (``column``), or an AND or OR (``form``) with parts that are.

    plain   its steps without any ``Refine``; only of a piece over one column
    parts   the members over one column of a mixed AND or OR, by column
    """

    steps: list[Step]
    column: BoundColumn | None = None
    form: type[And] | type[Or] | None = None
    parts: dict[BoundColumn, list[list[Step]]] = field(default_factory=dict)

    @property
    def is_compound(self) -> bool:
        """Whether it joins leaves."""
        return any(type(step) is And or type(step) is Or for step in self.steps)


class _Walk:
    def __init__(self, leaves: list[BoundLeaf]) -> None:
        self._leaves = leaves
        self._columns = [_column_of(leaf.test) for leaf in leaves]

    def walk(self, steps: Sequence[Step]) -> list[Step]:
        stack: list[_Part] = []
        for step in steps:
            form = type(step)
            if form is Leaf:
                stack.append(_Part([step], self._columns[step.index]))  # type: ignore[union-attr]
            elif form is Not:
                stack[-1] = self._negated(stack[-1])
            else:
                first = len(stack) - step.arity
                children = stack[first:]
                del stack[first:]
                stack.append(self._joined(step, children))
        [whole] = stack
        return self._closed(whole).steps

    def _negated(self, part: _Part) -> _Part:
        steps = [*part.steps, Not()]
        if part.form is None:
            return _Part(steps, part.column)
        negated = {
            column: [_without_not_not([*member, Not()]) for member in members] for column, members in part.parts.items()
        }
        return _Part(steps, form=Or if part.form is And else And, parts=negated)

    def _joined(self, step: Step, children: list[_Part]) -> _Part:
        """An AND or OR of parts."""
        form = type(step)
        assert form is And or form is Or
        column = children[0].column if children else None
        if column is not None and all(child.column == column for child in children):
            return _Part([*(inner for child in children for inner in child.steps), step], column)
        joined = _Part([], form=form)
        for child in children:
            if child.column is not None:
                joined.parts.setdefault(child.column, []).append(_without_not_not(child.steps))
            elif child.form is form:
                for column, members in child.parts.items():
                    joined.parts.setdefault(column, []).extend(members)
            closed = child if child.column is None and child.form is form else self._closed(child)
            joined.steps += closed.steps
        joined.steps.append(step)
        return joined

    def _closed(self, part: _Part) -> _Part:
        """The part with the refinements that its conditions allow."""
        steps = list(part.steps)
        if part.column is not None:
            if part.is_compound:
                steps += self._refinement(part.column, part.steps, _loose_bits(part.steps))
            else:
                steps = self._by_runs(part.column, steps)
        else:
            for column, members in part.parts.items():
                if len(members) > 1:
                    assert part.form is not None
                    together = [*(step for member in members for step in member), part.form(len(members))]
                    steps += self._refinement(column, together, outcome.TRUE if part.form is And else outcome.FALSE)
        return _Part(steps)

    def _by_runs(self, column: BoundColumn, steps: list[Step]) -> list[Step]:
        """The steps of one leaf; where it is a list, refined by the intervals that its members fill."""
        first, *negations = steps
        leaf = self._leaves[first.index]  # type: ignore[union-attr]
        if not isinstance(leaf.test, Membership) or (runs := runs_of(column.type, leaf.test.members)) is None:
            return steps
        test = interval_sets_of(column, runs, has_null=leaf.test.members.has_null)
        self._leaves.append(BoundLeaf(leaf.node, test, leaf.columns, note="by the values that it leaves out"))
        return [first, Leaf(len(self._leaves) - 1), Refine(outcome.FALSE | outcome.NULL), *negations]

    def _refinement(self, column: BoundColumn, steps: list[Step], bits: int) -> list[Step]:
        """A leaf that judges these steps over one column together, and the step that uses it; nothing if of no use."""
        program = Program(tuple(steps))
        if _is_tight(program, self._leaves, column.type):
            return []
        test = _together(program, self._leaves, column)
        if test is None:
            return []
        node = program.fold(
            leaf=lambda index: self._leaves[index].node,
            negate=ex.Not,
            conjoin=lambda nodes: _one_or(ex.And, nodes),
            disjoin=lambda nodes: _one_or(ex.Or, nodes),
        )
        self._leaves.append(BoundLeaf(node, test, (column.field.name,)))
        return [Leaf(len(self._leaves) - 1), Refine(bits)]


def _holds_runs(test: Membership) -> bool:
    column = test.operand
    return isinstance(column, BoundColumn) and runs_of(column.type, test.members) is not None


def _without_not_not(steps: list[Step]) -> list[Step]:
    """A member as it is judged: NOT of NOT is what it is of, so both forms of a filter say the same of a slice."""
    core = _without_last_nots(steps)
    return [*core, Not()] if (len(steps) - len(core)) % 2 else list(core)


def _one_or(form: type[ex.And] | type[ex.Or], nodes: list[ex.HudiExpression]) -> ex.HudiExpression:
    """The AND or OR of the different ones: one condition of the filter may be several leaves."""
    flat = [inner for node in nodes for inner in (node.children if isinstance(node, form) else (node,))]
    different = tuple(dict.fromkeys(flat))
    return different[0] if len(different) == 1 else form(different)


def _column_of(test: Test) -> BoundColumn | None:
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


def _loose_bits(steps: Sequence[Step]) -> int:
    """Of conditions over one column the values that leaf by leaf may claim without cause.

    An AND is FALSE where any leaf is, so FALSE is exact, and of an OR TRUE is. NOT exchanges them.
    """
    core = _without_last_nots(steps)
    if any(type(step) is And or type(step) is Or for step in core[:-1]):
        return outcome.UNKNOWN
    loose = outcome.NULL | (outcome.TRUE if type(core[-1]) is And else outcome.FALSE)
    return outcome.NOT_TABLE[loose] if (len(steps) - len(core)) % 2 else loose


def _without_last_nots(steps: Sequence[Step]) -> Sequence[Step]:
    end = len(steps)
    while type(steps[end - 1]) is Not:
        end -= 1
    return steps[:end]


def _is_tight(program: Program, leaves: Sequence[BoundLeaf], of: Type) -> bool:
    """Whether leaf by leaf is as tight, for the commonest conditions: one interval, or a choice of single values."""
    *inner, last = _without_last_nots(program.steps)
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
    return _is_one_interval(tests)


def _is_one_interval(tests: list[tuple[Test, bool]]) -> bool:
    """Whether these conditions on one column, ANDed, are one interval that is not empty."""
    has_steps = False
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
        has_steps = is_discrete(test.left.type)
        is_lower, closed = _HALF_LINES.get(op, (True, True))
        if is_lower:
            lower = max((value, not closed), lower or (value, not closed))
        if not is_lower or op == "=":
            upper = min((value, closed), upper or (value, closed))
    if lower is None or upper is None:
        return True
    if has_steps:
        return bool(lower[0] + lower[1] <= upper[0] - (not upper[1]))
    return bool(lower[0] < upper[0]) or (lower[0] == upper[0] and not lower[1] and upper[1])


def _is_choice(test: Test) -> bool:
    return isinstance(test, Membership) or (isinstance(test, Comparison) and test.op == "=")


def _touch(tests: list[tuple[Test, bool]]) -> bool:
    """Whether two of the values that are asked for are neighbours."""
    values = sorted({value for test, _ in tests for value in constants_of(test)})
    return any(after - before <= 1 for before, after in pairwise(values))


def _together(program: Program, leaves: Sequence[BoundLeaf], column: BoundColumn) -> IntervalSets | None:
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
