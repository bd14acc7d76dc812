"""Ways to write the constants of a filter. All select the same rows, so all should keep the same slices.

``LITERAL`` has every constant computed by hand. ``SPECIFICATION`` is what the specification prints:
``date '1994-01-01' + interval '1' year``, ``0.06 - 0.01``.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.tpc.constants import FIELD, Constant, DateConstant, NumberConstant, TextConstant, Value, constant

SPARK = frozenset({"spark", "spark-ansi", "spark-legacy"})
ALL = SPARK | {"hive3", "hive4"}


def date_literal(given: DateConstant) -> str:
    return f"date '{given.value}'"


def number_literal(given: NumberConstant) -> str:
    return str(given.value)


def text_literal(given: TextConstant) -> str:
    return f"'{given.value}'"


@dataclass(frozen=True)
class Spelling:
    """``engines``: the engines that know what it writes."""

    name: str
    date: Callable[[DateConstant], str] = date_literal
    number: Callable[[NumberConstant], str] = number_literal
    text: Callable[[TextConstant], str] = text_literal
    engines: frozenset[str] = ALL

    def write(self, filter_: str, values: Mapping[str, Value]) -> str:
        return FIELD.sub(lambda found: self._constant(constant(found[1], values)), filter_)

    def _constant(self, given: Constant) -> str:
        if isinstance(given, DateConstant):
            return self.date(given)
        return self.number(given) if isinstance(given, NumberConstant) else self.text(given)


def _by(given: DateConstant, base: str, moved: Callable[[str, int, str], str]) -> str:
    return moved(base, given.amount, given.unit) if given.amount else base


def _interval(base: str, amount: int, unit: str) -> str:
    return f"{base} {'-' if amount < 0 else '+'} interval '{abs(amount)}' {unit}"


def _bare_interval(base: str, amount: int, unit: str) -> str:
    return f"{base} {'-' if amount < 0 else '+'} interval {abs(amount)} {unit}{'s' if abs(amount) > 1 else ''}"


def _negative_interval(base: str, amount: int, unit: str) -> str:
    return f"{base} {'+' if amount < 0 else '-'} interval '{-abs(amount)}' {unit}"


def _swapped(base: str, amount: int, unit: str) -> str:
    return f"interval '{amount}' {unit} + {base}"


def _year_to_month(given: DateConstant) -> str:
    base = f"date '{given.base}'"
    if given.unit == "day" or not given.amount:
        return _by(given, base, _interval)
    return f"{base} + interval '{given.months // 12}-{given.months % 12}' year to month"


def _functions(given: DateConstant, base: str) -> str:
    if not given.amount:
        return base
    if given.unit == "day":
        return f"date_sub({base}, {-given.amount})" if given.amount < 0 else f"date_add({base}, {given.amount})"
    return f"add_months({base}, {given.months})"


def _before(given: DateConstant, days: int) -> datetime.date:
    return given.value - datetime.timedelta(days=days)


def _start_of_month(given: DateConstant) -> str:
    """The first of a month by a day within it; any other day by the first of its month."""
    value = given.value
    start = f"trunc(date '{value.replace(day=17)}', 'MM')"
    return start if value.day == 1 else f"date_add({start}, {value.day - 1})"


def _end_of_month(given: DateConstant) -> str:
    value = given.value
    before = value.replace(day=1) - datetime.timedelta(days=9)
    return f"date_add(last_day(date '{before}'), {value.day})"


def _weeks(given: DateConstant) -> str:
    return f"date '{_before(given, 14)}' + interval '2' week"


def _sum(given: NumberConstant) -> str:
    if not given.amount:
        return str(given.base)
    return f"{given.base} {'-' if given.amount < 0 else '+'} {abs(given.amount)}"


def _absolute(given: NumberConstant) -> str:
    return f"abs(-{given.value})" if given.value >= 0 else f"-abs({given.value})"


def _product(given: NumberConstant) -> str:
    return f"{int(given.value * 100)} * 0.01"


def _rounded(given: NumberConstant) -> str:
    return f"round({given.value:.2f}04, 2)"


def _as_decimal(given: NumberConstant) -> str:
    return f"cast('{given.value}' as decimal(15, 2))"


def _as_double(given: NumberConstant) -> str:
    return f"cast({given.value} as double)"


def _exponent(given: NumberConstant) -> str:
    return f"{int(given.value * 100)}e-2"


def _quotient(given: NumberConstant) -> str:
    return f"{int(given.value * 100)} / 100"


def _halves(given: TextConstant) -> tuple[str, str]:
    middle = len(given.value) // 2
    return given.value[:middle], given.value[middle:]


def _joined(given: TextConstant) -> str:
    pieces = given.pieces if len(given.pieces) > 1 else _halves(given)
    return "concat(" + ", ".join(f"'{piece}'" for piece in pieces) + ")"


def _bars(given: TextConstant) -> str:
    pieces = given.pieces if len(given.pieces) > 1 else _halves(given)
    return "(" + " || ".join(f"'{piece}'" for piece in pieces) + ")"


def _in_case(given: TextConstant) -> str:
    value = given.value
    if value == value.upper():
        return f"upper('{value.lower()}')"
    return f"lower('{value.upper()}')" if value == value.lower() else f"'{value}'"


def _cut(given: TextConstant) -> str:
    return f"substring('xx{given.value}', 3)"


def _chosen(given: TextConstant) -> str:
    return f"coalesce(cast(null as string), '{given.value}')"


LITERAL = Spelling("literal")
SPECIFICATION = Spelling("specification", lambda given: _by(given, f"date '{given.base}'", _interval), _sum)
#: TPC-DS prints ``cast('2000-08-23' as date) + 30 days``, for which Spark and Hive have intervals.
CASTS = Spelling("casts of days", lambda given: _by(given, f"cast('{given.base}' as date)", _bare_interval), _sum)

SPELLINGS = (
    LITERAL,
    SPECIFICATION,
    Spelling(
        "intervals without quotes",
        lambda given: _by(given, f"date '{given.base}'", _bare_interval),
        lambda given: f"({_sum(given)})",
        _joined,
    ),
    Spelling(
        "negative intervals",
        lambda given: _by(given, f"date '{given.base}'", _negative_interval),
        lambda given: f"- (- {given.value})",
        _bars,
    ),
    Spelling("years to months", _year_to_month, _as_decimal),
    Spelling("letter case", text=_in_case, engines=SPARK),  # in Hive it depends on the server's locale
    Spelling(
        "intervals first", lambda given: _by(given, f"date '{given.base}'", _swapped), _product, _cut, engines=ALL
    ),
    Spelling(
        "casts",
        lambda given: _by(given, f"cast('{given.base}' as date)", _interval),
        _as_double,
        lambda given: f"cast('{given.value}' as string)",
    ),
    Spelling(
        "functions",
        lambda given: _functions(given, f"date '{given.base}'"),
        _rounded,
        lambda given: f"trim(' {given.value} ')",
    ),
    Spelling(
        "functions of text",
        lambda given: _functions(given, f"'{given.base}'") if given.amount else date_literal(given),
        _exponent,
        _chosen,
    ),
    Spelling("to_date", lambda given: _functions(given, f"to_date('{given.base}')"), _quotient),
    Spelling("patterns", lambda given: f"to_date('{given.value:%Y%m%d}', 'yyyyMMdd')", engines=SPARK),
    Spelling(
        "parts",
        lambda given: f"make_date({given.value.year - 1} + 1, {given.value.month}, {given.value.day})",
        _absolute,
        lambda given: f"repeat('{given.value}', 1)",
        engines=SPARK,
    ),
    Spelling("text", lambda given: f"'{given.value}'"),
    Spelling("timestamps", lambda given: f"timestamp '{given.value} 00:00:00'"),
    Spelling(
        "casts of timestamps",
        lambda given: f"cast(timestamp '{given.value} 00:00:00' as date)",
        lambda given: f"coalesce(null, {given.value})",
    ),
    Spelling(
        "choices",
        lambda given: f"case when 1 = 1 then {date_literal(given)} else date '1970-01-01' end",
        lambda given: f"if(1 > 2, -1, {given.value})",
        lambda given: f"case when 1 > 2 then 'no' else '{given.value}' end",
    ),
    Spelling(
        "greatest",
        lambda given: f"greatest(date '{_before(given, 40)}', date '{given.value}')",
        lambda given: f"least({given.value}, {given.value + 1})",
    ),
    Spelling(
        "days added",
        lambda given: f"date_add('{_before(given, 30)}', 30)",
        lambda given: f"pow({given.value}, 1)",
    ),
    Spelling("date plus number", lambda given: f"date '{_before(given, 30)}' + 30", engines=SPARK),
    Spelling("start of the month", _start_of_month),
    Spelling("end of the month", _end_of_month),
    Spelling("weeks", _weeks, engines=SPARK),
    Spelling("joined text", lambda given: f"cast(concat('{given.value.year}', '{given.value:-%m-%d}') as date)"),
)
