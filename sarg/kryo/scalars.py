"""Kryo's and Hive's serializers of single values, each as a function of the wire, the class name and the offset.

    ``SqlDateSerializer`` of Hive   8 bytes, milliseconds         JavaObject(java, {"millis": ...})
    ``LocalTimeSerializer``         1 to 3 bytes and an int       JavaObject(java, {"hour": ..., "minute": ..., ...})

Facts: docs/facts/hive-kryo.md#constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sarg.kryo.errors import DecodeError
from sarg.kryo.limits import MAX_STRING
from sarg.kryo.values import JavaObject
from sarg.kryo.wire import Wire

__all__ = ["SCALARS"]


def _string(wire: Wire, _java: str, _offset: int) -> Any:
    return wire.string()


def _named(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"id": wire.string()}, offset)


def _locale(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"language": wire.string(), "country": wire.string(), "variant": wire.string()}, offset)


def _hive_sql_date(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"millis": wire.fixed_long()}, offset)


def _hive_sql_timestamp(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"millis": wire.fixed_long(), "nanos": wire.fixed_int()}, offset)


def _timestamp_tz(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"seconds": wire.fixed_long(), "nanos": wire.fixed_int(), "zone": wire.string()}, offset)


def _date(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"millis": wire.positive_long()}, offset)


def _kryo_timestamp(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"millis": wire.positive_long(), "nanos": wire.positive_int()}, offset)


def _local_date(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"year": wire.positive_int(), "month": wire.byte(), "day": wire.byte()}, offset)


def _local_time(wire: Wire, java: str, offset: int) -> Any:
    """Hour, minute, second, nano. The last part that is not 0 is written as its complement and ends the value."""
    parts = {"hour": 0, "minute": 0, "second": 0, "nano": 0}
    for name in ("hour", "minute", "second"):
        value = wire.signed_byte()
        if value < 0:
            parts[name] = ~value
            return JavaObject(java, parts, offset)
        parts[name] = value
    parts["nano"] = wire.positive_int()
    return JavaObject(java, parts, offset)


def _local_date_time(wire: Wire, java: str, offset: int) -> Any:
    date = _local_date(wire, "java.time.LocalDate", offset)
    return JavaObject(java, {"date": date, "time": _local_time(wire, "java.time.LocalTime", offset)}, offset)


def _zoned_date_time(wire: Wire, java: str, offset: int) -> Any:
    local = _local_date_time(wire, "java.time.LocalDateTime", offset)
    return JavaObject(java, {"dateTime": local, "zone": wire.string()}, offset)


def _instant(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"seconds": wire.positive_long(), "nanos": wire.positive_int()}, offset)


def _zone_offset(wire: Wire, java: str, offset: int) -> Any:
    quarters = wire.signed_byte()
    return JavaObject(java, {"totalSeconds": wire.fixed_int() if quarters == 127 else quarters * 900}, offset)


def _calendar(wire: Wire, java: str, offset: int) -> Any:
    fields = {
        "zone": wire.string(),
        "millis": wire.positive_long(),
        "lenient": wire.flag(),
        "firstDayOfWeek": wire.count(),
        "minimalDays": wire.count(),
        "gregorianChange": wire.zigzag_long(),
    }
    return JavaObject(java, fields, offset)


def _big_integer(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"unscaled": _unscaled(wire, offset)}, offset)


def _big_decimal(wire: Wire, java: str, offset: int) -> Any:
    return JavaObject(java, {"unscaled": _unscaled(wire, offset), "scale": wire.zigzag_int()}, offset)


def _unscaled(wire: Wire, offset: int) -> int | None:
    length = wire.count() - 1
    if length > MAX_STRING:
        raise DecodeError(offset, f"a number of {length} bytes is too long")
    return None if length < 0 else int.from_bytes(wire.raw(length), "big", signed=True)


SCALARS: Mapping[str, Callable[[Wire, str, int], Any]] = {
    "StringSerializer": _string,
    "StringBuilderSerializer": _string,
    "StringBufferSerializer": _string,
    "PathSerializer": _named,
    "URLSerializer": _named,
    "TimeZoneSerializer": _named,
    "ZoneIdSerializer": _named,
    "LocaleSerializer": _locale,
    "SqlDateSerializer": _hive_sql_date,
    "TimestampSerializer": _hive_sql_timestamp,
    "TimestampTZSerializer": _timestamp_tz,
    "DateSerializer": _date,
    "KryoTimestampSerializer": _kryo_timestamp,
    "LocalDateSerializer": _local_date,
    "LocalTimeSerializer": _local_time,
    "LocalDateTimeSerializer": _local_date_time,
    "ZonedDateTimeSerializer": _zoned_date_time,
    "InstantSerializer": _instant,
    "ZoneOffsetSerializer": _zone_offset,
    "CalendarSerializer": _calendar,
    "BigIntegerSerializer": _big_integer,
    "BigDecimalSerializer": _big_decimal,
}
