"""IN lists of constants: whether an engine compares each member by itself, and what members become in a column's type.

    i IN (1, '2')              compared as text, perhaps: not decided, unless each value has one text only
    i IN (1, 300) of tinyint   Hive casts 300 to the column's type, or leaves it out
    i IN (300) of tinyint      Hive folds the list to FALSE
    s IN (9, 10)               Spark without ANSI mode: s IN ('9', '10')

Pitfall P11 is described in docs/facts/pitfalls.md#p11.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from evaluator.binding.leaves import text_constant
from evaluator.binding.operands import BoundConstant
from evaluator.functions.base import common_digits
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import exact_number, is_integer_text
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = ["as_column_type", "as_texts", "check_one_comparison", "holds_exactly", "may_hold_any"]


def check_one_comparison(column: Type, members: Sequence[BoundConstant], semantics: Semantics) -> None:
    """Raise UnsupportedError where an engine compares a whole list in a type that changes its members.

    An engine may compare a list that holds text as text: then 1 is not in ('1.0') (P11). That makes no difference where
    a value has one text only: integers among integers, dates among dates. Numbers without a common decimal are rounded
    (Hive: 2 is in (1.5) for a decimal(38,0)) or lost (Spark). A NULL of a type takes part in the choice of the type.
    """
    members = [m for m in members if m.type.kind is not Kind.VOID]
    if column.kind.is_text and not all(m.type.kind.is_text for m in members):
        raise UnsupportedError("text IN a list of other types is not decided: engines differ")
    if column.kind is Kind.BINARY and semantics.binary_lists_fail:
        raise UnsupportedError("IN over binary is not decided under this engine")
    decimals = [t for t in (column, *(m.type for m in members)) if t.kind.is_integer or t.kind is Kind.DECIMAL]
    if any(t.kind is Kind.DECIMAL for t in decimals) and common_digits(decimals) > 38:
        raise UnsupportedError("IN over numbers that have no common decimal is not decided")
    if column.kind.is_text or not any(m.type.kind.is_text for m in members):
        return
    if column.kind.is_integer:
        alike = all(
            m.type.kind.is_integer or (m.type.kind.is_text and (m.value is None or is_integer_text(m.value)))
            for m in members
        )
    else:
        alike = column.kind is Kind.DATE and all(
            m.type.kind is Kind.DATE or (m.type.kind.is_text and (m.value is None or len(str(m.value)) == 10))
            for m in members
        )
    if not alike:
        raise UnsupportedError(f"{column} IN a list with text is not decided: it may be compared as text")


def as_texts(column: Type, members: Sequence[BoundConstant]) -> list[BoundConstant] | None:
    """The integers of a list as the texts with which a text column is compared; None for a list of other types."""
    if column.kind not in (Kind.STRING, Kind.VARCHAR):
        return None
    found = []
    for member in members:
        kind = member.type.kind
        if kind.is_integer and isinstance(member.value, int):
            member = text_constant(str(member.value))
        elif kind is not Kind.VOID and not (kind is Kind.STRING or (kind.is_integer and member.value is None)):
            return None
        found.append(member)
    return found


def as_column_type(column: Type, members: Sequence[BoundConstant]) -> Iterator[Interval]:
    """What members may become that are cast to the column's type: the greatest or smallest integer, a day."""
    holds_dates = column.kind is Kind.DATE and any(member.type.kind is Kind.DATE for member in members)
    for member in members:
        value: Any = member.value
        if value is None:
            continue
        if column.kind.is_integer and member.type.kind.is_fractional:
            smallest, largest = column.integer_range()
            if not smallest <= value <= largest:
                end = smallest if value < smallest else largest
                yield Interval(end - Fraction(1, 2), end, null=False)
        elif holds_dates and member.type.kind.is_timestamp:
            day = math.floor(Fraction(value) / DAY)
            yield Interval(day - Fraction(1, 2), day, null=False)


def holds_exactly(column: Type, member: BoundConstant) -> bool:
    """Whether a member is a value of an integer column's type. Hive folds a list without such a member to FALSE."""
    if not column.kind.is_integer or not member.type.kind.is_number or member.value is None:
        return True
    smallest, largest = column.integer_range()
    try:
        number = exact_number(member.value)
    except UnsupportedError:
        return False
    return isinstance(number, int) and smallest <= number <= largest


def may_hold_any(column: Type, points: Sequence[Any], wider: Sequence[Interval]) -> bool:
    """Whether a column of this type can hold any member of a list: 300 is no tinyint, 'abc' no varchar(2)."""
    if column.kind.is_integer:
        smallest, largest = column.integer_range()
        return any(smallest <= p <= largest for p in points) or any(
            max(smallest, math.ceil(i.lo)) <= min(largest, math.floor(i.hi)) for i in wider
        )
    if column.kind in (Kind.CHAR, Kind.VARCHAR):
        texts = [*points, *(i.lo for i in wider)]
        return any(len(text) <= column.precision for text in texts)
    return True
