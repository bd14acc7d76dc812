"""Java constants of a filter: typed, exact (C7), and as the text that Java prints.

    ================================  ================================================  ==========================
    Java class                        ``Constant.value``                                text
    ================================  ================================================  ==========================
    Boolean, Byte .. Long             bool, int                                         true, 5
    Float, Double                     float                                             1.5, 1.0E10
    String, HiveChar, HiveVarchar     str (a HiveChar as padded in the bytes)           itself
    HiveDecimal, BigDecimal           Decimal, exact                                    1.25
    byte[]                            bytes                                             base64:AQ==
    type.Date                         LocalDate                                         2020-01-02
    type.Timestamp                    LocalTimestamp                                    2020-01-02 03:04:05.1
    java.sql.Date, .Timestamp         SqlDate, SqlTimestamp: milliseconds of a moment   printed as in UTC
    type.TimestampTZ                  ZonedTimestamp: a moment and a zone               2020-01-02 03:04:05.0 UTC
    HiveIntervalYearMonth / DayTime   YearMonth, DayTime                                0-1, 1 00:00:00.000000000
    a list                            tuple of Constant                                 [1, x]
    ================================  ================================================  ==========================

A java.sql constant (Hive 2.3) is local midnight or a wall clock in the *writer's* time zone. The bytes do not contain
that zone.

Facts: docs/facts/hive-kryo.md#constants.
"""

from __future__ import annotations

import base64
import decimal
from typing import Any

from evaluator.language.records import frozen
from sarg.hive_tree.java_text import fraction_text, hybrid_moment, java_float, moment, zone_offset
from sarg.kryo.errors import DecodeError, TooLargeError
from sarg.kryo.limits import CHARACTERS_PER_NODE, MAX_NODES, MAX_VALUE_DEPTH
from sarg.kryo.values import Boxed, JavaList, JavaObject

__all__ = [
    "Constant",
    "DayTime",
    "LocalDate",
    "LocalTimestamp",
    "NodeBudget",
    "SqlDate",
    "SqlTimestamp",
    "YearMonth",
    "ZonedTimestamp",
    "constant_of",
]

_HIVE = "org.apache.hadoop.hive.common.type."


@frozen
class LocalDate:
    """A calendar day (proleptic Gregorian)."""

    year: int
    month: int
    day: int

    def epoch_day(self) -> int:
        """Days since 1970-01-01, for any year (the algorithm of java.time.LocalDate.toEpochDay)."""
        year = self.year - (self.month <= 2)
        day_of_year = (153 * (self.month + (-3 if self.month > 2 else 9)) + 2) // 5 + self.day - 1
        return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - 719468

    def __str__(self) -> str:
        sign = "-" if self.year < 0 else "+" if self.year > 9999 else ""
        return f"{sign}{abs(self.year):04d}-{self.month:02d}-{self.day:02d}"


@frozen
class LocalTimestamp:
    """A date and a time of day without a zone, to the nanosecond."""

    date: LocalDate
    hour: int
    minute: int
    second: int
    nano: int

    def epoch_nanos(self) -> int:
        """Nanoseconds since 1970-01-01 00:00 on the same wall clock."""
        seconds = self.date.epoch_day() * 86400 + self.hour * 3600 + self.minute * 60 + self.second
        return seconds * 10**9 + self.nano

    def __str__(self) -> str:
        fraction = f".{self.nano:09d}".rstrip("0") if self.nano else ""
        return f"{self.date} {self.hour:02d}:{self.minute:02d}:{self.second:02d}{fraction}"


