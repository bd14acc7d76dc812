"""C7: a timestamp of a column that an interval moves, in zones whose clocks are set, against the reference of rows."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.clock import Clock
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import TIMESTAMP, TIMESTAMP_LTZ, Type
from evaluator.reference.row_oracle import value_of
from handler.sql import parse
from tests.evaluator.short_forms import col, lit, outcome_of, stats
from tests.sampling import examples

EPOCH = datetime.datetime(1970, 1, 1)
HOUR = DAY // 24
#: Clocks that are set by an hour, by half an hour and by a day, and one that is never set.
ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "UTC")


def micros(text: str) -> int:
    return (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(microseconds=1)


#: Instants near which the clock of one of the zones is set.
SET = [
    micros(text)
    for text in (
        *("2024-03-31 01:00:00", "2024-10-27 01:00:00", "1980-04-05 23:00:00"),  # Berlin
        *("2024-04-06 15:00:00", "2024-10-05 15:30:00"),  # Lord Howe
        *("2011-12-30 10:00:00", "2011-09-24 14:00:00"),  # Apia
        *("2024-02-29 12:00:00", "1582-12-31 22:00:00", "9999-11-30 12:00:00"),
    )
]
_SPANS = st.one_of(
    st.builds(TimeSpan, st.just("months"), st.integers(-14, 14)),
    st.builds(TimeSpan, st.just("days"), st.integers(-40, 40)),
    st.builds(TimeSpan, st.just("micros"), st.integers(-150, 150).map(lambda halves: halves * HOUR // 2 + 1)),
    st.builds(TimeSpan, st.just("micros"), st.integers(-40, 40).map(lambda days: days * DAY)),
)
_MOVED = st.one_of(
    st.builds(lambda name, span: ex.Call(name, (col("t"), lit(span, TIME_SPAN))), st.sampled_from("+-"), _SPANS),
    st.builds(lambda span: ex.Call("+", (lit(span, TIME_SPAN), col("t"))), _SPANS),
)


@pytest.mark.parametrize("zone", [*ZONES, "Pacific/Apia, perhaps"])
@pytest.mark.parametrize("engine", ENGINES)
@given(
    operand=_MOVED,
    kind=st.sampled_from((TIMESTAMP, TIMESTAMP_LTZ)),
    start=st.builds(lambda near, off: near + off * HOUR // 2, st.sampled_from(SET), st.integers(-60, 60)),
    steps=st.lists(st.integers(0, 20), min_size=1, max_size=4),
    near=st.integers(-6, 6).map(lambda halves: halves * HOUR // 2),
    op=st.sampled_from(("<", "<=", "=", ">=", ">", "<=>")),
)
@settings(max_examples=examples(10, at_night=1_500), deadline=None)
def test_every_row_has_an_outcome_of_its_slice(
    engine: str, zone: str, operand: ex.Call, kind: Type, start: int, steps: list[int], near: int, op: str
) -> None:
    zone, _, perhaps = zone.partition(", ")
    semantics = Semantics.named(engine, zone)
    asked = semantics.at(Clock.from_now_on(zone_known=False)) if perhaps else semantics
    schema = Schema([Field("t", kind)])
    rows = [start + step * HOUR // 2 for step in steps]
    [span] = [one.value for one in operand.arguments if isinstance(one, ex.Literal)]
    days = span.amount * 30 if span.unit == "months" else span.micros // DAY
    shown_in = TIMESTAMP_LTZ if kind == TIMESTAMP_LTZ and semantics.functions_of_spark else TIMESTAMP
    bound = start + (-days if operand.function == "-" else days) * DAY + near
    condition = ex.Compare(op, operand, lit(bound, shown_in))
    possible = outcome_of(condition, {"t": stats(kind, min(rows), max(rows), nulls=0)}, asked)
    nullable = outcome_of(condition, {"t": stats(kind, min(rows), max(rows), nulls=3)}, asked)
    for value in (None, *rows):
        try:
            result = value_of(condition, {"t": value}, schema, semantics)
        except (UnsupportedError, OverflowError):  # the row has no form here
            continue
        expected = nullable if value is None else possible
        assert {True: "T", False: "F", None: "N"}[result] in expected, (value, result, expected)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "least", "greatest", "expected"),
    [
        ("t + interval '1' hour > timestamp '2024-01-01 07:30:00'", "06:30:01", "08:00:00", "T"),
        ("t + interval '1' hour > timestamp '2024-01-01 07:30:00'", "05:00:00", "06:30:00", "F"),
        ("t - interval '7' day >= timestamp '2023-12-25 06:00:00'", "06:00:00", "08:00:00", "T"),
        ("t - interval '7' day >= timestamp '2023-12-25 06:00:00'", "00:00:00", "05:59:59", "F"),
        ("interval '30' minute + t = timestamp '2024-01-01 06:30:00'", "06:00:00", "06:00:00", "T"),
        ("interval '30' minute + t = timestamp '2024-01-01 06:30:00'", "06:00:01", "07:00:00", "F"),
        ("t + interval '1' month < timestamp '2024-01-30 00:00:00'", "00:00:00", "23:59:59", "F"),
    ],
)
@pytest.mark.parametrize("kind", [TIMESTAMP, TIMESTAMP_LTZ])
def test_in_utc_it_is_decided_to_the_second(
    engine: str, text: str, least: str, greatest: str, expected: str, kind: Type
) -> None:
    ends = [micros(f"2024-01-01 {time}") for time in (least, greatest)]
    condition = parse(text, engine)  # type: ignore[arg-type]
    assert outcome_of(condition, {"t": stats(kind, *ends, nulls=0)}, Semantics.named(engine, "UTC")) == expected


def test_a_zone_that_is_not_known_may_have_skipped_a_day() -> None:
    """Apia went from 11 hours behind UTC to 14 hours ahead of it in 2011: by 25 hours, with its summer time."""
    june = micros("2011-06-15 10:00:00")
    condition = parse("t + interval '220' day < timestamp '2012-01-20 09:30:00+00:00'", "spark")
    schema, known = Schema([Field("t", TIMESTAMP_LTZ)]), {"t": stats(TIMESTAMP_LTZ, june, june, nulls=0)}
    semantics = Semantics.named("spark", "Pacific/Apia")
    result = value_of(condition, {"t": june}, schema, semantics)
    for asked in (semantics, semantics.at(Clock.from_now_on(zone_known=False))):
        assert {True: "T", False: "F"}[bool(result)] in outcome_of(condition, known, asked)


def test_spark_moves_an_instant_by_a_day_of_the_clock() -> None:
    """From noon in Berlin on the day before the clock is set, a day has 23 hours, and 24 hours end at one."""
    noon = micros("2024-03-30 11:00:00")
    semantics = Semantics.named("spark", "Europe/Berlin")
    known = {"t": stats(TIMESTAMP_LTZ, noon, noon, nulls=0)}
    for text, expected in (
        ("t + interval '1' day = timestamp '2024-03-31 12:00:00'", "TF"),
        ("t + interval '1' day < timestamp '2024-03-31 11:00:00'", "F"),
        ("t + interval '23' hour = timestamp '2024-03-31 12:00:00'", "T"),
        ("t + interval '12' hour = timestamp '2024-03-31 00:00:00'", "T"),
    ):
        assert outcome_of(parse(text, "spark"), known, semantics) == expected, text


@pytest.mark.parametrize("zone", ZONES)
def test_a_month_may_lead_beyond_the_last_year(zone: str) -> None:
    condition = parse("t + interval '1' month > timestamp '2024-01-01 00:00:00'", "spark")
    last = micros("9999-11-29 10:00:00")
    assert "T" in outcome_of(condition, {"t": stats(TIMESTAMP_LTZ, last, last)}, Semantics.named("spark", zone))


@pytest.mark.parametrize("engine", ENGINES)
def test_moments_of_the_first_calendar_and_beyond_its_last_year_are_open(engine: str) -> None:
    condition = parse("t + interval '1' hour > timestamp '2024-01-01 00:00:00'", engine)  # type: ignore[arg-type]
    for ends in (("1500-01-01 00:00:00", "1500-01-02 00:00:00"), ("9999-12-31 22:00:00", "9999-12-31 23:30:00")):
        known = {"t": stats(TIMESTAMP, *map(micros, ends), nulls=0)}
        assert outcome_of(condition, known, Semantics.named(engine, "UTC")) == "TFN"
