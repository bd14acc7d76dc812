"""Spark's functions between moments and their numbers since 1970, over ranges.

    unix_date(d)                   date_from_unix_date(n)       the days
    unix_seconds(t), _millis, _micros                           whole units of an instant, rounded down
    timestamp_seconds(n), _millis, _micros                      the instant, of years up to 9999

All of them keep the order. No other engine has them. Source: Spark ``DateTimeUtils``, ``SecondsToTimestamp``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluator.functions.base import Argument, Compute, RangeFunction, monotone, strict, within_type
from evaluator.functions.conversions import instants_of
from evaluator.language.epoch import FIRST_GREGORIAN_DAY, LAST_DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, INT, TIMESTAMP_LTZ, Kind, Type

__all__ = ["FUNCTIONS"]

_SECOND, _MILLI, _MICRO = 1_000_000, 1_000, 1


def _of(is_argument: bool, name: str, result: Type) -> Type:
    if not is_argument:
        raise UnsupportedError(f"{name} of this type is not decided")
    return result


def _in_spark(compute: Compute) -> Compute:
    def checked(arguments: Sequence[Argument], result: Type, semantics: Semantics) -> Interval:
        if not semantics.functions_of_spark:
            raise UnsupportedError("this is a function of Spark only")
        return compute(arguments, result, semantics)

    return checked


def _days(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    return arguments[0].interval


def _day_of_number(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """date_from_unix_date, of numbers whose days all engines write alike."""
    days = within_type(arguments[0])
    return days if days.is_bounded and days.lo >= FIRST_GREGORIAN_DAY and days.hi <= LAST_DAY else strict(arguments)


def _number(unit: int) -> RangeFunction:
    """unix_seconds, unix_millis, unix_micros."""

    def result(types: Sequence[Type]) -> Type:
        return _of(types[0].kind is Kind.TIMESTAMP_LTZ, "the number", BIGINT)

    def compute(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
        return monotone(arguments[0], lambda micros: math.floor(micros) // unit)

    return RangeFunction(result, _in_spark(compute))


def _instant(unit: int) -> RangeFunction:
    """timestamp_seconds, which takes numbers with a fraction, too; timestamp_millis and timestamp_micros."""

    def result(types: Sequence[Type]) -> Type:
        kind = types[0].kind
        return _of(kind.is_number if unit == _SECOND else kind.is_integer, "the instant", TIMESTAMP_LTZ)

    def compute(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
        return instants_of(arguments[0], unit)

    return RangeFunction(result, _in_spark(compute))


FUNCTIONS = {
    "unix_date": RangeFunction(lambda types: _of(types[0].kind is Kind.DATE, "unix_date", INT), _in_spark(_days)),
    "date_from_unix_date": RangeFunction(
        lambda types: _of(types[0].kind in (Kind.TINYINT, Kind.SMALLINT, Kind.INT), "the date", DATE),
        _in_spark(_day_of_number),
    ),
    "unix_seconds": _number(_SECOND),
    "unix_millis": _number(_MILLI),
    "unix_micros": _number(_MICRO),
    "timestamp_seconds": _instant(_SECOND),
    "timestamp_millis": _instant(_MILLI),
    "timestamp_micros": _instant(_MICRO),
}
