"""Wall clocks and instants (P14): whatever the zone, no moment is left out.

Pitfall P14 is described in docs/facts/pitfalls.md#p14.
"""

from __future__ import annotations

import datetime
import time
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate, evaluate_slice
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import STRING, TIMESTAMP
from evaluator.language.zones import instant_of, shown, shown_between, wall_clock_of, wall_clocks_between
from tests.sampling import examples

ZONES = [
    "Europe/Berlin",
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Asia/Kolkata",
    "Pacific/Kwajalein",
    "Asia/Tehran",
]
HOUR = DAY // 24
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def moment(*parts: int) -> int:
    return (datetime.datetime(*parts, tzinfo=datetime.timezone.utc) - EPOCH) // datetime.timedelta(microseconds=1)


@settings(max_examples=examples(78, at_night=4000))
@given(
    zone=st.sampled_from(ZONES),
    start=st.integers(moment(1900, 1, 2), moment(2099, 1, 1)),
    length=st.integers(0, 40 * 24),
    step=st.floats(0, 1),
)
def test_every_wall_clock_on_the_way_lies_between_the_bounds(zone: str, start: int, length: int, step: float) -> None:
    lo, hi = wall_clocks_between(start, start + length * HOUR, zone)
    between = start + int(step * length * HOUR)
    clock = wall_clock_of(between, zone)
    assert lo is not None
    assert hi is not None
    assert clock is not None
    assert lo <= clock <= hi
    local = (EPOCH + datetime.timedelta(microseconds=between)).astimezone(ZoneInfo(zone))
    assert clock == (local.replace(tzinfo=datetime.timezone.utc) - EPOCH) // datetime.timedelta(microseconds=1)


