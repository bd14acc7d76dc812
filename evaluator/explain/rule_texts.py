"""The rules as text: the condition on the bounds under which a leaf can be true, and can be false.

    leaf              needs to be true           needs to be false    statistic    constants
    ----------------  -------------------------  -------------------  -----------  ----------------
    i > 100           hi > v                     lo <= v              hi = 40      v = 100
    i IN (1, 5)       lo <= some v <= hi         not (lo = hi = some v)            v in {1, 5}
    s LIKE 'ban%'     hi >= v and lo < w         lo < v or hi >= w                 v = 'ban', w = 'bao'

No rule is written here. The rule table compares bounds by ``<`` and ``<=`` only (``statistics.ranges``). It is called
once with names in place of bounds, whose comparisons give text instead of truth values. So the text cannot differ from
the rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, count
from typing import Any

from evaluator.binding.leaves import (
    Comparison,
    Fixed,
    IntervalSets,
    Membership,
    NullTest,
    OutOfRange,
    Prefix,
    Test,
    possible_values,
)
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand, columns_of
from evaluator.evaluation.evaluate import interval_at
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.language.records import record
from evaluator.language.types import Kind
from evaluator.language.value_texts import cut, ordinal_text, value_text
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.ranges import Members, Range

__all__ = ["ConditionText", "RuleTexts", "interval_of", "operand_text", "rule_texts"]

_MEMBERS_SHOWN = 5


@record
class RuleTexts:
    """The texts of a bound leaf.

    test         the leaf: ``i > v``
    true, false  the conditions under which it can be true, and can be false; None where that is always or never so
    constants    the constants of the leaf: ``v = 100``
    """

    test: str
    true: ConditionText | None
    false: ConditionText | None
    constants: str

    def rule(self, outcome: int, *, no_value: bool) -> str:
        """The rule behind an outcome. ``no_value``: the column is all NULL in the slice."""
        if no_value and outcome == NULL:
            return f"{self.test} needs a value"
        if outcome & TRUE and not outcome & FALSE:
            return f"NOT ({self.test}) needs {self.false.text}" if self.false else f"{self.test} is never false"
        possible = "always possible" if outcome & TRUE else "never true"
        return f"{self.test} needs {self.true.text}" if self.true else f"{self.test} is {possible}"

    def statistics(self, outcome: int, known: Mapping[str, ColumnStatistics], index: int) -> str:
        """The statistics of one slice that the rule behind an outcome names: ``hi = 40``."""
        rule = self.false if outcome & TRUE and not outcome & FALSE else self.true
        named = {end.name: end for end in (rule.ends if rule else ()) if end.side}
        intervals = {name: interval_at(column, index) for name, column in known.items()}
        return ", ".join(
            _end_text(end, known, intervals, index)
            for end in sorted(named.values(), key=lambda end: _SIDES.index(end.side))
        )


#: What a rule may name of a column, in the order of its display. A bound of a constant has no side.
_SIDES = ("lo", "hi", "nulls")


def _end_text(
    end: _BoundName, known: Mapping[str, ColumnStatistics], intervals: Mapping[str, Interval], index: int
) -> str:
    if end.side == "nulls":
        counts = [
            (column.null_count[index], column.row_count[index])
            for name, column in known.items()
            if name in columns_of(end.operand)
        ]
        return ", ".join(f"{end.name} = {_count(nulls)} of {_count(rows)} rows" for nulls, rows in counts)
    interval = interval_of(end.operand, intervals, ordinal=True)
    if not interval.value:
        return f"{end.name} = none, all is NULL"
    bound = interval.lo if end.side == "lo" else interval.hi
    text = ordinal_text if isinstance(end.operand, BoundColumn) else value_text
    return f"{end.name} = {'?' if bound is None else text(bound, end.operand.type)}"


class ConditionText:
    """A condition on bounds as text, in place of a truth value; ``ends`` are the bounds that it names."""

    __slots__ = ("ends", "text")

    def __init__(self, text: str, ends: Sequence[_BoundName]) -> None:
        self.text = text
        self.ends = tuple(ends)

    def __and__(self, other: ConditionText) -> ConditionText:
        between = _BETWEEN.fullmatch(f"{self.text} and {other.text}")
        text = (
            f"{between[1]} <= {between[2]} <= {between[3]}"
            if between
            else f"{_grouped(self.text)} and {_grouped(other.text)}"
        )
        return ConditionText(text, (*self.ends, *other.ends))

    def __or__(self, other: ConditionText) -> ConditionText:
        return ConditionText(f"{self.text} or {other.text}", (*self.ends, *other.ends))

    def __xor__(self, _: object) -> ConditionText:
        return ConditionText(f"not ({self.text})", self.ends)


_BETWEEN = re.compile(r"(\S+) <= (\S+) and (\S+) >= \2")


def _grouped(text: str) -> str:
    return f"({text})" if " or " in text else text


class _BoundName:
    """A bound of a range by name: a comparison of two gives its text."""

    __slots__ = ("name", "operand", "side")

    def __init__(self, name: str, operand: BoundOperand, side: str) -> None:
        self.name = name
        self.operand = operand
        self.side = side

    def __lt__(self, other: _BoundName) -> ConditionText:
        return self._against("<", ">", other)

    def __le__(self, other: _BoundName) -> ConditionText:
        return self._against("<=", ">=", other)

    def _against(self, op: str, mirrored: str, other: _BoundName) -> ConditionText:
        first, sign, second = (self, op, other) if self.side else (other, mirrored, self)
        return ConditionText(f"{first.name} {sign} {second.name}", (first, second))

    def meets(self, hi: _BoundName, _: Members) -> ConditionText:
        return ConditionText(f"{self.name} <= some v <= {hi.name}", (self, hi))

    def is_one_of(self, hi: _BoundName, _: Members) -> ConditionText:
        return ConditionText(f"{self.name} = {hi.name} = some v", (self, hi))


def rule_texts(test: Test) -> RuleTexts:
    """The texts of a test: the rule table applied to names in place of bounds."""
    names = _Names(test)
    true, false, _ = possible_values(test, names.range_of)
    if isinstance(test, Membership):
        names.shown.append("v in " + _members_text(test))
    return RuleTexts(
        _test_text(test, names),
        true if isinstance(true, ConditionText) else None,
        false if isinstance(false, ConditionText) else None,
        ", ".join(names.shown),
    )


class _Names:
    """The names of a test's operands: ``lo`` and ``hi`` of a column, ``v`` or ``v`` and ``w`` for a constant."""

    def __init__(self, test: Test) -> None:
        self.shown: list[str] = []
        self._test = test
        self._letters = chain("vwyz", (f"v{number}" for number in count(1)))
        self._constants: dict[int, tuple[str, str]] = {}
        self._several = sum(not isinstance(operand, BoundConstant) for operand in _operands(test)) > 1
        for operand in _operands(test):
            self.range_of(operand)  # constants get their letters in the order in which they are written

    def range_of(self, operand: BoundOperand) -> Range:
        if isinstance(operand, BoundConstant):
            low, high = self._constant(operand)
            return Range(
                _BoundName(low, operand, ""),
                _BoundName(high, operand, ""),
                operand.interval.null,
                operand.interval.value,
            )
        suffix = f"({operand_text(operand)})" if self._several else ""
        nulls = _BoundName(f"nulls{suffix}", operand, "nulls")
        value: Any = ConditionText(f"nulls{suffix} < rows", (nulls,)) if isinstance(self._test, NullTest) else True
        return Range(
            _BoundName(f"lo{suffix}", operand, "lo"),
            _BoundName(f"hi{suffix}", operand, "hi"),
            ConditionText(f"nulls{suffix} > 0", (nulls,)),
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
        case IntervalSets(operand=operand):
            return f"conditions on {names.text(operand)} together"
        case Fixed():
            return "a constant"


def operand_text(operand: BoundOperand) -> str:
    """An operand as SQL text, cut to the length of ``value_texts.cut``."""
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
    against_column = isinstance(test, IntervalSets) or (
        isinstance(test, Comparison) and isinstance(test.left, BoundColumn)
    )
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
    """The interval of an operand in one slice. ``ordinal``: a decimal column in the form of arrays, not as values."""
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
