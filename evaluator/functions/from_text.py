"""CAST of text to numbers, dates and timestamps: of one text, and of texts that are no numbers or dates.

The order of texts is not the order of the values that they denote ('10' < '9'), so a range of texts bounds nothing. A
column with one text in each slice, such as a partition column, converts like a constant: ``p = 5`` on ``p`` in
['5', '5']. No text between 'apple' and 'cherry' is a number: there the cast is NULL, where it is no error. Texts of one
year are days of it (``text_moments``), where no text is an error. Of single texts only those are decided
that every engine and setting reads alike:

    target              texts
    ==================  ==================================================
    integer             ``-12``, within the range of the type
    float, double       ``-12``, ``-12.50``
    decimal(p, s)       the same, if they need no rounding
    date                ``2020-01-02``
    timestamp           ``2020-01-02 10:30:00``, ``2020-01-02 10:30:00.5``
    both, in Spark      ``2020-1-2``, ``2020-1-2 10:30``, ``2020-1-2T10:30:00.5``
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from evaluator.functions.base import Argument, strict
from evaluator.functions.constant_texts import clock_of_text, day_of_text
from evaluator.functions.text_moments import FARTHEST_ZONE, days_cast
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import exact_number, is_integer_text, is_number_text, nearest_float, wall_clock_of_text
from evaluator.language.readable_texts import none_is_readable
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = ["from_text", "reads_text"]

#: Hive 3 reads a time of any two digits, too: 99:99:99 is four days later, and -99:99:99 four days before.
_ANY_TIME = 6


def reads_text(target: Type, semantics: Semantics) -> bool:
    """Whether texts are converted to this type at all."""
    if target.kind is Kind.TIMESTAMP_LTZ:
        return semantics.functions_of_spark
    return target.kind.is_number or target.kind in (Kind.DATE, Kind.TIMESTAMP)


def from_text(argument: Argument, target: Type, semantics: Semantics) -> Interval:
    """The interval of ``CAST(text AS target)``."""
    text, last = argument.interval.lo, argument.interval.hi
    is_bounded = isinstance(text, str) and isinstance(last, str)
    if semantics.unreadable_rows_are_null and is_bounded and none_is_readable(text, last):
        return Interval(null=True, value=False)
    value = _value_of(text, target, semantics) if argument.interval.is_point and isinstance(text, str) else None
    if value is not None:
        return strict([argument], value, value)
    if is_bounded and semantics.unreadable_rows_are_null:
        return strict([argument], *_moments_between(text, last, target, semantics), null=True)
    return strict([argument], null=True)


def _moments_between(lo: str, hi: str, target: Type, semantics: Semantics) -> tuple[int | None, int | None]:
    """The least and the greatest day or moment as which the engine reads a text from lo to hi."""
    is_moment = target.kind is Kind.DATE or target.kind.is_timestamp
    days = days_cast(lo, hi, any_number=semantics.dates_of_any_number) if is_moment else None
    if days is None:
        return None, None
    first, last = days
    if target.kind is Kind.DATE:
        return first, last
    # A text may name a zone of its own. The session's shows the moment on another day, or moves it out of a gap.
    is_near = target.kind is Kind.TIMESTAMP_LTZ or (semantics.is_utc and semantics.functions_of_spark)
    away = FARTHEST_ZONE if is_near else (_ANY_TIME if semantics.dates_of_any_number else 2) * DAY
    return first * DAY - away, (last + 1) * DAY - 1 + away


def _value_of(text: str, target: Type, semantics: Semantics) -> int | float | Fraction | None:
    if target.kind.is_integer:
        smallest, largest = target.integer_range()
        return int(text) if is_integer_text(text) and smallest <= int(text) <= largest else None
    if target.kind.is_number:
        if not is_number_text(text):
            return None
        number = Decimal(text)
        if target.kind is Kind.DECIMAL:
            fits = number == round(number, target.scale) and abs(number) < 10 ** (target.precision - target.scale)
            return exact_number(number) if fits else None
        double = float(number)
        # A float may be read from the text at once, or through a double: both must give the same.
        return double if target.kind is Kind.DOUBLE or nearest_float(double) == double else None
    if semantics.functions_of_spark:
        return day_of_text(text) if target.kind is Kind.DATE else clock_of_text(text)
    try:
        wall_clock = wall_clock_of_text(text)
    except UnsupportedError:
        return None
    if target.kind is Kind.DATE:
        return wall_clock // DAY if len(text) == 10 else None
    return wall_clock if len(text) > 10 and isinstance(wall_clock, int) else None
