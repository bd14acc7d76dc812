"""Planes: where a filter can be TRUE, as a formula of ANDs and ORs over single bounds.

For keeping slices only one plane of the outcome counts. "Can be TRUE" of an AND is the AND of its children's, of an OR
their OR, and of a NOT it is "can be FALSE" of the child (C1), so NOT vanishes and what is left grows monotonically with
the ranges:

    filter                        formula
    ----------------------------  ---------------------------------------------------------------
    a = 5 AND NOT (b < 3)         a.lo <= 5 & a.hi >= 5 & b.hi >= 3
    a != 5 OR a IS NULL           a.lo < 5 | a.hi > 5 | a.null

The formula is not written anew: the rule table is run on symbols (``binding.rules``), which record what it asks of
which bound. What does not come down to one bound against one constant (functions, columns against columns, patterns,
statistics by file) stays a ``OpaquePredicate``: the leaf itself, to be evaluated where the rest of the formula leaves
it open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from evaluator.binding import rules
from evaluator.binding.bind import BoundExpression, Instruction
from evaluator.binding.leaves import Comparison, Fixed, Prefix, RangeOf, Test, test_planes
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundOperand
from evaluator.language.interval import UNKNOWN
from evaluator.language.records import entity
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.ranges import GREATEST, LEAST, Members, Range, range_of

__all__ = [
    "Apart",
    "Atom",
    "Conjunction",
    "Disjunction",
    "Flag",
    "Formula",
    "OpaquePredicate",
    "Symbol",
    "Within",
    "all_of",
    "any_of",
    "formula_of",
    "needs_itself",
    "polarities",
]


#: A longer AND inside an AND stays its own node, so that no order of nesting is expensive to join.
_MAX_MERGED = 64


class Symbol:
    """A node of a formula; combines with others, and with plain TRUE and FALSE."""

    __slots__ = ()

    def __and__(self, other: Formula) -> Formula:
        return all_of((self, other))

    __rand__ = __and__

    def __or__(self, other: Formula) -> Formula:
        return any_of((self, other))

    __ror__ = __or__


@entity
class Atom(Symbol):
    """One bound against a constant: ``lo < v``, ``lo <= v``, ``hi > v`` or ``hi >= v``."""

    column: ColumnStatistics
    op: Literal["<", "<=", ">", ">="]
    value: Any

    @property
    def is_lower(self) -> bool:
        """True when the lower bound is looked at."""
        return self.op in ("<", "<=")


@entity
class Within(Symbol):
    """Some member lies between the bounds."""

    column: ColumnStatistics
    members: Members


@entity
class Apart(Symbol):
    """The bounds are not one value that is a member."""

    column: ColumnStatistics
    members: Members


@entity
class Flag(Symbol):
    """NULL may occur, or a value may."""

    column: ColumnStatistics
    what: Literal["null", "value"]

    def __and__(self, other: Formula) -> Formula:
        # The codes of a slice without any value fail every test of its bounds: no need to ask again.
        if self.what == "value" and self.column.index is not None and _tests_bounds(other, self.column):
            return other
        return all_of((self, other))


@entity
class OpaquePredicate(Symbol):
    """Whether leaf number ``leaf`` can be TRUE (or, ``negated``, FALSE), by its own evaluation."""

    leaf: int
    negated: bool


@entity
class Conjunction(Symbol):
    """TRUE where all children are."""

    children: tuple[Symbol, ...]
    depth: int


@entity
class Disjunction(Symbol):
    """TRUE where any child is."""

    children: tuple[Symbol, ...]
    depth: int


Formula = Symbol | bool


def _tests_bounds(formula: Formula, column: ColumnStatistics) -> bool:
    """True when the formula is TRUE only where a bound of this column passes a test."""
    match formula:
        case Atom(column=tested) | Within(column=tested):
            return tested is column
        case Conjunction(children=children):
            return any(_tests_bounds(child, column) for child in children)
        case Disjunction(children=children):
            return all(_tests_bounds(child, column) for child in children)
        case _:
            return False


def all_of(parts: Sequence[Formula]) -> Formula:
    """The AND; plain TRUE and FALSE are worked in, an AND of ANDs is one."""
    found: dict[Symbol, None] = {}
    for part in parts:
        if not isinstance(part, Symbol):
            if not part:
                return False
        elif isinstance(part, Conjunction) and len(part.children) <= _MAX_MERGED:
            found.update(dict.fromkeys(part.children))
        else:
            found[part] = None
    return _joined(Conjunction, tuple(found), True)


def any_of(parts: Sequence[Formula]) -> Formula:
    """The OR; plain TRUE and FALSE are worked in, an OR of ORs is one."""
    found: dict[Symbol, None] = {}
    for part in parts:
        if not isinstance(part, Symbol):
            if part:
                return True
        elif isinstance(part, Disjunction) and len(part.children) <= _MAX_MERGED:
            found.update(dict.fromkeys(part.children))
        else:
            found[part] = None
    return _joined(Disjunction, tuple(found), False)


def _joined(form: type[Conjunction] | type[Disjunction], children: tuple[Symbol, ...], neutral: bool) -> Formula:
    if not children:
        return neutral
    if len(children) == 1:
        return children[0]
    return form(children, 1 + max(c.depth if isinstance(c, Conjunction | Disjunction) else 0 for c in children))


def formula_of(
    bound: BoundExpression, sources: Sequence[Mapping[str, ColumnStatistics]], rest: Sequence[bool]
) -> Formula:
    """Where the filter can be TRUE, given the statistics by column of each source.

    ``rest`` says for each leaf whether it has more to say than its rule on single bounds.
    """
    stack: list[Formula] = []
    for step, negated in zip(bound.program, polarities(bound.program), strict=True):
        match step.operation:
            case "leaf":
                stack.append(_leaf_formula(bound, step.operand, sources, rest[step.operand], negated))
            case "not":
                pass
            case operation:
                parts = stack[len(stack) - step.operand :]
                del stack[len(stack) - step.operand :]
                stack.append(all_of(parts) if (operation == "and") is not negated else any_of(parts))
    return stack[0]


def polarities(program: Sequence[Instruction]) -> list[bool]:
    """For each step, whether an odd number of NOTs stands above it. Reads the postfix program backwards."""
    if "not" not in [step.operation for step in program]:
        return [False] * len(program)
    found: list[bool] = []
    pending = [False]
    for step in reversed(program):
        above = pending.pop()
        found.append(above)
        if step.operation == "not":
            pending.append(not above)
        elif step.operation != "leaf":
            pending.extend([above] * step.operand)
    found.reverse()
    return found


def _leaf_formula(
    bound: BoundExpression, index: int, sources: Sequence[Mapping[str, ColumnStatistics]], rest: bool, negated: bool
) -> Formula:
    leaf = bound.leaves[index]
    parts: list[Formula] = [OpaquePredicate(index, negated)] if rest else []
    if _is_plain(leaf.test):
        knowing = [s for s in sources if any(name in s for name in leaf.columns)]
        parts += [_plane(leaf.test, partial(_symbols, statistics), negated) for statistics in knowing or [{}]]
    return all_of(parts)


def _plane(test: Test, symbols: RangeOf, negated: bool) -> Formula:
    """Where a test can be TRUE, or FALSE: of a comparison that is where the opposite one can be TRUE."""
    if isinstance(test, Comparison) and test.op in rules.OPPOSITE:
        op = rules.OPPOSITE[test.op] if negated else test.op
        found: Formula = rules.can_be_true(op, symbols(test.left), symbols(test.right))
        return found
    planes: tuple[Formula, Formula, Formula] = test_planes(test, symbols)
    return planes[1 if negated else 0]


def _is_plain(test: Test) -> bool:
    """True when the rule looks at the bounds of one column, and at constants."""
    match test:
        case Fixed():
            return True
        case Comparison(left=left, right=right):
            return isinstance(left, BoundColumn) and isinstance(right, BoundConstant)
        case _:
            return isinstance(test.operand, BoundColumn)


def needs_itself(test: Test) -> bool:
    """True when the rule on single bounds does not say all that the leaf can say."""
    return not _is_plain(test) or (isinstance(test, Prefix) and test.pattern is not None)


def _symbols(known: Mapping[str, ColumnStatistics], operand: BoundOperand) -> Range:
    if isinstance(operand, BoundConstant):
        return range_of(operand.interval)
    assert isinstance(operand, BoundColumn)
    statistics = known.get(operand.field.name)
    if statistics is None:
        return range_of(UNKNOWN)
    null = statistics.any_null if isinstance(statistics.any_null, bool) else Flag(statistics, "null")
    value = statistics.any_value if isinstance(statistics.any_value, bool) else Flag(statistics, "value")
    return Range(_Lower(statistics), _Upper(statistics), operand.is_nested or null, value)


@entity
class _Lower:
    column: ColumnStatistics

    def __lt__(self, other: Any) -> Formula:
        return other is GREATEST if _is_end(other) else Atom(self.column, "<", other)

    def __le__(self, other: Any) -> Formula:
        return other is GREATEST if _is_end(other) else Atom(self.column, "<=", other)

    def meets(self, _: _Upper, members: Members) -> Formula:
        return Within(self.column, members)

    def is_one_of(self, _: _Upper, members: Members) -> _OneOf:
        return _OneOf(self.column, members)


@entity
class _Upper:
    column: ColumnStatistics

    def __gt__(self, other: Any) -> Formula:
        return other is LEAST if _is_end(other) else Atom(self.column, ">", other)

    def __ge__(self, other: Any) -> Formula:
        return other is LEAST if _is_end(other) else Atom(self.column, ">=", other)


@entity
class _OneOf:
    """The bounds are one value that is a member: the rules only ask for its negation."""

    column: ColumnStatistics
    members: Members

    def __xor__(self, _: object) -> Formula:
        return Apart(self.column, self.members)


def _is_end(bound: object) -> bool:
    return bound is LEAST or bound is GREATEST