@frozen
class SqlDate:
    """java.sql.Date: milliseconds at local midnight of the writer's zone."""

    millis: int

    def __str__(self) -> str:
        return hybrid_moment(self.millis // 1000)[:10]


@frozen
class SqlTimestamp:
    """java.sql.Timestamp: milliseconds, of which the whole seconds are used, and nanoseconds of the second."""

    millis: int
    nanos: int

    def __str__(self) -> str:
        return f"{hybrid_moment(self.millis // 1000)}.{fraction_text(self.nanos)}"


@frozen
class ZonedTimestamp:
    """Hive's TimestampTZ."""

    seconds: int
    nanos: int
    zone: str

    def __str__(self) -> str:
        wall_clock = moment(self.seconds + zone_offset(self.zone, self.seconds))
        return f"{wall_clock}.{fraction_text(self.nanos)} {self.zone}"


@frozen
class YearMonth:
    """INTERVAL YEAR TO MONTH."""

    months: int

    def __str__(self) -> str:
        return f"{'-' if self.months < 0 else ''}{abs(self.months) // 12}-{abs(self.months) % 12}"


@frozen
class DayTime:
    """INTERVAL DAY TO SECOND."""

    seconds: int
    nanos: int

    def __str__(self) -> str:
        sign = "-" if self.seconds < 0 or self.nanos < 0 else ""
        total = abs(self.seconds)
        clock = f"{total // 3600 % 24:02d}:{total // 60 % 60:02d}:{total % 60:02d}"
        return f"{sign}{total // 86400} {clock}.{abs(self.nanos):09d}"


@frozen
class Constant:
    """A Java value: its class, and the value as in the table of this module."""

    java: str
    value: Any

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float):
            return java_float(value, self.java.endswith("Float"))
        if isinstance(value, decimal.Decimal):
            return format(value, "f")
        if isinstance(value, bytes):
            return "base64:" + base64.b64encode(value).decode()
        if isinstance(value, tuple):
            return "[" + ", ".join("null" if item is None else str(item) for item in value) + "]"
        return str(value)

    def weight(self) -> int:
        """How many nodes this value counts for (``sarg.kryo.limits``)."""
        if isinstance(self.value, tuple):
            return 1 + sum(1 if item is None else item.weight() for item in self.value)
        return 1 + (len(self.value) // CHARACTERS_PER_NODE if isinstance(self.value, str | bytes) else 0)


class NodeBudget:
    """How many nodes the constants of one filter may still have. Constants that share a list have its items each."""

    def __init__(self, limit: int = MAX_NODES) -> None:
        self.limit = limit
        self._left = limit

    def spend(self, offset: int) -> None:
        """Count one node. Raises TooLargeError when none is left."""
        self._left -= 1
        if self._left < 0:
            raise TooLargeError(offset, f"the constants are too large: they expand to more than {self.limit} nodes")


def constant_of(value: Any, offset: int, budget: NodeBudget) -> Constant | None:
    """The typed constant of a value that the Kryo reader yields; None for null. Raises DecodeError when implausible."""
    return _constant(value, offset, MAX_VALUE_DEPTH, budget)


def _constant(value: Any, offset: int, depth: int, budget: NodeBudget) -> Constant | None:
    budget.spend(offset)
    if depth == 0:
        raise DecodeError(offset, "a constant is nested too deep")
    match value:
        case None:
            return None
        case str():
            return Constant("java.lang.String", value)
        case bytes():
            return Constant("[B", value)
        case Boxed(java=java, value=primitive):
            return Constant(java, primitive)
        case JavaList(java=java, items=items):
            return Constant(java, tuple(_constant(item, offset, depth - 1, budget) for item in items))
        case JavaObject():
            return _object_constant(value)
        case _:
            raise DecodeError(offset, f"a {type(value).__name__} is not a constant")


def _object_constant(instance: JavaObject) -> Constant:
    fields = instance.fields
    try:
        match instance.java.removeprefix(_HIVE):
            case "HiveDecimal" | "org.apache.hadoop.hive.serde2.io.HiveDecimalWritable":
                return Constant(instance.java, _hive_decimal(instance))
            case "java.math.BigDecimal":
                return Constant(instance.java, _scaled(fields["unscaled"], fields["scale"], instance))
            case "HiveChar" | "HiveVarchar":
                return Constant(instance.java, _text(fields["value"], instance))
            case "Date":
                return Constant(instance.java, _local_date(fields["localDate"], instance))
            case "Timestamp":
                return Constant(instance.java, _local_timestamp(fields["localDateTime"], instance))
            case "java.sql.Date":
                return Constant(instance.java, SqlDate(fields["millis"]))
            case "java.sql.Timestamp":
                millis = fields["millis"]
                nanos = _within(fields.get("nanos", millis % 1000 * 10**6), 0, 999_999_999, instance)
                return Constant(instance.java, SqlTimestamp(millis, nanos))
            case "TimestampTZ":
                nanos = _within(fields["nanos"], 0, 999_999_999, instance)
                return Constant(
                    instance.java, ZonedTimestamp(fields["seconds"], nanos, _text(fields["zone"], instance))
                )
            case "HiveIntervalYearMonth":
                return Constant(instance.java, YearMonth(fields["totalMonths"]))
            case "HiveIntervalDayTime":
                return Constant(instance.java, DayTime(fields["totalSeconds"], fields["nanos"]))
            case _:
                return Constant(instance.java, f"object {instance.java}")
    except KeyError as error:
        raise DecodeError(instance.offset, f"a {instance.java} has no {error}") from None


def _hive_decimal(instance: JavaObject) -> decimal.Decimal:
    fields = instance.fields
    digits = fields["fast2"] * 10**32 + fields["fast1"] * 10**16 + fields["fast0"]
    sign = _within(fields["fastSignum"], -1, 1, instance)
    return _scaled(
        sign * _within(digits, 0, 10**38 - 1, instance), _within(fields["fastScale"], 0, 38, instance), instance
    )


def _scaled(unscaled: Any, scale: int, instance: JavaObject) -> decimal.Decimal:
    if not isinstance(unscaled, int) or abs(unscaled) >= 10**400 or abs(scale) > 400:
        raise DecodeError(instance.offset, "a decimal is out of range")
    return decimal.Decimal(unscaled).scaleb(-scale, decimal.Context(prec=500))


def _local_date(value: Any, owner: JavaObject) -> LocalDate:
    if not isinstance(value, JavaObject):
        raise DecodeError(owner.offset, "a date has no value")
    fields = value.fields
    return LocalDate(
        _within(fields["year"], -999_999_999, 999_999_999, value),
        _within(fields["month"], 1, 12, value),
        _within(fields["day"], 1, 31, value),
    )


def _local_timestamp(value: Any, owner: JavaObject) -> LocalTimestamp:
    if not isinstance(value, JavaObject):
        raise DecodeError(owner.offset, "a timestamp has no value")
    date, time = value.fields["date"], value.fields["time"]
    if not isinstance(time, JavaObject):
        raise DecodeError(owner.offset, "a timestamp has no time")
    fields = time.fields
    return LocalTimestamp(
        _local_date(date, value),
        _within(fields["hour"], 0, 23, time),
        _within(fields["minute"], 0, 59, time),
        _within(fields["second"], 0, 59, time),
        _within(fields["nano"], 0, 999_999_999, time),
    )


def _within(value: object, low: int, high: int, instance: JavaObject) -> int:
    if not isinstance(value, int) or not low <= value <= high:
        raise DecodeError(instance.offset, f"{value!r} in a {instance.java} is out of range")
    return value


def _text(value: Any, instance: JavaObject) -> str:
    if not isinstance(value, str):
        raise DecodeError(instance.offset, f"a {instance.java} has no text")
    return value
