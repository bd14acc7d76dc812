"""Constants of a filter in a column's type, exactly as engines compare them, for tests of columns (``exact_tests``).

    column                 constant                            becomes
    --------------------   ---------------------------------   ----------------------------------------------------
    integer, decimal       integer, decimal                    the next number that the column can hold: c < 5.5 is
                                                               c <= 5; beyond its range the answer is known
    tiny, small, int       double                              the same
    double                 double, integer, decimal            the nearest double, up to 53 bits
    float                  a number that a float holds         itself
    text, binary, boolean  the same                            itself
    date                   date, text such as '2026-01-31'     itself
    timestamp              timestamp, date, text               the instant of the session zone, where it is one

Two numbers of unequal types are compared here only where all versions and settings of the engine agree
(``evaluator.reference.row_oracle`` refuses the others). The rest raises ``NotExactError``.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from decimal import Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.expression import Literal
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from evaluator.language.zones import instant_of

__all__ = ["NotExactError", "Outside", "in_column_type"]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2})?", re.ASCII)
_MAX_DIGITS = 38
_EXACT_BITS = 1 << 53
_WIDE = Context(prec=2 * _MAX_DIGITS)


class NotExactError(Exception):
    """A condition that engines do not all decide alike, or not by columns and constants alone."""


class Outside(Enum):
    """What a comparison with a constant outside of a column's values is."""

    NEVER = "never TRUE"
    EVERY_VALUE = "TRUE for every value that is not NULL"


def in_column_type(literal: Literal, column: Type, op: str, semantics: Semantics) -> tuple[str, Any] | Outside:
    """The operator and the constant that compare the same with every value of the column; the constant is not NULL."""
    value: Any = literal.value
    constant = literal.type
    if isinstance(value, bool) or Kind.BOOLEAN in (column.kind, constant.kind):
        if column.kind is constant.kind and op in ("=", "!="):
            return op, value
    elif column.kind.is_integer or column.kind is Kind.DECIMAL:
        return _number(value, constant, column, op, semantics)
    elif column.kind.is_fractional:
        return op, _fraction(value, constant, column, semantics)
    elif column.kind in (Kind.STRING, Kind.VARCHAR):
        if constant.kind in (Kind.STRING, Kind.VARCHAR):
            return op, value
    elif column.kind is Kind.BINARY:
        if constant.kind is Kind.BINARY:
            return op, bytes(value)
    elif column.kind is Kind.DATE:
        if constant.kind is Kind.DATE:
            return op, value
        if constant.kind is Kind.STRING and _DATE.fullmatch(value):
            return op, _micros(value) // DAY
    elif column.kind.is_timestamp:
        return _step(_moment(value, constant, column, semantics), op, -(1 << 63), (1 << 63) - 1)
    raise NotExactError(f"{column} beside a constant of type {constant}")


def _number(value: Any, constant: Type, column: Type, op: str, semantics: Semantics) -> tuple[str, Any] | Outside:
    """An integer or decimal column."""
    digits = _digits(column)
    if constant.kind.is_integer or constant.kind is Kind.DECIMAL:
        other = _digits(constant)
        if max(digits[0], other[0]) + max(digits[1], other[1]) > _MAX_DIGITS and Kind.DECIMAL in (
            column.kind,
            constant.kind,
        ):
            raise NotExactError("numbers that have no common decimal")
        if semantics.decimals_may_be_null and max(column.precision, constant.precision) >= _MAX_DIGITS:
            raise NotExactError("a decimal of 38 digits")
    elif not (
        constant.kind is Kind.DOUBLE
        and column.kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT)
        and math.isfinite(value)
        and abs(value) < _EXACT_BITS
    ):
        raise NotExactError(f"{column} beside a constant of type {constant}")
    exact = Fraction(value)
    if column.kind is Kind.DECIMAL:
        largest = 10**column.precision - 1
        found = _step(exact * 10**column.scale, op, -largest, largest)
        return found if isinstance(found, Outside) else (found[0], Decimal(found[1]).scaleb(-column.scale, _WIDE))
    return _step(exact, op, *column.integer_range())


