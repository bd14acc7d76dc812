"""The texts that Java prints for numbers and times, where Python prints others.

    ===================  ===================  ===================
    value                Python               Java
    ===================  ===================  ===================
    12345678.0           12345678.0           1.2345678E7
    0.1 as Float         0.10000000149011612  0.1
    day -141,428         1582-10-14           1582-10-04 (Julian)
    ===================  ===================  ===================

Facts: docs/facts/hive-kryo.md#constants.
"""

from __future__ import annotations

import datetime
import decimal
import math
import struct
import zoneinfo

from evaluator.language.epoch import EPOCH, FIRST_GREGORIAN_DAY

__all__ = ["fraction_text", "hybrid_moment", "java_float", "moment", "zone_offset"]


def java_float(value: float, is_float32: bool) -> str:
    """The text of Float.toString or Double.toString: the shortest digits, without exponent from 10^-3 up to 10^7."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    shortest = decimal.Decimal(_shortest_float32(value) if is_float32 else repr(value)).normalize()
    if len(shortest.as_tuple().digits) == 1:
        shortest = decimal.Decimal(f"{value:.1e}")  # for one digit Java prints the nearest decimal of two: 4.9E-324
    sign, digits, exponent = shortest.as_tuple()
    if not isinstance(exponent, int) or value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + exponent
    minus = "-" if sign else ""
    if -3 < point <= 7:
        whole, fraction = (text[:point].ljust(point, "0"), text[point:]) if point > 0 else ("0", "0" * -point + text)
        return f"{minus}{whole}.{fraction or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"


def _shortest_float32(value: float) -> str:
    for precision in range(1, 10):
        text = f"{value:.{precision}g}"
        try:
            if struct.unpack("<f", struct.pack("<f", float(text)))[0] == value:
                return text
        except OverflowError:
            continue
    return repr(value)


def moment(seconds: int) -> str:
    """``2020-01-02 03:04:05`` for a number of seconds; ``epoch <number>`` outside the years 1 to 9999."""
    try:
        return str(EPOCH + datetime.timedelta(seconds=seconds))
    except OverflowError:
        return f"epoch {seconds}"


def hybrid_moment(seconds: int) -> str:
    """The text of java.sql, which uses the Julian calendar before 1582-10-15."""
    day, clock = divmod(seconds, 86400)
    if day >= FIRST_GREGORIAN_DAY or day < -800_000:
        return moment(seconds)
    # Day 0 is 1970-01-01, which is day 2,440,588 of the Julian period. A year of this calculation begins in March.
    shifted = day + 2_440_588 + 32_082
    year = (4 * shifted + 3) // 1461
    day_of_year = shifted - 1461 * year // 4
    month = (5 * day_of_year + 2) // 153
    day_of_month = day_of_year - (153 * month + 2) // 5 + 1
    date = f"{year - 4800 + month // 10:04d}-{month + 3 - 12 * (month // 10):02d}-{day_of_month:02d}"
    return f"{date} {clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"


def fraction_text(nanos: int) -> str:
    """Nanoseconds of a second without trailing zeros, but with one digit at least."""
    return f"{nanos:09d}".rstrip("0") or "0"


def zone_offset(zone: str, seconds: int) -> int:
    """The zone's offset from UTC in seconds at a moment; 0 for a zone that is not known here. For printing only."""
    if len(zone) > 64:
        return 0
    if zone[:1] in ("+", "-") and zone[1:2].isdigit():
        hours, _, rest = zone[1:].partition(":")
        minutes, _, seconds_part = rest.partition(":")
        if all(part.isdecimal() and len(part) <= 2 for part in (hours, minutes or "0", seconds_part or "0")):
            east = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds_part or 0)
            return -east if zone[0] == "-" else east
    try:
        local = (EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).astimezone(
            zoneinfo.ZoneInfo(zone)
        )
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OverflowError, OSError):
        return 0
    offset = local.utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0
