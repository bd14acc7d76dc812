"""The rules in words: what a bound leaf needs to be true, and to be false.

    leaf              needs to be true           needs to be false    statistic    constants
    ----------------  -------------------------  -------------------  -----------  ----------------
    i > 100           hi > v                     lo <= v              hi = 40      v = 100
    i IN (1, 5)       lo <= some v <= hi         not (lo = hi = some v)            v in {1, 5}
    s LIKE 'ban%'     hi >= v and lo < w         lo < v or hi >= w                 v = 'ban', w = 'bao'

No rule is written here. The rule table asks nothing of a bound but ``<`` and ``<=`` (``statistics.ranges``), so it is
asked once with names in place of bounds, which answer with what was asked: a rule cannot change without its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evaluator.binding.leaves import Comparison, Fixed, Membership, NullTest, OutOfRange, Prefix, Test, possible_values
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand, columns_of
from evaluator.evaluation.evaluate import interval_at
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.language.types import Kind
from evaluator.language.value_texts import cut, ordinal_text, value_text
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.ranges import Members, Range

__all__ = ["RuleTexts", "Said", "interval_of", "operand_text", "rule_texts"]

_MEMBERS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RuleTexts:
    """A bound leaf in words.

    test         ``i > v``
    true, false  what it needs to be true, and to be false: a text and the ends of ranges that it names; None where
                 that is always or never possible
    constants    ``v = 100``
    """

    test: str
    true: Said | None
    false: Said | None
    constants: str

    def rule(self, outcome: int, *, no_value: bool) -> str:
        """The rule that decided, or the one that holds where nothing is decided."""
        if no_value and outcome == NULL:
            return f"{self.test} needs a value"
        if outcome & TRUE and not outcome & FALSE:
            return f"NOT ({self.test}) needs {self.false.text}" if self.false else f"{self.test} is never false"
        possible = "always possible" if outcome & TRUE else "never true"
        return f"{self.test} needs {self.true.text}" if self.true else f"{self.test} is {possible}"

    def statistics(self, outcome: int, known: Mapping[str, ColumnStatistics], index: int) -> str:
        """What is known in one slice of the ends that this rule names: ``hi = 40``."""
        rule = self.false if outcome & TRUE and not outcome & FALSE else self.true
        named = {end.name: end for end in (rule.ends if rule else ()) if end.side}
        intervals = {name: interval_at(one, index) for name, one in known.items()}
        return ", ".join(
            _end_text(end, known, intervals, index)
            for end in sorted(named.values(), key=lambda end: _SIDES.index(end.side))
        )


#: The ends of a range that a rule may name, in the order in which they are shown. A constant's have no side.
_SIDES = ("lo", "hi", "nulls")


def _end_text(end: _End, known: Mapping[str, ColumnStatistics], intervals: Mapping[str, Interval], index: int) -> str:
    if end.side == "nulls":
        counts = [
            (one.null_count[index], one.row_count[index])
            for name, one in known.items()
            if name in columns_of(end.operand)
        ]
        return ", ".join(f"{end.name} = {_count(nulls)} of {_count(rows)} rows" for nulls, rows in counts)
    interval = interval_of(end.operand, intervals, ordinal=True)
    if not interval.value:
        return f"{end.name} = none, all is NULL"
    bound = interval.lo if end.side == "lo" else interval.hi
    text = ordinal_text if isinstance(end.operand, BoundColumn) else value_text
    return f"{end.name} = {'?' if bound is None else text(bound, end.operand.type)}"


class Said:
    """A condition on ends of ranges as text, in place of a truth value."""

    __slots__ = ("ends", "text")

    def __init__(self, text: str, ends: Sequence[_End]) -> None:
        self.text = text
        self.ends = tuple(ends)

    def __and__(self, other: Said) -> Said:
        between = _BETWEEN.fullmatch(f"{self.text} and {other.text}")
        text = (
            f"{between[1]} <= {between[2]} <= {between[3]}"
            if between
            else f"{_grouped(self.text)} and {_grouped(other.text)}"
        )
        return Said(text, (*self.ends, *other.ends))

    def __or__(self, other: Said) -> Said:
        return Said(f"{self.text} or {other.text}", (*self.ends, *other.ends))

    def __xor__(self, _: object) -> Said:
        return Said(f"not ({self.text})", self.ends)


_BETWEEN = re.compile(r"(\S+) <= (\S+) and (\S+) >= \2")


def _grouped(text: str) -> str:
    return f"({text})" if " or " in text else text


class _End:
    """One end of a range as a name: it answers ``<`` and ``<=`` with what was asked."""

    __slots__ = ("name", "operand", "side")

    def __init__(self, name: str, operand: BoundOperand, side: str) -> None:
        self.name = name
        self.operand = operand
        self.side = side

    def __lt__(self, other: _End) -> Said:
        return self._against("<", ">", other)

    def __le__(self, other: _End) -> Said:
        return self._against("<=", ">=", other)

    def _against(self, op: str, mirrored: str, other: _End) -> Said:
        first, sign, second = (self, op, other) if self.side else (other, mirrored, self)
        return Said(f"{first.name} {sign} {second.name}", (first, second))

    def meets(self, hi: _End, _: Members) -> Said:
        return Said(f"{self.name} <= some v <= {hi.name}", (self, hi))

    def is_one_of(self, hi: _End, _: Members) -> Said:
        return Said(f"{self.name} = {hi.name} = some v", (self, hi))


def rule_texts(test: Test) -> RuleTexts:
    """Ask the rule table when this test can be true and false, with names in place of bounds."""
    names = _Names(test)
    true, false, _ = possible_values(test, names.range_of)
    if isinstance(test, Membership):
        names.shown.append("v in " + _members_text(test))
    return RuleTexts(
        _test_text(test, names),
        true if isinstance(true, Said) else None,
        false if isinstance(false, Said) else None,
        ", ".join(names.shown),
    )


class _Names:
    """The names of a test's operands: ``lo`` and ``hi`` of a column, ``v`` or ``v`` and ``w`` for a constant."""

    def __init__(self, test: Test) -> None:
        self.shown: list[str] = []
        self._test = test
        self._letters = iter("vwyz")
        self._constants: dict[int, tuple[str, str]] = {}
        self._several = sum(not isinstance(operand, BoundConstant) for operand in _operands(test)) > 1
        for operand in _operands(test):
            self.range_of(operand)  # so that letters are given in writing order

    def range_of(self, operand: BoundOperand) -> Range:
        if isinstance(operand, BoundConstant):
            low, high = self._constant(operand)
            return Range(_End(low, operand, ""), _End(high, operand, ""), operand.interval.null, operand.interval.value)
        behind = f"({operand_text(operand)})" if self._several else ""
        nulls = _End(f"nulls{behind}", operand, "nulls")
        value: Any = Said(f"nulls{behind} < rows", (nulls,)) if isinstance(self._test, NullTest) else True
        return Range(
            _End(f"lo{behind}", operand, "lo"),
            _End(f"hi{behind}", operand, "hi"),
            Said(f"nulls{behind} > 0", (nulls,)),
            value,
        )

    def text(self, operand: BoundOperand) -> str:
        if not isinstance(operand, BoundConstant):
            return operand_text(operand)
        low, high = self._constant(operand)
        return low if low == high else f"[{low}, {high}]"

    def _constant(self, operand: BoundConstant) -> tuple[str, str]:
        if id(operand) not in self._constants:
            interval = operand.interval
            ends = [interval.lo] if interval.lo == interval.hi else [interval.lo, interval.hi]
            letters = [next(self._letters) for _ in ends]
            self.shown += [
                f"{letter} = {_constant_text(value, operand, self._test)}"
                for letter, value in zip(letters, ends, strict=True)
            ]
            self._constants[id(operand)] = (letters[0], letters[-1])
        return self._constants[id(operand)]


