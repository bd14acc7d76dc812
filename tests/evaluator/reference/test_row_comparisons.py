"""The oracle's clock of a zone, up to the ends of SQL's years: 9999-12-31 often stands for "no end"."""

from __future__ import annotations

import datetime

import pytest

from evaluator.language.epoch import DAY, EPOCH, FIRST_DAY, LAST_DAY, MICROSECOND
from evaluator.language.semantics import Semantics
from evaluator.language.types import TIMESTAMP, TIMESTAMP_LTZ
from evaluator.reference.row_comparisons import compare, wall_clock

HOUR = 3_600_000_000
FIRST, LAST = FIRST_DAY * DAY, LAST_DAY * DAY + DAY - 1


@pytest.mark.parametrize(
    ("zone", "micros", "offset"),
    [
        ("Asia/Kolkata", LAST, 5.5 * HOUR),
        ("America/New_York", LAST, -5 * HOUR),
        ("Australia/Sydney", LAST, 11 * HOUR),  # summer
        ("America/New_York", FIRST, -(4 * 3600 + 56 * 60 + 2) * 1_000_000),  # local mean time
        ("+05:30", LAST, 5.5 * HOUR),
        ("UTC", FIRST, 0),
    ],
)
def test_the_clock_beyond_pythons_years(zone: str, micros: int, offset: float) -> None:
    semantics = Semantics.named("spark-ansi", zone)
    assert wall_clock(micros, semantics) - micros == offset
    of_hive = Semantics.named("hive4", zone)
    assert compare(">", (micros, TIMESTAMP_LTZ), (0, TIMESTAMP), of_hive) is (micros > 0)


def test_the_clock_of_the_last_days_goes_on_as_before() -> None:
    semantics = Semantics.named("spark-ansi", "Europe/Berlin")
    noons = [
        datetime.datetime(9998, 1, 1, 12, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=n) for n in range(728)
    ]
    instants = [(noon.replace(tzinfo=None) - EPOCH) // MICROSECOND for noon in noons]
    offsets = {wall_clock(instant, semantics) - instant for instant in instants}
    assert offsets == {HOUR, 2 * HOUR}
    assert wall_clock(LAST, semantics) - LAST == HOUR
