"""Numbers and strings of SQL text, of the type that Hive and Spark give them. A number keeps its exact value (C7)."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

import numpy as np

from evaluator.language.expression import Literal
from evaluator.language.types import BIGINT, DOUBLE, FLOAT, INT, STRING, Kind, Type, decimal_type

__all__ = ["LiteralError", "check_number", "number", "shortened", "string", "suffixed"]

#: A number of more characters has a value that no type holds exactly, and Python does not convert it to an integer.
_MAX_DIGITS = 4_000
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_SHOWN = 60


class LiteralError(ValueError):
    """A literal or a type that the engine refuses too, such as DATE '2020-13-01' or decimal(99,2)."""


def shortened(text: str) -> str:
    """A text of at most 60 characters, for messages."""
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def check_number(text: str) -> None:
    """Raise LiteralError for a word that starts like a number and is none, such as ``1600e`` or ``1.2.3``."""
    if not _NUMBER.fullmatch(text):
        raise LiteralError(f"{shortened(text)} is not a number")


def number(text: str) -> Literal | None:
    """A number without a suffix, with its sign if it has one; None when no SQL type holds it."""
    check_number(text)
    if "e" in text.lower():
        return _finite(float(text), DOUBLE)
    if "." not in text:
        if len(text) > _MAX_DIGITS:
            return None
        value = int(text)
        for integer_type in (INT, BIGINT):
            low, high = integer_type.integer_range()
            if low <= value <= high:
                return Literal(value, integer_type)
    exact = Decimal(text)
    decimal = _decimal_type_of(exact)
    return None if decimal is None else Literal(exact, decimal)


def suffixed(text: str, to: Type) -> Literal | None:
    """A number with a suffix (``5L``) or a number cast to a wider type: None when ``to`` does not hold it exactly."""
    if len(text) > _MAX_DIGITS:
        return None
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    if not exact.is_finite():
        return None
    match to.kind:
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            low, high = to.integer_range()
            return Literal(int(exact), to) if exact == exact.to_integral_value() and low <= exact <= high else None
        case Kind.DOUBLE:
            return _finite(float(text), DOUBLE)
        case Kind.FLOAT:
            with np.errstate(over="ignore"):
                return _finite(float(np.float32(text)), FLOAT)
        case Kind.DECIMAL:
            needed = _decimal_type_of(exact)
            if needed is None or needed.scale > to.scale or needed.precision - needed.scale > to.precision - to.scale:
                return None
            return Literal(exact, to)
        case _:
            return None


def _decimal_type_of(value: Decimal) -> Type | None:
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale)
    return decimal_type(precision, scale) if precision <= 38 else None


def _finite(value: float, floating_type: Type) -> Literal | None:
    return Literal(value, floating_type) if math.isfinite(value) else None


def string(text: str) -> Literal:
    """A string."""
    return Literal(text, STRING)
