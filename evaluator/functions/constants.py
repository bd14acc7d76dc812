"""Functions of constants whose one result is known exactly, by the rules of the engine.

A range function bounds its results. For constants an engine has one result, and a filter needs that one:

    date '2020-01-31' + interval '1' month    DATE '2020-02-29'
    add_months('2020-02-29', 1)               DATE '2020-03-29' in Spark, DATE '2020-03-31' in Hive
    date '2020-01-01' + 30                    DATE '2020-01-31' in Spark; Hive refuses it
    to_date('31.12.2019', 'dd.MM.yyyy')       DATE '2019-12-31' in Spark
    pow(2, 10), round(2.45, 1), 7 div 2       1024.0, 2.5, 3

``constant_result`` answers only where every version and setting that the semantics stand for agrees on a value that is
not NULL. It answers None elsewhere: an overflow, for one, is an error or another number. The rules stand in files by
what they make:

    constant_moments.py    dates and timestamps moved by intervals, made of numbers, read from text
    constant_dates.py      Spark's other functions of dates and timestamps
    constant_numbers.py    numbers
    constant_texts.py      texts
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.functions import constant_dates, constant_moments, constant_numbers
from evaluator.functions.base import Argument
from evaluator.functions.constant_moments import Result, of_spans, timestamp_of_text
from evaluator.functions.constant_texts import CONCATENATED, TEXT_FUNCTIONS, is_alike_in_hive
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import point
from evaluator.language.literal import wall_clock_of_text
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import DATE, INT, STRING, TIMESTAMP, Kind, Type

__all__ = ["constant_result", "with_dates", "with_times"]

#: Numbers below are written as text, and taken for lengths and places, without a second look at their type.
_LARGE = 10**9
#: Functions whose text arguments are read as dates, and the places of these arguments.
_DATE_PLACES = {
    **dict.fromkeys(("year", "quarter", "month", "day", "dayofyear", "date_add", "date_sub", "add_months"), (0,)),
    **dict.fromkeys(("last_day", "to_date", "trunc", "date_format"), (0,)),
    "datediff": (0, 1),
}
#: How ``TEXT_FUNCTIONS`` may take texts (t) and integers (i).
_TAKEN_AS = {"t": "tn*", "i": "in*"}
_OF_ALL = {**constant_moments.FUNCTIONS, **constant_numbers.FUNCTIONS}
_OF_SPARK = constant_dates.FUNCTIONS


def with_dates(name: str, arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments, with each constant text ``yyyy-MM-dd`` as the date as which the function reads it."""
    places = () if name == "to_date" and len(arguments) > 1 else _DATE_PLACES.get(name, ())
    return [_as_date(argument) if place in places else argument for place, argument in enumerate(arguments)]


def constant_result(
    name: str, arguments: Sequence[Argument], result: Type | None, semantics: Semantics
) -> Result | None:
    """The value, in the form of an interval's bounds, and the type of a function of constants; None if it is open.

    ``result``: the type to which a cast converts, or that of the range function.
    """
    if not all(a.interval.is_point and not a.interval.null for a in arguments):
        return None
    values = [a.interval.lo for a in arguments]
    types = [a.type for a in arguments]
    if any(isinstance(v, TimeSpan) for v in values):
        return of_spans(name, values, types, semantics)
    if semantics.functions_of_spark and (name, len(values)) in _OF_SPARK:
        return _OF_SPARK[name, len(values)](values, types, result, semantics)
    function = _OF_ALL.get((name, len(values)))
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
    folded = timestamp_of_text([argument.interval.lo], [argument.type], None, semantics)
    return argument if folded is None else Argument(TIMESTAMP, point(folded[0]))


def _as_date(argument: Argument) -> Argument:
    interval = argument.interval
    if not (argument.type.kind is Kind.STRING and interval.is_point and not interval.null and len(interval.lo) == 10):
        return argument
    try:
        return Argument(DATE, point(int(wall_clock_of_text(interval.lo)) // DAY))
    except UnsupportedError:
        return argument


def _of_texts(name: str, values: Sequence[Any], types: Sequence[Type], semantics: Semantics) -> Result | None:
    kinds = "".join("t" if t.kind is Kind.STRING else "i" if t.kind.is_integer else "?" for t in types)
    if "?" in kinds or not (semantics.functions_of_spark or is_alike_in_hive(name, values)):
        return None
    if any(isinstance(value, int) and abs(value) >= _LARGE for value in values) and name != "concat":
        return None
    if name in CONCATENATED:
        return (CONCATENATED[name]([str(value) for value in values]), STRING) if values else None
    function, expected = TEXT_FUNCTIONS.get((name, len(values)), (None, ""))
    if function is None or any(want not in _TAKEN_AS[kind] for kind, want in zip(kinds, expected, strict=True)):
        return None
    result = function(*(str(value) if want == "n" else value for value, want in zip(values, expected, strict=True)))
    return None if result is None else (result, INT if isinstance(result, int) else STRING)
