"""Translates a SearchArgument into a HudiExpression, and demotes the leaves whose literals may be wrong (C7).

Hive converts each literal to the class of the *column*, which truncates it, and leaves out the conditions that it does
not understand. A literal v therefore stands for every value that truncates to v, and the filter of the query may be
stricter than the SearchArgument:

    ==============  ==============================================================  =================================
    leaf            original literal or condition                                   becomes
    ==============  ==============================================================  =================================
    LONG v          a < 5.5 -> 5; rounding to float or double in the comparison     v - 1 - |v|/2^22 ..
                                                                                    v + 1 + |v|/2^22
    LONG 0, limits  NaN -> 0, 1e30 -> 9223372036854775807                           unknown
    FLOAT v         0.1 -> 0.10000000149011612 (2.3)                                v -+ |v|/2^22, or 1e-44 near 0
    DECIMAL v       a double compared as double                                     v -+ |v|/2^22
    DATE            midnight of an unknown zone; a timestamp's day                  -1 .. +2 days
    TIMESTAMP       a wall clock of an unknown zone, nanoseconds lost               -+ 32 hours
    STRING          a number, date, boolean compared as such (s = 5 -> '5');        unknown
                    a CHAR literal's padding
    STRING          any other text                                                  exact
    BOOLEAN         itself                                                          exact
    BETWEEN         NOT BETWEEN: 2.3 and 3.1 ignore the flag                        unknown
    IN              each of the above, for each member                              OR of the ranges
    IS_NULL         itself                                                          exact
    dynamic value   a value that is known at run time only                          unknown
    ==============  ==============================================================  =================================

For the conditions that were left out, the result is ``argument AND ?``: FALSE where the argument is FALSE, and nowhere
only TRUE.

Facts: docs/facts/hive-search-argument.md#conditions-that-lose-rows.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from evaluator.language.epoch import FIRST_GREGORIAN_DAY
from evaluator.language.expression import (
    And,
    Column,
    Compare,
    HudiExpression,
    IsNull,
    Literal,
    Not,
    Or,
    Unknown,
)
from evaluator.language.expression import (
    Constant as TruthValue,
)
from evaluator.language.types import BIGINT, BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, decimal_type
from sarg.hive_tree.constants import Constant, LocalDate, LocalTimestamp, SqlDate, SqlTimestamp
from sarg.hive_tree.searchargument import ArgumentTree, PredicateLeaf, SearchArgument
from sarg.translation.bounded_constants import compare_with_range
from sarg.translation.function_names import VIRTUAL_COLUMNS

__all__ = ["demote"]

_COMPARISONS = {"EQUALS": "=", "NULL_SAFE_EQUALS": "<=>", "LESS_THAN": "<", "LESS_THAN_EQUALS": "<="}
_TRUTH_VALUES = {"YES": True, "NO": False, "NULL": None}
_DAY_MILLIS = 86_400_000
#: In microseconds: twice an offset from UTC that no zone ever had, 16 hours.
_TIMESTAMP_MARGIN = 32 * 3600 * 10**6
#: Literals up to this day are not decided: java.sql may have counted them in the Julian calendar.
_LAST_JULIAN_DAY = FIRST_GREGORIAN_DAY + 3
#: Texts that Java may have made of a number, date, timestamp or boolean.
_TEXT_OF_OTHER_TYPE = re.compile(
    r"[+-]?(\d|\.\d).*|[+-]?(Infinity|NaN|inf|nan).*|true|false", re.IGNORECASE | re.DOTALL
)
_REASON = "a SearchArgument's literal is not exact"
_MAX_RANGES = 1000


def demote(argument: SearchArgument) -> HudiExpression:
    """A condition whose outcomes contain those of the query's filter. Never fails."""
    return And((_tree(argument.compact), Unknown("a SearchArgument may leave conditions out")))


def _tree(root: ArgumentTree) -> HudiExpression:
    order: list[ArgumentTree] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    values: list[HudiExpression] = []
    while order:
        node = order.pop()
        count = len(node.children)
        children = tuple(values[len(values) - count :])
        del values[len(values) - count :]
        values.append(_node(node, children))
    return values[0]


def _node(node: ArgumentTree, children: tuple[HudiExpression, ...]) -> HudiExpression:
    match node.operator:
        case "AND":
            return And(children)
        case "OR":
            return Or(children)
        case "NOT":
            return Not(children[0])
        case "LEAF" if node.leaf is not None:
            return _leaf(node.leaf)
        case "CONSTANT" if node.constant in _TRUTH_VALUES:
            return TruthValue(_TRUTH_VALUES[node.constant])
        case _:
            return Unknown("a condition that Hive did not put into the SearchArgument")


