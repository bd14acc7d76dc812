"""Constant texts with a zone, or without seconds, beside a timestamp of Spark."""

from __future__ import annotations

import datetime

import pytest

from evaluator.language.moment_texts import instant_of_text, usual_form
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, TIMESTAMP, TIMESTAMP_LTZ
from handler.sql import parse
from tests.evaluator.short_forms import outcome_of, stats

EPOCH = datetime.datetime(1970, 1, 1)
NOON = (datetime.datetime(2026, 5, 1, 12) - EPOCH) // datetime.timedelta(microseconds=1)
HOUR = 3_600_000_000
#: Text -> hours away from noon of 2026-05-01 in UTC; None: it is left open.
INSTANTS = {
    "2026-05-01T12:00:00Z": 0,
    "2026-05-01 12:00:00 UTC": 0,
    "2026-05-01 12:00:00UTC": 0,
    "2026-05-01T12:00:00.000Z": 0,
    "2026-5-1T12:0:0Z": 0,
    "2026-05-01T12:00:00+02:00": -2,
    "2026-05-01T12:00:00-05": 5,
    "2026-05-01T12:00:00+0130": -1.5,
    "2026-05-01T12:00:00 GMT": 0,
    "2026-05-01T12:00:00+18:00": -18,
    "2026-05-01T12:00:00+18:01": None,
    "2026-05-01T12:00:00+02:60": None,
    "2026-05-01T25:00:00Z": None,
    "2026-02-30T12:00:00Z": None,
    "1500-05-01T12:00:00Z": None,
    "2026-05-01T12:00:00 Europe/Berlin": None,
    "2026-05-01Z": None,
    "2026-05-01T12:00Z": None,
    "2026-05-01T12:00:00": None,
    "12:00:00Z": None,
}


@pytest.mark.parametrize(("text", "away"), INSTANTS.items())
def test_a_zone_makes_an_instant(text: str, away: float | None) -> None:
    assert instant_of_text(text) == (None if away is None else NOON + away * HOUR)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "spark-legacy"])
@pytest.mark.parametrize(("text", "away"), [one for one in INSTANTS.items() if one[1] is not None])
def test_an_instant_is_compared_in_any_zone(engine: str, zone: str, text: str, away: float) -> None:
    semantics, at = Semantics.named(engine, zone), NOON + int(away * HOUR)
    for condition in (f"t >= '{text}'", f"t >= cast('{text}' as timestamp)", f"t >= to_timestamp('{text}')"):
        expression = parse(condition, engine)  # type: ignore[arg-type]
        for micros, expected in ((at - 1, "F"), (at, "T")):
            assert outcome_of(expression, {"t": stats(TIMESTAMP_LTZ, micros, micros, nulls=0)}, semantics) == expected


def test_other_columns_and_engines_leave_it_open() -> None:
    text = "x >= '2026-05-01T12:00:00Z'"
    wall_clock = {"x": stats(TIMESTAMP, 0, 1)}
    assert outcome_of(parse(text, "spark"), wall_clock) == "TFN"
    assert outcome_of(parse(text, "hive4"), wall_clock, Semantics.named("hive4", "UTC")) == "TFN"
    assert outcome_of(parse(text, "spark"), {"x": stats(DATE, 20_573, 20_573, nulls=0)}) == "F"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-5-1 9:30", "2026-05-01 09:30:00"),
        ("2026-05-01T09:30:5.25", "2026-05-01 09:30:05.25"),
        ("2026-05-01", "2026-05-01"),
        ("9:30", "9:30"),
    ],
)
def test_a_time_has_seconds(text: str, expected: str) -> None:
    assert usual_form(text, Semantics.named("spark", "UTC")) == expected