def _operands(test: Test) -> tuple[BoundOperand, ...]:
    match test:
        case Comparison(left=left, right=right):
            return (left, right)
        case Prefix(operand=operand, prefix=prefix, successor=successor):
            return (operand, prefix) if successor is None else (operand, prefix, successor)
        case Fixed():
            return ()
        case _:
            return (test.operand,)


def _test_text(test: Test, names: _Names) -> str:
    match test:
        case Comparison(op=op, left=left, right=right):
            return f"{names.text(left)} {op} {names.text(right)}"
        case Membership(operand=operand, members=members):
            return f"{names.text(operand)} IN {'(v, NULL)' if members.has_null else 'v'}"
        case Prefix(operand=operand, prefix=prefix):
            return f"{names.text(operand)} starts with {names.text(prefix)}"
        case NullTest(operand=operand):
            return f"{names.text(operand)} IS NULL"
        case OutOfRange(operand=operand):
            return f"{names.text(operand)} against a constant that its type does not hold"
        case Fixed():
            return "a constant"


def operand_text(operand: BoundOperand) -> str:
    """An operand in SQL, short."""
    match operand:
        case BoundColumn(field=field):
            return field.name
        case BoundConstant(interval=interval):
            return (
                "NULL" if not interval.value else "?" if interval.lo is None else value_text(interval.lo, operand.type)
            )
        case BoundFunction(function="cast", arguments=arguments):
            return f"CAST({operand_text(arguments[0])} AS {operand.type})"
        case BoundFunction(function=function, arguments=arguments):
            parts = [operand_text(argument) for argument in arguments]
            infix = len(parts) == 2 and not function[0].isalpha()
            return cut(f"({parts[0]} {function} {parts[1]})" if infix else f"{function}({', '.join(parts)})")


def _constant_text(value: Any, constant: BoundConstant, test: Test) -> str:
    if value is None:
        return "?"
    against_column = isinstance(test, Comparison) and isinstance(test.left, BoundColumn)
    return (ordinal_text if against_column else value_text)(value, constant.type)


def _members_text(test: Membership) -> str:
    values = test.members.values
    text = ordinal_text if isinstance(test.operand, BoundColumn) else value_text
    shown = [text(value, test.operand.type) for value in values[:_MEMBERS_SHOWN]]
    more = [f"... {len(values) - _MEMBERS_SHOWN} more"] if len(values) > _MEMBERS_SHOWN else []
    return "{" + ", ".join(shown + more) + "}"


def _count(number: Any) -> str:
    return "?" if number == UNKNOWN_COUNT else str(int(number))


def interval_of(operand: BoundOperand, intervals: Mapping[str, Interval], *, ordinal: bool) -> Interval:
    """What is known of an operand in one slice; a column as an argument of a function is in value form."""
    match operand:
        case BoundConstant(interval=interval):
            return interval
        case BoundColumn(field=field):
            interval = intervals.get(field.name, UNKNOWN)
            if ordinal or operand.type.kind is not Kind.DECIMAL:
                return interval
            return interval.with_bounds(
                *(
                    None if bound is None else Fraction(int(bound), 10**field.type.scale)
                    for bound in (interval.lo, interval.hi)
                )
            )
        case BoundFunction(arguments=arguments):
            return operand.interval([interval_of(a, intervals, ordinal=False) for a in arguments])
