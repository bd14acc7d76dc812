"""The pruning formula: where a filter can be TRUE, as ANDs and ORs over single bounds.

A slice is kept where TRUE is possible, so only that bit of the outcome is needed. "Can be TRUE" of an AND is the AND of
its children's, of an OR their OR, and of a NOT it is "can be FALSE" of the child (C1). NOT therefore vanishes, and the
formula grows monotonically with the ranges:

    filter                        formula
    ----------------------------  ---------------------------------------------------------------
    a = 5 AND NOT (b < 3)         a.lo <= 5 & a.hi >= 5 & b.hi >= 3
    a != 5 OR a IS NULL           a.lo < 5 | a.hi > 5 | a.null

The rule table itself makes the formula: it is run on symbols (``binding.rules``), which record each bound that it tests
and the constant that it tests it against. A leaf that does not come down to one bound against one constant (functions,
columns against columns, patterns, statistics by file) stays an ``OpaquePredicate``. Such a leaf is evaluated by itself,
in the slices that the other parts of the formula leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Prefix, Test, is_plain, possible_value
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundOperand
from evaluator.binding.truth_values import TruthValue
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
    "is_opaque",
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
        """True when it tests the lower bound."""
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
    """Whether leaf number ``leaf`` can have the value that is sought of it, by its own evaluation."""

    leaf: int
    sought: TruthValue


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
    """The AND, simplified: TRUE and FALSE are folded, and an AND of ANDs becomes one."""
    children: dict[Symbol, None] = {}
    for part in parts:
        if not isinstance(part, Symbol):
            if not part:
                return False
        elif isinstance(part, Conjunction) and len(part.children) <= _MAX_MERGED:
            children.update(dict.fromkeys(part.children))
        else:
            children[part] = None
    return _joined(Conjunction, tuple(children), True)


def any_of(parts: Sequence[Formula]) -> Formula:
    """The OR, simplified: TRUE and FALSE are folded, and an OR of ORs becomes one."""
    children: dict[Symbol, None] = {}
    for part in parts:
        if not isinstance(part, Symbol):
            if part:
                return True
        elif isinstance(part, Disjunction) and len(part.children) <= _MAX_MERGED:
            children.update(dict.fromkeys(part.children))
        else:
            children[part] = None
    return _joined(Disjunction, tuple(children), False)


def _joined(form: type[Conjunction] | type[Disjunction], children: tuple[Symbol, ...], neutral: bool) -> Formula:
    if not children:
        return neutral
    if len(children) == 1:
        return children[0]
    return form(children, 1 + max(c.depth if isinstance(c, Conjunction | Disjunction) else 0 for c in children))


def formula_of(
    bound: BoundExpression, statistics: Sequence[Mapping[str, ColumnStatistics]], opaque: Sequence[bool]
) -> Formula:
    """Where the filter can be TRUE, given each provider's statistics by column.

    ``opaque`` is True for each leaf whose rule on single bounds rules out less than the leaf itself.
    """
    return bound.program.fold_sought(
        leaf=lambda index, sought: _leaf_formula(bound, index, statistics, opaque[index], sought),
        conjoin=all_of,
        disjoin=any_of,
    )


def _leaf_formula(
    bound: BoundExpression,
    index: int,
    statistics: Sequence[Mapping[str, ColumnStatistics]],
    opaque: bool,
    sought: TruthValue,
) -> Formula:
    leaf = bound.leaves[index]
    parts: list[Formula] = [OpaquePredicate(index, sought)] if opaque else []
    if is_plain(leaf.test):
        of_columns = [by_name for by_name in statistics if any(name in by_name for name in leaf.columns)]
        parts += [possible_value(leaf.test, partial(_symbols, by_name), sought) for by_name in of_columns or [{}]]
    return all_of(parts)


def is_opaque(test: Test) -> bool:
    """True when the rule on single bounds rules out less than the leaf itself."""
    return not is_plain(test) or (isinstance(test, Prefix) and test.pattern is not None)


def _symbols(by_name: Mapping[str, ColumnStatistics], operand: BoundOperand) -> Range:
    if isinstance(operand, BoundConstant):
        return range_of(operand.interval)
    assert isinstance(operand, BoundColumn)
    statistics = by_name.get(operand.field.name)
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
