"""The constants of a filter: dates, numbers and texts, also moved, with the value that each of them has."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

Value = str | int | Decimal | datetime.date
Parameters = Mapping[str, Mapping[str, Value]]

FIELD = re.compile(r"\{([^}]*)\}")
_MOVED = re.compile(r"(\w+) ([+-]) (\S+?)(?: (day|month|year))?")
_PIECE = re.compile(r"'([^']*)'|(\w+)")


@dataclass(frozen=True)
class DateConstant:
    base: datetime.date
    amount: int = 0
    unit: str = "day"

    @property
    def value(self) -> datetime.date:
        if self.unit == "day":
            return self.base + datetime.timedelta(days=self.amount)
        months = self.base.year * 12 + self.base.month - 1 + self.months
        year, month = divmod(months, 12)
        return datetime.date(year, month + 1, min(self.base.day, calendar.monthrange(year, month + 1)[1]))

    @property
    def months(self) -> int:
        return self.amount * (12 if self.unit == "year" else 1)


@dataclass(frozen=True)
class NumberConstant:
    base: Decimal | int
    amount: Decimal | int = 0

    @property
    def value(self) -> Decimal | int:
        return self.base + self.amount


@dataclass(frozen=True)
class TextConstant:
    """``pieces`` joined; a pattern has more than one."""

    pieces: tuple[str, ...]

    @property
    def value(self) -> str:
        return "".join(self.pieces)


Constant = DateConstant | NumberConstant | TextConstant


def constant(field: str, values: Mapping[str, Value]) -> Constant:
    """The constant of a field of a filter, without its braces."""
    moved = _MOVED.fullmatch(field)
    if moved is None:
        return _plain([values[name] if name else text for text, name in _PIECE.findall(field)])
    name, sign, by, unit = moved.groups()
    base = values[name]
    if isinstance(base, datetime.date):
        amount = values.get(by) or int(by)
        assert isinstance(amount, int)
        return DateConstant(base, amount if sign == "+" else -amount, unit)
    assert not isinstance(base, str)
    number = Decimal(by) if "." in by else int(by)
    return NumberConstant(base, number if sign == "+" else -number)


def _plain(pieces: list[Value]) -> Constant:
    if len(pieces) == 1 and isinstance(pieces[0], datetime.date):
        return DateConstant(pieces[0])
    if len(pieces) == 1 and isinstance(pieces[0], int | Decimal):
        return NumberConstant(pieces[0])
    assert all(isinstance(piece, str) for piece in pieces)
    return TextConstant(tuple(str(piece) for piece in pieces))


def constants(text: str, values: Mapping[str, Value]) -> Iterator[Constant]:
    for field in FIELD.findall(text):
        yield constant(field, values)