def _step(exact: Fraction | int, op: str, low: int, high: int) -> tuple[str, int] | Outside:
    """A comparison with a fraction as one with a whole number from low to high."""
    if isinstance(exact, Fraction) and exact.denominator != 1:
        if op in ("=", "!="):
            return Outside.NEVER if op == "=" else Outside.EVERY_VALUE
        op, exact = ("<=", math.floor(exact)) if op in ("<", "<=") else (">=", math.ceil(exact))
    whole = int(exact)
    if low <= whole <= high:
        return op, whole
    is_above = whole > high
    true = op == "!=" or (op in ("<", "<=") and is_above) or (op in (">", ">=") and not is_above)
    return Outside.EVERY_VALUE if true else Outside.NEVER


def _digits(number: Type) -> tuple[int, int]:
    """Digits before and after the point."""
    if number.kind is Kind.DECIMAL:
        return number.precision - number.scale, number.scale
    return {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10}.get(number.kind, 20), 0


def _fraction(value: Any, constant: Type, column: Type, semantics: Semantics) -> float:
    """A double or float column."""
    if not constant.kind.is_number:
        raise NotExactError(f"{column} beside a constant of type {constant}")
    if not constant.kind.is_fractional and not (
        abs(value) < _EXACT_BITS and constant.scale <= 18 and constant.precision < _MAX_DIGITS
    ):
        raise NotExactError("a number of more than 53 bits beside a double")
    number = float(value)
    if column.kind is Kind.FLOAT or (constant.kind is Kind.FLOAT and semantics.constants_take_column_type):
        with np.errstate(over="ignore"):
            is_float = math.isnan(number) or float(np.float32(number)) == number
        if not is_float or (not constant.kind.is_fractional and Fraction(value) != Fraction(number)):
            raise NotExactError("a float beside a number that is no float")
        if semantics.constants_take_column_type and math.isfinite(number) and number != float(str(np.float32(number))):
            raise NotExactError("a float beside a number that Hive reads by its digits")
    if number == 0 and semantics.signed_zero_differs:
        raise NotExactError("zero, of which there are two in Hive 2")
    return number


def _micros(text: str) -> int:
    try:
        return (datetime.fromisoformat(text) - EPOCH) // MICROSECOND
    except ValueError as error:
        raise NotExactError(f"{text!r} is no date") from error


def _moment(value: Any, constant: Type, column: Type, semantics: Semantics) -> Fraction | int:
    """A timestamp column: microseconds in its own form."""
    if constant.kind is Kind.STRING:
        if semantics.moments_as_text or semantics.bare_date_is_null or not _MOMENT.fullmatch(value):
            raise NotExactError(f"{value!r} beside a timestamp")
        wall_clock: Fraction | int = _micros(value)
    elif constant.kind is Kind.DATE:
        if semantics.date_hides_timestamp:
            raise NotExactError("a date beside a timestamp in Hive 2")
        wall_clock = value * DAY
    elif constant.kind.is_timestamp:
        wall_clock = math.floor(value) if semantics.micros_only else value
        if constant.kind is column.kind is Kind.TIMESTAMP_LTZ:
            return wall_clock
    else:
        raise NotExactError(f"{column} beside a constant of type {constant}")
    if semantics.is_utc:
        return wall_clock
    if column.kind is not Kind.TIMESTAMP_LTZ or constant.kind is Kind.TIMESTAMP_LTZ or semantics.utc_timestamps:
        raise NotExactError("wall clocks outside of UTC")
    instant = instant_of(math.floor(wall_clock), semantics.time_zone)
    if instant is None or instant.lo != instant.hi:
        raise NotExactError("a wall clock that is shown twice, or never")
    return instant.lo + (wall_clock - math.floor(wall_clock))  # type: ignore[no-any-return]
