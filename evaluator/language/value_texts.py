"""Bounds as text for people: a date instead of a day number, a decimal with its point."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evaluator.language.epoch import EPOCH
from evaluator.language.types import Kind, Type

__all__ = ["cut", "ordinal_text", "value_text"]

_MAX_LENGTH = 60


def ordinal_text(value: Any, value_type: Type) -> str:
    """A value in the form of the statistics' arrays (``evaluator.statistics.columns``) as text; long text is cut."""
    if value_type.kind is Kind.DECIMAL and not isinstance(value, Fraction):
        return str(Decimal(int(value)).scaleb(-value_type.scale))
    return value_text(Fraction(value) / 10**value_type.scale if value_type.kind is Kind.DECIMAL else value, value_type)


def value_text(value: Any, value_type: Type) -> str:
    """A value as range functions have it (``evaluator.language.interval``) as text; long text is cut."""
    if isinstance(value, Fraction) and not value_type.kind.is_timestamp:
        return str(value.numerator) if value.denominator == 1 else repr(float(value))
    match value_type.kind:
        case Kind.BOOLEAN:
            return "true" if value else "false"
        case Kind.DATE:
            return _moment(datetime.timedelta(days=int(value)), "%Y-%m-%d", f"day {value}")
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            text = _moment(datetime.timedelta(microseconds=int(value)), "%Y-%m-%d %H:%M:%S.%f", f"{value} µs")
            return text + ("Z" if value_type.kind is Kind.TIMESTAMP_LTZ else "")
        case Kind.BINARY:
            return cut("X'" + bytes(value).hex() + "'")
        case _ if value_type.kind.is_text:
            return cut(repr(str(value)))
        case _ if value_type.kind.is_fractional:
            return repr(float(value))
        case _:
            return str(value)


def _moment(offset: datetime.timedelta, pattern: str, otherwise: str) -> str:
    try:
        return (EPOCH + offset).strftime(pattern)
    except (OverflowError, ValueError):
        return otherwise


def cut(text: str) -> str:
    """The text, cut to 60 characters."""
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
