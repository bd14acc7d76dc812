"""Comparisons of two typed values of a row, for the oracle: in the type in which engines compare them, or no row form.

A typed value is a value in the value form of ``evaluator.language.types``, or None, with its type.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.language.epoch import DAY, EPOCH, FIRST_DAY, LAST_DAY, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DOUBLE, TIMESTAMP, Kind, Type
from evaluator.language.zones import zone_named

__all__ = ["Typed", "as_one_number_type", "check_one_family", "compare", "is_char_beside_text", "wall_clock"]

Typed = tuple[Any, Type]
_UTC = datetime.timezone.utc
#: The days of 400 years, after which the calendar, and with it a zone's rules of the far past and future, repeat.
_CYCLE = 146_097
#: Texts that all engines convert alike.
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,6})?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2})?")


def compare(op: str, left: Typed, right: Typed, semantics: Semantics) -> bool | None:
    """``left op right`` on two typed values, by SQL's three-valued logic."""
    left, right = _length_of_span(left), _length_of_span(right)
    if left[0] is None or right[0] is None:
        _check_null_beside(left, right)
    if op == "<=>":
        if left[0] is None or right[0] is None:
            return left[0] is None and right[0] is None
        op = "="
    if left[0] is None or right[0] is None:
        return None
    x, y = _comparable(left, right, semantics)
    order = _order(x, y)
    return {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]


def _length_of_span(operand: Typed) -> Typed:
    """An interval of days and microseconds as a number; anything else as it is."""
    value, value_type = operand
    if value_type != TIME_SPAN:
        return operand
    if isinstance(value, TimeSpan) and value.unit == "months":
        raise UnsupportedError("an interval of months has no length")
    return (value.micros if isinstance(value, TimeSpan) else None), BIGINT


def _check_null_beside(left: Typed, right: Typed) -> None:
    """Engines fold a comparison with a constant that no value of the column equals, and differ on NULL rows then."""
    (x, a), (y, b) = left, right
    (value, value_type), column = ((y, b), a) if x is None else ((x, a), b)
    if value is None or Kind.VOID in (a.kind, b.kind):
        return
    if value_type.precision >= 38 or (column.kind in (Kind.CHAR, Kind.VARCHAR) and len(str(value)) > column.precision):
        raise UnsupportedError(f"NULL beside {value!r} has no row form")
    if value_type.kind is column.kind:
        return
    if value_type.kind.is_text and column.kind.is_number and _NUMBER.fullmatch(value):
        value, value_type = Decimal(value), DOUBLE
    if value_type.kind.is_text and _is_temporal(column) and _MOMENT.fullmatch(value):
        return
    if value_type.kind.is_text != column.kind.is_text:
        raise UnsupportedError(f"NULL beside {value!r} has no row form")
    if column.kind.is_number and value_type.kind.is_number:
        if isinstance(value, float) and not math.isfinite(value):
            raise UnsupportedError(f"NULL beside {value} has no row form")
        smallest, largest = column.integer_range() if column.kind.is_integer else (-(10**38), 10**38)
        if not smallest <= value <= largest:
            raise UnsupportedError(f"NULL beside {value} has no row form")


def is_char_beside_text(operands: list[Typed]) -> bool:
    """Whether a CHAR is compared with a text of another type."""
    kinds = [operand_type.kind for _, operand_type in operands]
    return Kind.CHAR in kinds and kinds[0] is not kinds[1]


def _order(x: Any, y: Any) -> int:
    """-1, 0 or 1; NaN equals itself and is the largest, as Spark and Double.compare have it."""
    if isinstance(x, float) and isinstance(y, float) and (math.isnan(x) or math.isnan(y)):
        return int(math.isnan(x)) - int(math.isnan(y))
    return int(x > y) - int(x < y)