@pytest.mark.parametrize("step", range(-6, 7))
def test_the_hour_that_berlin_shows_twice_widens_the_bounds(step: int) -> None:
    back = moment(2020, 10, 25, 1)  # 03:00 becomes 02:00
    lo, hi = wall_clocks_between(back - HOUR // 2, back + HOUR // 2, "Europe/Berlin")
    clock = wall_clock_of(back + step * HOUR // 12, "Europe/Berlin")
    assert lo <= clock <= hi
    assert hi - lo <= 2 * HOUR


def test_without_a_set_back_the_bounds_are_exact() -> None:
    day = moment(2020, 7, 1)
    assert wall_clocks_between(day, day + DAY, "Europe/Berlin") == (day + 2 * HOUR, day + DAY + 2 * HOUR)
    assert wall_clocks_between(day, day + DAY, "UTC") == (day, day + DAY)


def test_what_is_not_known_widens_by_a_day() -> None:
    day, late = moment(2020, 7, 1), moment(2150, 1, 1)
    assert wall_clocks_between(None, day, "Asia/Kolkata") == (None, day + 11 * HOUR // 2)
    assert wall_clocks_between(day, None, "Asia/Kolkata") == (day + 11 * HOUR // 2, None)
    assert wall_clocks_between(late, late, "Asia/Kolkata") == (late + 11 * HOUR // 2, late + 11 * HOUR // 2)
    assert wall_clocks_between(late, late + HOUR, "Asia/Kolkata") == (late - DAY, late + HOUR + DAY)
    assert wall_clocks_between(day, late, "Asia/Kolkata") == (day + 11 * HOUR // 2, late + DAY)


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Europe/Berlin", "+05:30"])
def test_what_lies_before_1900_stays_before_its_third_day(zone: str) -> None:
    ancient, third = moment(1500, 1, 1), moment(1900, 1, 3)
    for between in (wall_clocks_between, shown_between):
        assert between(ancient, ancient, zone) == (None, third)
        assert between(ancient, moment(1899, 12, 31), zone) == (None, third)
        assert between(moment(9999, 12, 31), moment(9999, 12, 31), zone) == (moment(9999, 12, 29), None)


def test_a_run_over_a_gap_shows_what_the_gap_is_moved_to() -> None:
    """Berlin has no 02:30 on 2020-03-29: clocks show 03:30, or 01:30, in its place."""
    night = moment(2020, 3, 29)
    at = [night + hour * HOUR // 2 for hour in range(9)]  # at[4] is 02:00
    assert shown_between(at[4], at[6] + 1, "Europe/Berlin") == (at[2], at[8] - 1)
    assert shown_between(at[3], at[5], "Europe/Berlin") == (at[2], at[7])
    assert shown_between(at[5], at[5], "Europe/Berlin") == (at[3], at[7])
    assert shown_between(at[1], at[3], "Europe/Berlin") == (at[1], at[3])
    assert shown_between(at[6], at[7], "Europe/Berlin") == (at[6], at[7])


@pytest.mark.parametrize(
    ("zone", "gap", "forward"),
    [
        ("Europe/Berlin", moment(2020, 3, 29, 2), HOUR),
        ("America/Sao_Paulo", moment(2018, 11, 4), HOUR),
        ("Australia/Lord_Howe", moment(2019, 10, 6, 2), HOUR // 2),
    ],
)
@pytest.mark.parametrize("function", ["date_trunc", "to_timestamp"])
def test_a_slice_whose_range_holds_a_gap_is_kept_for_what_the_gap_is_moved_to(
    zone: str, gap: int, forward: int, function: str
) -> None:
    """Engines show a wall clock in the gap later, by as much as the clock is set forward: above the upper bound."""
    minute = HOUR // 60
    in_gap, above = gap + forward - minute, gap + forward + forward // 2
    arguments = (ex.Literal("minute", STRING),) if function == "date_trunc" else ()
    operand = ex.Call(function, (*arguments, ex.Column(("c",))))
    schema, semantics = Schema([Field("c", TIMESTAMP)]), Semantics.named("spark", zone)
    for slice_ in (Interval(gap - forward, above, False), Interval(in_gap, in_gap, False)):
        for shown_at, can_be in ((in_gap + forward, True), (above + 2 * forward, False)):
            bound = bind(ex.Compare("=", operand, ex.Literal(shown_at, TIMESTAMP)), schema, semantics)
            assert bool(evaluate_slice(bound, {"c": slice_}) & outcome.TRUE) is can_be


AROUND = st.integers(-4, 4).flatmap(lambda days: st.integers(0, DAY).map(lambda part: days * DAY + part))
CENTRES = [
    moment(1582, 10, 15),
    moment(1900, 1, 1),
    moment(2020, 3, 29),
    moment(2020, 10, 25),
    moment(2011, 12, 30),
    moment(1945, 8, 15),
    moment(2100, 1, 1),
    moment(2150, 7, 1),
    moment(9999, 12, 30),
]


@settings(max_examples=examples(117, at_night=6000))
@given(
    zone=st.sampled_from([*ZONES, "Asia/Manila", "Africa/Monrovia", "+05:30", "UTC"]),
    centre=st.sampled_from(CENTRES),
    offsets=st.lists(AROUND, min_size=4, max_size=4).map(sorted),
    open_ends=st.tuples(st.booleans(), st.booleans()),
)
def test_a_part_of_a_run_shows_nothing_that_the_whole_does_not(
    zone: str, centre: int, offsets: list[int], open_ends: tuple[bool, bool]
) -> None:
    first, lo, hi, last = (centre + offset for offset in offsets)
    for between in (wall_clocks_between, shown_between):
        whole = between(None if open_ends[0] else first, None if open_ends[1] else last, zone)
        for part in (between(lo, hi, zone), between(lo, lo, zone)):
            assert whole[0] is None or (part[0] is not None and whole[0] <= part[0])
            assert whole[1] is None or (part[1] is not None and part[1] <= whole[1])


@settings(max_examples=examples(58, at_night=3000))
@given(
    zone=st.sampled_from(ZONES), centre=st.sampled_from(CENTRES[1:6]), offsets=st.lists(AROUND, min_size=3, max_size=3)
)
def test_every_wall_clock_that_is_shown_for_one_of_a_run_lies_between_the_bounds(
    zone: str, centre: int, offsets: list[int]
) -> None:
    lo, between, hi = (centre + offset for offset in sorted(offsets))
    readings, bounds = shown(between, zone), shown_between(lo, hi, zone)
    if readings is not None:
        assert bounds[0] is None or bounds[0] <= readings[0]
        assert readings[1] <= bounds[1]


@pytest.mark.parametrize("zone", ZONES)
def test_a_wall_clock_in_a_gap_or_an_overlap_has_every_reading(zone: str) -> None:
    for hour in range(0, 24 * 400, 7):
        wall = moment(2011, 6, 1) + hour * HOUR + HOUR // 2
        instants, clocks = instant_of(wall, zone), shown(wall, zone)
        assert instants is not None
        assert clocks is not None
        assert clocks[0] <= wall <= clocks[1]
        assert {wall_clock_of(instants.lo, zone), wall_clock_of(instants.hi, zone)} <= set(
            range(clocks[0], clocks[1] + 1, HOUR // 2)
        )


@pytest.mark.parametrize(("engine", "same"), [("spark", True), ("spark-legacy", True), ("hive", False)])
def test_spark_drops_what_a_constant_says_below_the_microsecond(engine: str, same: bool) -> None:
    """Between constants as against a column: NOT of a comparison that Spark finds TRUE would skip every file."""
    coarse = ex.Literal(1_577_404_800_000_000, TIMESTAMP)
    fine = ex.Literal(Fraction(1_577_404_800_000_000_372, 1000), TIMESTAMP)
    semantics = Semantics.named(engine, "UTC")
    for op, truth in (("=", same), ("!=", not same), ("<=>", same), ("<", not same), (">=", same)):
        actual = evaluate(bind(ex.Compare(op, coarse, fine), Schema([]), semantics), 1, [])
        assert actual.outcomes.tolist() == [outcome.TRUE if truth else outcome.FALSE], op


def test_a_fixed_offset_is_a_zone():
    noon = moment(2020, 7, 1, 12)
    assert wall_clock_of(noon, "+05:30") == moment(2020, 7, 1, 17, 30)
    assert wall_clock_of(noon, "-03:00") == moment(2020, 7, 1, 9)
    assert (instant_of(moment(2020, 7, 1, 17, 30), "+05:30").lo, Semantics.named("spark", "+05:30").zone) == (
        noon,
        "+05:30",
    )
    with pytest.raises(UnsupportedError, match="is not known"):
        Semantics.named("spark", "+5:3")


def test_fixed_offsets_are_never_set_back_and_need_no_table() -> None:
    """Thousands of them can be named by sessions; a table of a zone takes a tenth of a second."""
    started = time.process_time()
    for minute in range(600):
        zone = f"+{minute // 60:02d}:{minute % 60:02d}"
        assert wall_clocks_between(0, 10**15, zone) == (minute * 60 * 10**6, 10**15 + minute * 60 * 10**6)
    assert time.process_time() - started < 10