def _leaf(leaf: PredicateLeaf) -> HudiExpression:
    if leaf.column.upper() in VIRTUAL_COLUMNS:
        return Unknown(f"{leaf.column} is a virtual column")
    column = Column((leaf.column,))
    match leaf.operator:
        case "IS_NULL":
            return IsNull(column)
        case "BETWEEN":
            return Unknown("a SearchArgument's BETWEEN may be NOT BETWEEN")
        case "IN":
            return _in(column, leaf)
        case operator if operator in _COMPARISONS:
            return _compare(_COMPARISONS[operator], column, leaf.type, leaf.literal)
        case operator:
            return Unknown(f"a SearchArgument's {operator}")


def _compare(op: str, column: Column, kind: str, literal: Constant | None) -> HudiExpression:
    if literal is None or literal.java.endswith("DynamicValue"):
        return Unknown("a SearchArgument's literal is known at run time only")
    exact = _exact(kind, literal)
    if exact is not None:
        return Compare(op, column, exact)
    bounds = _bounds(kind, literal)
    return Unknown(_REASON) if bounds is None else compare_with_range(op, column, *bounds, _REASON)


def _in(column: Column, leaf: PredicateLeaf) -> HudiExpression:
    literals = leaf.literals or ()
    members = [_compare("=", column, leaf.type, literal) for literal in literals if literal is not None]
    if not members or len(members) > _MAX_RANGES or any(isinstance(member, Unknown) for member in members):
        return Unknown(_REASON)
    if len(members) < len(literals):
        members.append(TruthValue(None))
    return Or(tuple(members))


def _exact(kind: str, literal: Constant) -> Literal | None:
    match kind, literal.value:
        case "BOOLEAN", bool() as value:
            return Literal(value, BOOLEAN)
        case "STRING", str() as text if _is_plain_text(text):
            return Literal(text, STRING)
        case _:
            return None


def _is_plain_text(text: str) -> bool:
    """Whether the original literal can only be this text: not a value of another type, and not padded."""
    if text != text.strip() or not text or _TEXT_OF_OTHER_TYPE.fullmatch(text):
        return False
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _bounds(kind: str, literal: Constant) -> tuple[Literal, Literal] | None:
    match kind, literal.value:
        case "LONG", int() as value if value and abs(value) < 2**62:
            margin = 1 + (abs(value) >> 22)
            return Literal(value - margin, BIGINT), Literal(value + margin, BIGINT)
        case "FLOAT", float() as value if math.isfinite(value) and abs(value) < 3e38:
            margin_of_float = abs(value) / 2**22 + 1e-44
            return Literal(value - margin_of_float, DOUBLE), Literal(value + margin_of_float, DOUBLE)
        case "DECIMAL", Decimal() as value:
            return _decimal_bounds(value)
        case "DATE", SqlDate(millis=millis) if millis // _DAY_MILLIS > _LAST_JULIAN_DAY:
            return Literal(millis // _DAY_MILLIS - 1, DATE), Literal(millis // _DAY_MILLIS + 2, DATE)
        case "DATE", LocalDate() as date if date.epoch_day() > _LAST_JULIAN_DAY:
            return Literal(date.epoch_day() - 1, DATE), Literal(date.epoch_day() + 2, DATE)
        case "TIMESTAMP", SqlTimestamp(millis=millis) if millis // _DAY_MILLIS > _LAST_JULIAN_DAY:
            return _timestamp_bounds(millis * 1000)
        case "TIMESTAMP", SqlDate(millis=millis) if millis // _DAY_MILLIS > _LAST_JULIAN_DAY:
            return _timestamp_bounds(millis * 1000)
        case "TIMESTAMP", LocalTimestamp() as wall_clock if wall_clock.date.epoch_day() > _LAST_JULIAN_DAY:
            return _timestamp_bounds(wall_clock.epoch_nanos() // 1000)
        case _:
            return None


def _decimal_bounds(value: Decimal) -> tuple[Literal, Literal] | None:
    scale = max(0, -int(value.as_tuple().exponent))
    margin = abs(int(value.scaleb(scale))) // 2**22 + 1
    unscaled = int(value.scaleb(scale))
    low, high = (Decimal(unscaled + step).scaleb(-scale) for step in (-margin, margin))
    if max(abs(unscaled - margin), abs(unscaled + margin)) >= 10**38:
        return None
    return Literal(low, decimal_type(38, scale)), Literal(high, decimal_type(38, scale))


def _timestamp_bounds(micros: int) -> tuple[Literal, Literal]:
    return Literal(micros - _TIMESTAMP_MARGIN, TIMESTAMP), Literal(micros + _TIMESTAMP_MARGIN, TIMESTAMP)