def _comparable(left: Typed, right: Typed, semantics: Semantics) -> tuple[Any, Any]:
    (x, a), (y, b) = left, right
    if a.kind.is_number and b.kind.is_number:
        if a.kind.is_fractional or b.kind.is_fractional:
            return _as_doubles((x, a), (y, b), semantics)
        return _as_exact_numbers((x, a), (y, b), semantics)
    if a.kind.is_text and b.kind.is_text:
        if Kind.CHAR not in (a.kind, b.kind):
            return x, y
        if any(text.endswith(" ") and of.kind is not Kind.CHAR for text, of in (left, right)):
            raise UnsupportedError("CHAR compared with a text that ends in a blank has no row form")
        return x.rstrip(" "), y.rstrip(" ")
    if a.kind is b.kind:
        if a.kind is Kind.TIMESTAMP and not (_is_shown(x, semantics) and _is_shown(y, semantics)):
            raise UnsupportedError("a wall clock in a gap has no row form: Spark may compare it as an instant")
        return x, y
    if _is_temporal(a) and _is_temporal(b):
        if Kind.TIMESTAMP_LTZ in (a.kind, b.kind) and not semantics.utc_timestamps:
            return _instant(x, a, semantics), _instant(y, b, semantics)
        return _moment(x, a, semantics), _moment(y, b, semantics)
    if b.kind.is_text and (a.kind.is_number or _is_temporal(a)):
        return _read_as(y, a, x, semantics)
    if a.kind.is_text and (b.kind.is_number or _is_temporal(b)):
        second, first = _read_as(x, b, y, semantics)
        return first, second
    raise UnsupportedError(f"{a} compared with {b} has no row form")


def check_one_family(types: list[Type], semantics: Semantics) -> None:
    """Engines compare a list of mixed types in one type of their own choice, and differ in that."""
    families = {
        "number"
        if member_type.kind.is_number
        else "text"
        if member_type.kind.is_text
        else "moment"
        if _is_temporal(member_type)
        else member_type.kind.value
        for member_type in types
    }
    if (
        len(families) > 1
        and any(member_type.kind.is_text for member_type in types[1:])
        and any(not member_type.kind.is_text for member_type in types[1:])
    ):
        raise UnsupportedError("a list of text and other types has no row form")
    if len(families) > 1 and types[0].kind.is_text:
        raise UnsupportedError("text in a list of other types has no row form")
    exact = [member_type for member_type in types if member_type.kind.is_integer or member_type.kind is Kind.DECIMAL]
    if _common_digits(exact) > 38:
        raise UnsupportedError("a list of numbers that have no common decimal has no row form")
    if len(families) > 1 and types[0].kind.is_number and not types[0].kind.is_integer:
        raise UnsupportedError("a number in a list of text has no row form")
    if semantics.zeros_differ_in_lists and any(member_type.kind.is_fractional for member_type in types):
        raise UnsupportedError("a list of doubles that is looked up by bits has no row form")
    if types[0].kind is Kind.BINARY and semantics.binary_lists_fail:
        raise UnsupportedError("a list of binary values has no row form")


def as_one_number_type(operands: list[Typed]) -> list[Typed]:
    """The column and the members of a list in the type in which they are compared, when a double or float is there.

    That type is double, or float for integers and floats where ANSI mode is off.
    """
    types = [operand_type for _, operand_type in operands if operand_type.kind is not Kind.VOID]
    kinds = {operand_type.kind for operand_type in types}
    if not (kinds & {Kind.FLOAT, Kind.DOUBLE} and all(kind.is_number for kind in kinds)):
        return operands
    if not kinds & {Kind.DOUBLE, Kind.DECIMAL} and any(
        value is not None and abs(value) > 1 << 24 for value, of in operands if of.kind.is_integer
    ):
        raise UnsupportedError("integers of more than 24 bits in a list with floats have no row form")
    return [
        operand if value is None or operand_type.kind is Kind.VOID else (float(value), DOUBLE)
        for operand in operands
        for value, operand_type in (operand,)
    ]


def _common_digits(types: list[Type]) -> int:
    """Digits of the decimal that contains all values of these types; 0 where none of them is a decimal."""
    if not any(number_type.kind is Kind.DECIMAL for number_type in types):
        return 0
    whole = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 20}
    return max(
        number_type.precision - number_type.scale if number_type.kind is Kind.DECIMAL else whole[number_type.kind]
        for number_type in types
    ) + max(number_type.scale for number_type in types)


def _as_doubles(left: Typed, right: Typed, semantics: Semantics) -> tuple[float, float]:
    (x, a), (y, b) = left, right
    rounded = {a.kind, b.kind} == {Kind.FLOAT, Kind.DOUBLE} and semantics.constants_take_column_type
    if rounded and any(math.isfinite(v) and not float(_single(v)) == v == float(str(_single(v))) for v in (x, y)):
        raise UnsupportedError("a float compared with a double that is no float has no row form")
    if semantics.constants_take_column_type and any(
        number_type.kind.is_integer and abs(v) > 1 << 53 for v, number_type in (left, right)
    ):
        raise UnsupportedError("an integer of more than 53 bits compared with a double has no row form")
    if Kind.FLOAT in (a.kind, b.kind) and not (a.kind.is_fractional and b.kind.is_fractional):
        number = y if a.kind is Kind.FLOAT else x
        if math.isfinite(number) and float(_single(number)) != number:
            raise UnsupportedError("a float compared with a number that is no float has no row form")
    if (
        Kind.DECIMAL in (a.kind, b.kind)
        and semantics.decimals_may_be_null
        and any(
            not abs(v) < 1 << 53 or number_type.scale > 18 or number_type.precision >= 38
            for v, number_type in (left, right)
        )
    ):
        raise UnsupportedError("a decimal compared with a double has no row form")
    return float(x), float(y)


