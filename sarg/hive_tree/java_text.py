"""How Java prints numbers and moments, where Python prints them differently."""

from __future__ import annotations

import datetime
import decimal
import math
import struct
import zoneinfo

__all__ = ["fraction_text", "hybrid_moment", "java_float", "moment", "zone_offset"]

_EPOCH = datetime.datetime(1970, 1, 1)
_GREGORIAN_DAY = datetime.date(1582, 10, 15).toordinal() - datetime.date(1970, 1, 1).toordinal()


def java_float(value: float, is_float32: bool) -> str:
    """As Float.toString / Double.toString print it: the shortest digits, plain from 10^-3 up to 10^7."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    shortest = decimal.Decimal(_shortest_float32(value) if is_float32 else repr(value)).normalize()
    if len(shortest.as_tuple().digits) == 1:
        shortest = decimal.Decimal(f"{value:.1e}")  # of the decimals with two digits the nearest: 4.9E-324
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
    """``2020-01-02 03:04:05`` of a count of seconds; seconds outside the years 1 to 9999 are shown as a count."""
    try:
        return str(_EPOCH + datetime.timedelta(seconds=seconds))
    except OverflowError:
        return f"epoch {seconds}"


def hybrid_moment(seconds: int) -> str:
    """As java.sql prints it: the Julian calendar before 1582-10-15."""
    day, clock = divmod(seconds, 86400)
    if day >= _GREGORIAN_DAY or day < -800_000:
        return moment(seconds)
    # Day 0 is 1970-01-01, the day 2,440,588 of the Julian period; years count from March.
    shifted = day + 2_440_588 + 32_082
    year = (4 * shifted + 3) // 1461
    of_year = shifted - 1461 * year // 4
    month = (5 * of_year + 2) // 153
    of_month = of_year - (153 * month + 2) // 5 + 1
    date = f"{year - 4800 + month // 10:04d}-{month + 3 - 12 * (month // 10):02d}-{of_month:02d}"
    return f"{date} {clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"


def fraction_text(nanos: int) -> str:
    """Nanoseconds of a second without the zeros at the end, but at least one digit."""
    return f"{nanos:09d}".rstrip("0") or "0"


def zone_offset(zone: str, seconds: int) -> int:
    """The zone's distance from UTC at that moment, for printing; 0 for a zone that is not known here."""
    if len(zone) > 64:
        return 0
    if zone[:1] in ("+", "-") and zone[1:2].isdigit():
        hours, _, rest = zone[1:].partition(":")
        minutes, _, rest = rest.partition(":")
        if all(part.isdecimal() and len(part) <= 2 for part in (hours, minutes or "0", rest or "0")):
            size = int(hours) * 3600 + int(minutes or 0) * 60 + int(rest or 0)
            return -size if zone[0] == "-" else size
    try:
        local = (_EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).astimezone(
            zoneinfo.ZoneInfo(zone)
        )
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OverflowError, OSError):
        return 0
    offset = local.utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0
