"""Constants as text, for people and logs: numbers, quoted texts, dates and timestamps, long lists of keys."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.types import Kind, Type

if TYPE_CHECKING:
    from evaluator.language.key_set import KeySet

__all__ = ["key_value", "keys_text", "literal_text", "moment_text", "quoted"]


def keys_text(keys: KeySet) -> str:
    """``1,000,000 keys from 3 to 5999999``."""
    if not len(keys):
        return "no key"
    least, greatest = (literal_text(key_value(keys[at], keys.type), keys.type) for at in (0, -1))
    return f"{len(keys):,} keys from {least} to {greatest}"


def key_value(key: object, of: Type) -> object:
    """A key of a key set as a literal holds it."""
    if not isinstance(key, Fraction):
        return key
    return Decimal(key.numerator * 10**of.scale // key.denominator).scaleb(-of.scale)


def literal_text(value: object, value_type: Type) -> str:
    """A constant as SQL writes it."""
    if value is None:
        return "NULL"
    if value_type.kind is Kind.DATE or value_type.kind.is_timestamp:
        word = "DATE" if value_type.kind is Kind.DATE else "TIMESTAMP"
        return f"{word} {quoted(moment_text(value, value_type))}"
    if value_type.kind is Kind.BINARY and isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    return quoted(value) if isinstance(value, str) else str(value)


def moment_text(value: Any, value_type: Type) -> str:
    """A date or timestamp value in ISO form (``Z`` behind an instant); its plain number outside the years 1 to 9999."""
    step = datetime.timedelta(days=1) if value_type.kind is Kind.DATE else MICROSECOND
    try:
        moment = EPOCH + math.floor(value) * step
    except (OverflowError, TypeError):
        return str(value)
    if value_type.kind is Kind.DATE:
        date: str = moment.date().isoformat()
        return date
    beyond = value - math.floor(value)
    zone = "Z" if value_type.kind is Kind.TIMESTAMP_LTZ else ""
    text: str = moment.isoformat(" ") + (f" + {beyond} µs" if beyond else "") + zone
    return text


def quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