def _single(number: Any) -> np.float32:
    with np.errstate(over="ignore"):
        single: np.float32 = np.float32(float(number))
    return single


def _as_exact_numbers(left: Typed, right: Typed, semantics: Semantics) -> tuple[Fraction, Fraction]:
    (x, a), (y, b) = left, right
    digits = _common_digits([a, b])
    if semantics.decimals_may_be_null and max(a.precision, b.precision) >= 38:
        raise UnsupportedError("a decimal of 38 digits has no row form")
    if (
        digits > 38
        and semantics.decimals_meet_in_38_digits
        and any(abs(v) >= 10 ** (38 - max(a.scale, b.scale)) for v in (x, y))
    ):
        raise UnsupportedError("a number that the common decimal does not hold has no row form")
    return Fraction(x), Fraction(y)


def _is_temporal(value_type: Type) -> bool:
    return value_type.kind is Kind.DATE or value_type.kind.is_timestamp


def _instant(value: Any, value_type: Type, semantics: Semantics) -> Any:
    """A moment as an instant; of a wall clock that is shown twice the first one, of one in a gap the later one."""
    if value_type.kind is Kind.TIMESTAMP_LTZ:
        return value
    clock = value * DAY if value_type.kind is Kind.DATE else value
    local = (EPOCH + math.floor(clock) * MICROSECOND).replace(tzinfo=zone_named(semantics.time_zone))
    return (local - EPOCH.replace(tzinfo=_UTC)) // MICROSECOND + (clock - math.floor(clock))


def _is_shown(moment: Any, semantics: Semantics) -> bool:
    """Whether a clock of the session zone ever shows this time."""
    whole = math.floor(moment)
    return semantics.is_utc or wall_clock(_instant(whole, TIMESTAMP, semantics), semantics) == whole


def _moment(value: Any, value_type: Type, semantics: Semantics) -> Any:
    if value_type.kind is Kind.DATE:
        return value * DAY
    return wall_clock(value, semantics) if value_type.kind is Kind.TIMESTAMP_LTZ else value


def _read_as(text: str, target: Type, value: Any, semantics: Semantics) -> tuple[Any, Any]:
    """(the other operand, the text converted to its type), for texts that all engines convert alike."""
    if target.kind.is_number:
        if not _NUMBER.fullmatch(text):
            raise UnsupportedError(f"{text!r} compared with a number has no row form")
        number = Fraction(Decimal(text))
        if target.kind.is_integer:
            smallest, largest = target.integer_range()
            if number.denominator != 1 or "." in text or not smallest <= number <= largest:
                raise UnsupportedError(f"{text!r} compared with {target} has no row form")
            return Fraction(value), number
        if target.kind is Kind.FLOAT and float(_single(number)) != float(number):
            raise UnsupportedError(f"{text!r} is no float")
        if target.kind is Kind.DECIMAL and max(len(text), len(str(value))) > 15:
            raise UnsupportedError("a decimal of more digits than a double compared with text has no row form")
        return float(value), float(number)
    if not _MOMENT.fullmatch(text) or (
        target.kind.is_timestamp and (semantics.moments_as_text or semantics.bare_date_is_null)
    ):
        raise UnsupportedError(f"{text!r} compared with {target} has no row form")
    try:
        moment = (datetime.datetime.fromisoformat(text) - EPOCH) // MICROSECOND
    except ValueError as error:
        raise UnsupportedError(f"{text!r} is no date") from error
    if target.kind is Kind.DATE:
        return value, moment // DAY
    return _moment(value, target, semantics), moment


def wall_clock(micros: int, semantics: Semantics) -> int:
    """What the clock of the session zone shows at an instant, in microseconds; it may be beyond Python's years."""
    day = micros // DAY
    away = _CYCLE * (DAY if day <= FIRST_DAY else -DAY if day >= LAST_DAY else 0)
    moment = EPOCH.replace(tzinfo=_UTC) + datetime.timedelta(microseconds=micros + away)
    local = moment.astimezone(zone_named(semantics.time_zone)).replace(tzinfo=None)
    return (local - EPOCH) // MICROSECOND - away
