"""Java constants: printed as Java prints them, and converted exactly."""

import datetime
from decimal import Decimal

import pytest

from sarg.hive_tree.constants import (
    Constant,
    DayTime,
    LocalDate,
    LocalTimestamp,
    SqlDate,
    SqlTimestamp,
    YearMonth,
    ZonedTimestamp,
)
from sarg.translation.literals import day_of_midnight


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (100.0, "100.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.577934245e9, "1.577934245E9"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (-2.5, "-2.5"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1e300, "1.0E300"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (5e-324, "4.9E-324"),
    ],
    ids=str,
)
def test_doubles_print_as_double_to_string_does(value, text):
    assert str(Constant("java.lang.Double", value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.10000000149011612, "0.1"),
        (1e10, "1.0E10"),
        (1.5, "1.5"),
        (3.4028234663852886e38, "3.4028235E38"),
        (16777216.0, "1.6777216E7"),
        (1.401298464324817e-45, "1.4E-45"),
    ],
    ids=str,
)
def test_floats_print_their_shortest_digits(value, text):
    assert str(Constant("java.lang.Float", value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.25"), "1.25"),
        (Decimal("1E-36"), "0." + "0" * 35 + "1"),
        (True, "true"),
        (b"\x01", "base64:AQ=="),
        (LocalDate(1, 1, 1), "0001-01-01"),
        (LocalDate(12345, 1, 2), "+12345-01-02"),
        (LocalTimestamp(LocalDate(2020, 1, 2), 3, 4, 5, 120_000_000), "2020-01-02 03:04:05.12"),
        (SqlDate(1577923200000), "2020-01-02"),
        (SqlDate(-62135769600000), "0001-01-01"),
        (SqlTimestamp(1577934245000, 5000), "2020-01-02 03:04:05.000005"),
        (ZonedTimestamp(1577934245, 0, "UTC"), "2020-01-02 03:04:05.0 UTC"),
        (ZonedTimestamp(1577934245, 5, "Asia/Tokyo"), "2020-01-02 12:04:05.000000005 Asia/Tokyo"),
        (ZonedTimestamp(1577934245, 0, "-09:30"), "2020-01-01 17:34:05.0 -09:30"),
        (ZonedTimestamp(1577934245, 0, "../../etc/passwd"), "2020-01-02 03:04:05.0 ../../etc/passwd"),
        (YearMonth(-14), "-1-2"),
        (DayTime(93784, 0), "1 02:03:04.000000000"),
        ((Constant("java.lang.Integer", 1), None, Constant("java.lang.String", "x")), "[1, null, x]"),
    ],
    ids=str,
)
def test_other_constants_print_as_java_does(value, text):
    assert str(Constant("any", value)) == text


def test_epoch_days_agree_with_the_calendar():
    for ordinal in range(1, datetime.date.max.toordinal(), 9973):
        date = datetime.date.fromordinal(ordinal)
        assert LocalDate(date.year, date.month, date.day).epoch_day() == ordinal - 719163


@pytest.mark.parametrize("minutes", range(-12 * 60, 14 * 60 + 1, 15))
def test_midnight_names_its_own_day_or_none(minutes):
    """For each offset of a zone: the day is right, or None."""
    for day in (18263, 0, -5000, 30000):
        own_day = day_of_midnight(day * 86_400_000 - minutes * 60_000)
        assert own_day in (day, None)
        assert (own_day is None) == (minutes <= -600 or minutes >= 720)
