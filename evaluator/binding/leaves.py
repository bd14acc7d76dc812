"""Bound leaves: a test of the rule table over operands, and the columns that it reads.

``Test`` is one of seven forms; ``possible_values`` applies the rule table to any of them, on ranges of one slice, of
all slices, or on symbols.

Pitfall P10 is described in docs/facts/pitfalls.md#p10.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from evaluator.binding import rules
from evaluator.binding.canonical_keys import canonical_key
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand, columns_of
from evaluator.binding.truth_values import Possible, TruthValue
from evaluator.language.expression import HudiExpression, to_text
from evaluator.language.interval import Interval
from evaluator.language.like import LikePattern
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.language.records import entity, record
from evaluator.language.schema import Field
from evaluator.language.text_order import successor
from evaluator.language.types import STRING, Kind
from evaluator.statistics.ranges import Members, Range

if sys.version_info >= (3, 11):
    from typing import assert_never
else:
    from typing_extensions import assert_never

__all__ = [
    "BoundLeaf",
    "Comparison",
    "Fixed",
    "IntervalSets",
    "Lookup",
    "Membership",
    "NullTest",
    "OutOfRange",
    "Piece",
    "Prefix",
    "RangeOf",
    "Test",
    "expression_keys",
    "expression_of",
    "is_plain",
    "lookup_of_result",
    "possible_value",
    "possible_values",
    "starts_with",
    "test_outcome",
    "text_constant",
]

RangeOf = Callable[[BoundOperand], Range]


@record
class Comparison:
    """``left op right``; both operands are in one domain (see ``evaluator.binding.bind``)."""

    op: str
    left: BoundOperand
    right: BoundOperand


@entity
class Membership:
    """``operand IN members``."""

    operand: BoundOperand
    members: Members


@record
class Prefix:
    """``operand`` starts with ``prefix``. ``exact``: the leaf is just that; otherwise TRUE implies it.

    ``pattern``, if given, decides slices whose values are all one text.
    """

    operand: BoundOperand
    prefix: BoundConstant
    successor: BoundConstant | None
    exact: bool
    pattern: LikePattern | None = None


def starts_with(operand: BoundOperand, prefix: str, *, exact: bool, pattern: LikePattern | None = None) -> Prefix:
    """A ``Prefix`` with the end of its range."""
    above = successor(prefix)
    return Prefix(operand, text_constant(prefix), None if above is None else text_constant(above), exact, pattern)


def text_constant(value: str) -> BoundConstant:
    """A text as an operand."""
    return BoundConstant(value, Interval(value, value, False, True), STRING)


@record
class NullTest:
    """``operand IS NULL``."""

    operand: BoundOperand


@record
class OutOfRange:
    """``operand`` against a constant that its type cannot hold: the same ``truth`` for every value (P10).

    An engine folds such a comparison to that truth even for NULL rows, or yields NULL there. ``any_of_null``: NULL rows
    may have the other truth, too.
    """

    operand: BoundOperand
    truth: bool
    any_of_null: bool = False


@record
class Piece:
    """An interval of values; without an end it is open to all values on that side. ``open``: the end is no part of it.

    The ends are in the domain of the operand that is tested.
    """

    lo: BoundConstant | None
    hi: BoundConstant | None
    lo_open: bool
    hi_open: bool


@record
class IntervalSets:
    """Conditions on ``operand`` together: the values on which they may be TRUE, FALSE and NULL.

    ``of_null`` is their outcome where ``operand`` is NULL (``evaluator.binding.interval_sets``).
    """

    operand: BoundColumn
    true: tuple[Piece, ...]
    false: tuple[Piece, ...]
    null: tuple[Piece, ...]
    of_null: int


@record
class Fixed:
    """The same outcome in every slice: a constant, or unknown."""

    outcome: int


Test = Comparison | Membership | Prefix | NullTest | OutOfRange | IntervalSets | Fixed


@record
class Lookup:
    """A key look-up: the leaf is TRUE only on rows where ``column`` has one of ``values``.

    With a ``function``, only on rows where that function of the column has one of them.
    """

    column: Field
    values: Sequence[object]
    function: str = ""


@record
class BoundLeaf:
    """A leaf of the filter, ready to evaluate. ``reason`` is why it is unknown, if it is.

    ``note``: how a second leaf of the same node looks at it, for people.
    """

    node: HudiExpression
    test: Test
    columns: tuple[str, ...] = ()
    reason: str | None = None
    lookup: Lookup | None = None
    note: str = ""

    @property
    def text(self) -> str:
        """The source condition, for people."""
        return f"{to_text(self.node)} ({self.note})" if self.note else to_text(self.node)


def possible_values(test: Test, range_of: RangeOf) -> Possible:
    """The values that a test can have: bools, arrays or symbols, as ``range_of`` gives them.

    A pattern behind a prefix is left open here: see ``test_outcome``.
    """
    match test:
        case Comparison(op=op, left=left, right=right):
            return rules.compare(op, range_of(left), range_of(right))
        case Membership(operand=operand, members=members):
            return rules.is_in(range_of(operand), members)
        case Prefix(operand=operand, prefix=prefix, successor=successor, exact=exact):
            above = None if successor is None else range_of(successor)
            return rules.starts_with(range_of(operand), range_of(prefix), above, exact)
        case NullTest(operand=operand):
            return rules.is_null(range_of(operand))
        case OutOfRange(operand=operand, truth=truth, any_of_null=any_of_null):
            return rules.is_constant(range_of(operand), truth, any_of_null=any_of_null)
        case IntervalSets(operand=operand, true=true, false=false, null=null, of_null=of_null):
            of_values = Possible(*(_ranges_of(pieces, range_of) for pieces in (true, false, null)))
            return rules.in_sets(range_of(operand), of_values, of_null)
        case Fixed(outcome=fixed):
            return Possible(bool(fixed & TRUE), bool(fixed & FALSE), bool(fixed & NULL))
        case _:
            assert_never(test)


def possible_value(test: Test, range_of: RangeOf, sought: TruthValue) -> Any:
    """Where a test can have this value alone; as ``possible_values``, which may also look at the other two.

    A comparison can be FALSE where the opposite one can be TRUE.
    """
    if isinstance(test, Comparison) and test.op in rules.OPPOSITE:
        op = rules.OPPOSITE[test.op] if sought is TruthValue.FALSE else test.op
        if sought is not TruthValue.NULL:
            return rules.can_be_true(op, range_of(test.left), range_of(test.right))
    if sought is TruthValue.TRUE and isinstance(test, Membership):
        return rules.can_be_in(range_of(test.operand), test.members)
    if sought is TruthValue.TRUE and isinstance(test, Prefix):
        above = None if test.successor is None else range_of(test.successor)
        return rules.can_start_with(range_of(test.operand), range_of(test.prefix), above)
    return possible_values(test, range_of)[sought]


def is_plain(test: Test) -> bool:
    """True when the rule looks at the bounds of one column, and at constants."""
    match test:
        case Fixed():
            return True
        case Comparison(left=left, right=right):
            return isinstance(left, BoundColumn) and isinstance(right, BoundConstant)
        case _:
            return isinstance(test.operand, BoundColumn)


def _ranges_of(pieces: Sequence[Piece], range_of: RangeOf) -> list[rules.Ends]:
    return [
        rules.Ends(
            None if piece.lo is None else range_of(piece.lo),
            None if piece.hi is None else range_of(piece.hi),
            piece.lo_open,
            piece.hi_open,
        )
        for piece in pieces
    ]


def test_outcome(test: Test, range_of: RangeOf) -> Any:
    """The outcome of a test: int, or ``(n,) uint8``, as ``range_of`` gives scalars or arrays."""
    by_bounds = rules.pack(possible_values(test, range_of))
    if isinstance(test, Prefix) and test.pattern is not None:
        return rules.refine_single_values(by_bounds, range_of(test.operand), test.pattern.matches)
    return by_bounds


def expression_keys(test: Test) -> tuple[tuple[str, str], ...]:
    """The keys under which a provider may have statistics of a function that is tested against constants.

    The function and the column of ``function(column)``, and the canonical key of any function with a column of it.
    """
    if isinstance(test, Fixed) or (isinstance(test, Comparison) and not isinstance(test.right, BoundConstant)):
        return ()
    operand = test.left if isinstance(test, Comparison) else test.operand
    if not isinstance(operand, BoundFunction):
        return ()
    return tuple(key for key in (expression_of(test), canonical_key(operand)) if key is not None)


def expression_of(test: Test) -> tuple[str, str] | None:
    """The function and the column of a test of ``function(column)`` against constants; None for any other test.

    Only functions that yield text or whole numbers of text or days: their bounds are in the form of the test.
    """
    if isinstance(test, Fixed) or (isinstance(test, Comparison) and not isinstance(test.right, BoundConstant)):
        return None
    operand = test.left if isinstance(test, Comparison) else test.operand
    if type(operand) is not BoundFunction or len(operand.arguments) != 1:
        return None
    column = operand.arguments[0]
    if not isinstance(column, BoundColumn) or column.is_nested or column.type != column.field.type:
        return None
    simple = operand.type.kind.is_integer or operand.type.kind in (Kind.STRING, Kind.VARCHAR)
    return (operand.function, column.field.name) if simple else None


def lookup_of_result(test: Comparison | Membership, values: Sequence[Any]) -> Lookup | None:
    """The look-up of the results that a function of a column must have; only where equal results are identical."""
    expression = expression_of(test)
    if expression is None or not all(type(value) in (int, str) for value in values):
        return None
    operand = test.left if isinstance(test, Comparison) else test.operand
    [column] = columns_of(operand).values()
    return Lookup(column, tuple(values), expression[0])
