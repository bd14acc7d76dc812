"""Functions of constants whose one result is known exactly, by the rules of the engine.

A range function bounds its results. For constants an engine has one result, and a filter needs that one:

    date '2020-01-31' + interval '1' month    DATE '2020-02-29'
    add_months('2020-02-29', 1)               DATE '2020-03-29' in Spark, DATE '2020-03-31' in Hive
    date '2020-01-01' + 30                    DATE '2020-01-31' in Spark; Hive refuses it
    to_date('31.12.2019', 'dd.MM.yyyy')       DATE '2019-12-31' in Spark
    pow(2, 10), round(2.45, 1), 7 div 2       1024.0, 2.5, 3

``constant_result`` answers only where every version and setting that the semantics stand for agrees on a value that is
not NULL. It answers None elsewhere: an overflow, for one, is an error or another number. Results before 1582-10-15 or
after 9999-12-31 are left open. A timestamp is moved only between wall clocks that name one instant each, and by hours
only where both have the same distance from UTC, unless the engine's timestamps have no zone.

Sources: Hive ``DateTimeMath``, ``GenericUDFOPDTIPlus``, ``GenericUDFAddMonths``; Spark ``DateTimeUtils``;
java.lang.Math for ``pow``.
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from evaluator.functions.base import INTEGERS, Argument, widest_integer
from evaluator.functions.constant_texts import CONCATENATED, TEXT_FUNCTIONS, day_of_text
from evaluator.language.epoch import DAY, EPOCH, EPOCH_ORDINAL, FIRST_GREGORIAN_DAY, LAST_DAY, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import point
from evaluator.language.literal import exact_number, wall_clock_of_text
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DATE, DOUBLE, STRING, TIMESTAMP, Kind, Type, decimal_type
from evaluator.language.zones import instant_of, wall_clock_of

__all__ = ["constant_result", "months_later", "with_dates", "with_times"]

_Result = tuple[Any, Type]
_Function = Callable[[Sequence[Any], Sequence[Type], Type | None, Semantics], _Result | None]
_WIDE = Context(prec=200)
_EXACT = 1 << 53
#: Numbers below have at most nine digits before the point; no engine cuts the scale of their quotients to less than 6.
_LARGE = 10**9
_MAX_SPAN = 12 * 9_999
_YEAR_AFTER_THE_REFORM = datetime.date(1583, 1, 1).toordinal() - EPOCH_ORDINAL
#: Functions whose text arguments are read as dates, and the places of these arguments.
_DATE_PLACES = {
    **dict.fromkeys(("year", "quarter", "month", "day", "dayofyear", "date_add", "date_sub", "add_months"), (0,)),
    **dict.fromkeys(("last_day", "to_date", "trunc", "date_format"), (0,)),
    "datediff": (0, 1),
}
_FIELDS = re.compile(r"yyyy|MM|dd|HH|mm|ss")
_SEPARATORS = re.compile(r"[-/.: _]*")
#: A pattern without day or month gives the first of them.
_DATE_FIELDS = ({"yyyy"}, {"yyyy", "MM"})


def with_dates(name: str, arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments, with each constant text ``yyyy-MM-dd`` as the date as which the function reads it."""
    places = () if name == "to_date" and len(arguments) > 1 else _DATE_PLACES.get(name, ())
    return [_as_date(argument) if place in places else argument for place, argument in enumerate(arguments)]


def constant_result(
    name: str, arguments: Sequence[Argument], result: Type | None, semantics: Semantics
) -> _Result | None:
    """The value, in the form of an interval's bounds, and the type of a function of constants; None if it is open.

    ``result``: the type to which a cast converts, or that of the range function.
    """
    if not all(a.interval.is_point and not a.interval.null for a in arguments):
        return None
    values = [a.interval.lo for a in arguments]
    types = [a.type for a in arguments]
    if any(isinstance(v, TimeSpan) for v in values):
        return _of_spans(name, values, types, semantics)
    function = _FUNCTIONS.get((name, len(values)))
    if function is None:
        return _of_texts(name, values, types, semantics)
    return function(values, types, result, semantics)


def with_times(name: str, arguments: Sequence[Argument], semantics: Semantics) -> list[Argument]:
    """The arguments, with each constant text of a date and a time as the wall clock as which Spark reads it."""
    place = {"hour": 0, "minute": 0, "second": 0, "date_trunc": 1}.get(name, -1)
    if not semantics.functions_of_spark or place < 0:
        return list(arguments)
    return [_as_time(argument, semantics) if at == place else argument for at, argument in enumerate(arguments)]


def _as_time(argument: Argument, semantics: Semantics) -> Argument:
    if argument.type.kind is not Kind.STRING or not argument.interval.is_point or argument.interval.null:
        return argument
    folded = _timestamp_of_text([argument.interval.lo], [argument.type], None, semantics)
    return argument if folded is None else Argument(TIMESTAMP, point(folded[0]))


def _as_date(argument: Argument) -> Argument:
    interval = argument.interval
    if not (argument.type.kind is Kind.STRING and interval.is_point and not interval.null and len(interval.lo) == 10):
        return argument
    try:
        return Argument(DATE, point(int(wall_clock_of_text(interval.lo)) // DAY))
    except UnsupportedError:
        return argument


# -- dates and timestamps


def _of_spans(name: str, values: Sequence[Any], types: Sequence[Type], semantics: Semantics) -> _Result | None:
    if name == "negative" and len(values) == 1:
        return -values[0], TIME_SPAN
    if name == "*" and len(values) == 2 and semantics.functions_of_spark:
        span, number = values if isinstance(values[0], TimeSpan) else reversed(values)
        if type(number) is not int:
            return None
        if span.unit == "months":
            return TimeSpan("months", span.amount * number), TIME_SPAN
        return TimeSpan("micros", span.micros * number), TIME_SPAN  # no longer whole days for Spark
    if name not in ("+", "-") or len(values) != 2:
        return None
    left, right = values
    if isinstance(right, TimeSpan):
        span = right if name == "+" else -right
        if isinstance(left, TimeSpan):
            total = left.plus(span)
            return None if total is None else (total, TIME_SPAN)
        return _moved(left, types[0], span, semantics)
    return _moved(right, types[1], left, semantics) if name == "+" else None


def _moved(value: Any, kind: Type, span: TimeSpan, semantics: Semantics) -> _Result | None:
    """A date or a timestamp moved by an interval."""
    if not isinstance(value, int):
        return None  # a timestamp with nanoseconds
    if kind == DATE:
        if span.unit == "months":
            if semantics.dates_move_by_instant and not semantics.is_utc:
                return None
            return _date(months_later(value, span.amount))
        if span.unit == "days" and semantics.dates_count_days:
            return _date(value + span.amount)
        if span.unit == "micros" and semantics.dates_may_lose_hours:
            return None
        value = value * DAY
    elif kind != TIMESTAMP:
        return None
    if span.unit == "months":
        day = months_later(value // DAY, span.amount)
        return None if day is None else _clock(value, day * DAY + value % DAY, semantics, in_days=True)
    return _clock(value, value + span.micros, semantics, in_days=span.unit == "days")


def _clock(start: int, end: int, semantics: Semantics, *, in_days: bool) -> _Result | None:
    """A wall clock moved from start to end; ``in_days``: by whole days or months."""
    if not FIRST_GREGORIAN_DAY * DAY <= end < (LAST_DAY + 1) * DAY:
        return None
    if semantics.moves_by_instant and not semantics.is_utc:
        offsets = [_offset(clock, semantics.zone) for clock in (start, end)]
        if None in offsets or (offsets[0] != offsets[1] and not (in_days and semantics.days_keep_wall_clock)):
            return None
    return end, TIMESTAMP


def _offset(clock: int, zone: str) -> int | None:
    """The distance from UTC of a wall clock that names one instant."""
    instants = instant_of(clock, zone)
    if instants is None or not instants.is_point or wall_clock_of(instants.lo, zone) != clock:
        return None
    return int(clock - instants.lo)


def _date(day: int | None) -> _Result | None:
    return (day, DATE) if day is not None and FIRST_GREGORIAN_DAY <= day <= LAST_DAY else None


def months_later(day: int, count: int, *, last_days_stay: bool = False) -> int | None:
    """The same day of another month, or its last one where it is shorter."""
    if not FIRST_GREGORIAN_DAY <= day <= LAST_DAY or abs(count) > _MAX_SPAN:
        return None
    date = datetime.date.fromordinal(day + EPOCH_ORDINAL)
    year, month = divmod(date.year * 12 + date.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        return None
    length = calendar.monthrange(year, month + 1)[1]
    is_last = date.day == calendar.monthrange(date.year, date.month)[1]
    number = length if is_last and last_days_stay else min(date.day, length)
    return datetime.date(year, month + 1, number).toordinal() - EPOCH_ORDINAL


def _add_months(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> _Result | None:
    if types[0] != DATE or not types[1].kind.is_integer:
        return None
    moved = months_later(values[0], values[1], last_days_stay=semantics.last_days_stay)
    if semantics.last_days_stay and moved is not None and min(values[0], moved) < _YEAR_AFTER_THE_REFORM:
        return None  # Hive 3 counts in the calendar of the time: add_months('1582-12-31', -1) is 1582-12-01
    return _date(moved)


def _date_and_number(sign: int) -> _Function:
    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> _Result | None:
        numbers = (Kind.TINYINT, Kind.SMALLINT, Kind.INT)
        if not semantics.dates_count_days:
            return None
        if types[0] == DATE and types[1].kind in numbers:
            return _date(values[0] + sign * values[1])
        return _date(values[0] + values[1]) if sign > 0 and types[1] == DATE and types[0].kind in numbers else None

    return compute


def _make_date(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> _Result | None:
    if not semantics.functions_of_spark or not all(t.kind.is_integer for t in types):
        return None
    try:
        return _date(datetime.date(*values).toordinal() - EPOCH_ORDINAL)
    except (ValueError, OverflowError):
        return None


def _by_pattern(target: Type) -> _Function:
    """to_date and to_timestamp of a text that is written exactly as the pattern says."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> _Result | None:
        text, pattern = values
        if not semantics.functions_of_spark or not all(t.kind is Kind.STRING for t in types):
            return None
        names = _FIELDS.findall(pattern)
        if len(set(names)) < len(names) or not (set(names) in _DATE_FIELDS or {"yyyy", "MM", "dd"} <= set(names)):
            return None
        form = ""
        end = 0
        for field in _FIELDS.finditer(pattern):
            if not _SEPARATORS.fullmatch(pattern, end, field.start()):
                return None
            form += re.escape(pattern[end : field.start()]) + rf"([0-9]{{{len(field[0])}}})"
            end = field.end()
        if not _SEPARATORS.fullmatch(pattern, end):
            return None
        match = re.fullmatch(form + re.escape(pattern[end:]), text)
        if match is None:
            return None
        parts = dict(zip(names, map(int, match.groups()), strict=True))
        try:
            day = datetime.date(parts["yyyy"], parts.get("MM", 1), parts.get("dd", 1)).toordinal() - EPOCH_ORDINAL
            time = datetime.time(parts.get("HH", 0), parts.get("mm", 0), parts.get("ss", 0))
        except ValueError:
            return None
        micros = ((time.hour * 60 + time.minute) * 60 + time.second) * 1_000_000
        return _date(day) if target == DATE else _clock(day * DAY + micros, day * DAY + micros, semantics, in_days=True)

    return compute


def _timestamp_of_text(
    values: Sequence[Any], types: Sequence[Type], result: Type | None, semantics: Semantics
) -> _Result | None:
    """Spark's to_timestamp(text) and CAST(text or date AS TIMESTAMP): a wall clock of the session zone."""
    if not semantics.functions_of_spark or (result is not None and result.kind is not Kind.TIMESTAMP_LTZ):
        return None
    if types[0] == DATE:
        clock: Any = values[0] * DAY
    elif types[0].kind is Kind.STRING:
        try:
            clock = wall_clock_of_text(values[0])
        except UnsupportedError:
            return None
    else:
        return None
    return _clock(clock, clock, semantics, in_days=True) if isinstance(clock, int) else None


def _date_of_text(values: Sequence[Any], types: Sequence[Type], _: Type | None, semantics: Semantics) -> _Result | None:
    """Spark's to_date(text) and CAST(text AS DATE)."""
    if not semantics.functions_of_spark or types[0].kind is not Kind.STRING:
        return None
    return _date(day_of_text(values[0]))


def _cast(values: Sequence[Any], types: Sequence[Type], result: Type | None, semantics: Semantics) -> _Result | None:
    """Spark's casts of which the range function leaves the last digit open."""
    if not semantics.functions_of_spark or result is None:
        return None
    [value], [source] = values, types
    if result == STRING and source.kind is Kind.TIMESTAMP and isinstance(value, int):
        if _clock(value, value, semantics, in_days=True) is None:
            return None  # it may be shown as another one
        text = (EPOCH + value * MICROSECOND).strftime("%Y-%m-%d %H:%M:%S.%f").rstrip("0").rstrip(".")
        return text, STRING
    if source.kind is Kind.DECIMAL and (result == STRING or result.kind is Kind.DECIMAL):
        if source.scale > 6 or (result.kind is not Kind.STRING and result.scale > 6):
            return None
        exact = _WIDE.divide(Decimal(Fraction(value).numerator), Decimal(Fraction(value).denominator))
        if result == STRING:
            return f"{exact.quantize(Decimal(1).scaleb(-source.scale), ROUND_HALF_UP, _WIDE):f}", STRING
        rounded = exact.quantize(Decimal(1).scaleb(-result.scale), ROUND_HALF_UP, _WIDE)
        return (exact_number(rounded), result) if abs(rounded) < 10 ** (result.precision - result.scale) else None
    return (_date_of_text if result == DATE else _timestamp_of_text)(values, types, result, semantics)


# -- numbers


def _quotient(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> _Result | None:
    """A decimal divided without a rest at six digits, which every engine keeps."""
    if not all(t.kind.is_integer or t.kind is Kind.DECIMAL for t in types) or all(t.kind.is_integer for t in types):
        return None
    dividend, divisor = map(Fraction, values)
    if not divisor or max(abs(dividend), abs(divisor)) >= _LARGE or any(t.scale > 6 for t in types):
        return None
    millionths = dividend / divisor * 1_000_000
    if millionths.denominator != 1 or abs(millionths) >= _LARGE * 1_000_000:
        return None
    return exact_number(Decimal(int(millionths)).scaleb(-6)), decimal_type(38, 6)


def _pow(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> _Result | None:
    """pow of whole numbers whose result a double holds, and the first power: Java's ``Math.pow`` is exact there."""
    if not all(t.kind.is_number for t in types) or not all(math.isfinite(v) for v in values):
        return None
    if values[1] == 1:
        return float(values[0]), DOUBLE
    if any(v != math.floor(v) for v in values):
        return None
    base, exponent = (int(v) for v in values)
    if not 0 <= exponent <= 53 or abs(base) > _EXACT or (base == 0 and exponent == 0):
        return None
    power = base**exponent
    return (float(power), DOUBLE) if abs(power) < 1 << 1000 and int(float(power)) == power else None


def _rounded(half: str) -> _Function:
    """round and bround to a digit behind the point: the shortest decimal digits of a double are what is rounded."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> _Result | None:
        number, digits = values[0], values[1] if len(values) > 1 else 0
        if not isinstance(digits, int) or not 0 <= digits <= 15:
            return None
        if types[0].kind is Kind.DECIMAL:
            exact = Decimal(Fraction(number).numerator) / Decimal(Fraction(number).denominator)
            if Fraction(exact) != number:
                return None
        elif types[0].kind is Kind.DOUBLE and math.isfinite(number) and 1e-3 <= abs(number) < 1e7:
            exact = Decimal(repr(number))
            if len(exact.as_tuple().digits) > 15:
                return None
        else:
            return None
        rounded = exact.quantize(Decimal(1).scaleb(-digits), half, _WIDE)
        if types[0].kind is Kind.DOUBLE:
            return (float(rounded), DOUBLE) if rounded else None
        if digits >= types[0].scale:
            return number, types[0]
        return exact_number(rounded), decimal_type(min(types[0].precision - types[0].scale + 1 + digits, 38), digits)

    return compute


def _square_root(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> _Result | None:
    number = values[0]
    if not (types[0].kind.is_integer or types[0].kind is Kind.DOUBLE) or not 0 < abs(number) <= _EXACT or number < 0:
        return None
    return math.sqrt(number), DOUBLE


def _whole_quotient(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> _Result | None:
    left, right = values
    if not all(t.kind.is_integer for t in types) or right == 0 or max(abs(left), abs(right)) >= 1 << 31:
        return None
    quotient = abs(left) // abs(right)
    return (quotient if (left < 0) == (right < 0) else -quotient), BIGINT


# -- text


def _of_texts(name: str, values: Sequence[Any], types: Sequence[Type], semantics: Semantics) -> _Result | None:
    kinds = "".join("t" if t.kind is Kind.STRING else "i" if t.kind.is_integer else "?" for t in types)
    if not semantics.functions_of_spark or "?" in kinds:
        return None
    if any(isinstance(value, int) and abs(value) >= _LARGE for value in values) and name != "concat":
        return None
    if name in CONCATENATED:
        if name == "concat_ws" and "i" in kinds:
            return None
        return CONCATENATED[name](values), STRING
    function, expected = TEXT_FUNCTIONS.get((name, len(values)), (None, ""))
    result = function(*values) if function is not None and kinds == expected else None
    return None if result is None else (result, STRING)


def _of_bits(operate: Callable[[int, int], int]) -> _Function:
    """& | ^ of two integers, in the wider type of both."""

    def compute(values: Sequence[Any], types: Sequence[Type], _: Type | None, __: Semantics) -> _Result | None:
        if not all(t.kind in INTEGERS for t in types):
            return None
        return operate(*values), widest_integer(t.kind for t in types)

    return compute


_FUNCTIONS: dict[tuple[str, int], _Function] = {
    ("&", 2): _of_bits(int.__and__),
    ("|", 2): _of_bits(int.__or__),
    ("^", 2): _of_bits(int.__xor__),
    ("+", 2): _date_and_number(1),
    ("-", 2): _date_and_number(-1),
    ("add_months", 2): _add_months,
    ("make_date", 3): _make_date,
    ("to_date", 1): _date_of_text,
    ("to_date", 2): _by_pattern(DATE),
    ("to_timestamp", 1): _timestamp_of_text,
    ("to_timestamp", 2): _by_pattern(TIMESTAMP),
    ("cast", 1): _cast,
    ("pow", 2): _pow,
    ("round", 1): _rounded(ROUND_HALF_UP),
    ("round", 2): _rounded(ROUND_HALF_UP),
    ("bround", 1): _rounded(ROUND_HALF_EVEN),
    ("bround", 2): _rounded(ROUND_HALF_EVEN),
    ("sqrt", 1): _square_root,
    ("div", 2): _whole_quotient,
    ("/", 2): _quotient,
}
