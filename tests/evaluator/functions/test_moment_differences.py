"""C7: the time between two moments, as an interval or in whole units, against the reference of rows."""

from __future__ import annotations

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
from evaluator.language.types import BIGINT, DATE, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type
from evaluator.reference.row_oracle import value_of
from handler.sql import parse
from tests.evaluator.functions.test_moved_moments import HOUR, SET, ZONES, micros
from tests.evaluator.short_forms import col, lit, outcome_of, stats
from tests.sampling import examples

OF_SPARK = [engine for engine in ENGINES if engine.startswith("spark")]
UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")
_OPERATORS = st.sampled_from(("<", "<=", "=", "!=", ">=", ">", "<=>"))
#: Where a month may be whole or not: the last days of short and long months, by half hours.
MONTH_ENDS = [micros(f"2024-{day} 00:00:00") for day in ("01-31", "02-29", "03-01", "03-31", "04-30", "12-31")]
_STARTS = st.builds(
    lambda near, halves: near + halves * HOUR // 2, st.sampled_from([*SET, *MONTH_ENDS]), st.integers(-100, 100)
)
_STEPS = st.lists(st.integers(0, 25), min_size=1, max_size=4)


def rows_of(kind: Type, start: int, steps: list[int]) -> list[int]:
    """Moments by half hours, or days."""
    return [start // DAY + step if kind == DATE else start + step * HOUR // 2 for step in steps]


def check(condition: ex.Compare, of: dict[str, tuple[Type, list[int]]], engine: str, zone: str, nulls: bool) -> None:
    semantics = Semantics.named(engine, zone)
    schema = Schema([Field(name, kind) for name, (kind, _) in of.items()])
    known = {name: stats(kind, min(rows), max(rows), nulls=3 * nulls) for name, (kind, rows) in of.items()}
    possible = outcome_of(condition, known, semantics)
    for first in (None, *of["t"][1]) if nulls else of["t"][1]:
        for second in (None, *of["u"][1]) if nulls else of["u"][1]:
            try:
                result = value_of(condition, {"t": first, "u": second}, schema, semantics)
            except (UnsupportedError, OverflowError):  # the row has no form here
                continue
            assert {True: "T", False: "F", None: "N"}[result] in possible, (first, second, result, possible)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("engine", ENGINES)
@given(
    kinds=st.sampled_from([(TIMESTAMP, TIMESTAMP), (TIMESTAMP_LTZ, TIMESTAMP_LTZ), (DATE, DATE), (DATE, TIMESTAMP)]),
    starts=st.tuples(_STARTS, _STARTS),
    steps=st.tuples(_STEPS, _STEPS),
    near=st.integers(-6, 6).map(lambda halves: halves * HOUR // 2),
    op=_OPERATORS,
    mirrored=st.booleans(),
    nulls=st.booleans(),
)
@settings(max_examples=examples(10, at_night=1_500), deadline=None)
def test_every_row_has_an_outcome_of_its_slice_beside_an_interval(
    engine: str,
    zone: str,
    kinds: tuple[Type, Type],
    starts: tuple[int, int],
    steps: tuple[list[int], list[int]],
    near: int,
    op: str,
    mirrored: bool,
    nulls: bool,
) -> None:
    of = {name: (kind, rows_of(kind, *one)) for name, kind, *one in zip("tu", kinds, starts, steps, strict=True)}
    span = lit(TimeSpan("micros", starts[0] - starts[1] + near), TIME_SPAN)
    difference = ex.Call("-", (col("t"), col("u")))
    check(ex.Compare(op, span, difference) if mirrored else ex.Compare(op, difference, span), of, engine, zone, nulls)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("engine", OF_SPARK)
@given(
    kinds=st.sampled_from([(TIMESTAMP, TIMESTAMP), (TIMESTAMP_LTZ, TIMESTAMP_LTZ), (DATE, DATE), (TIMESTAMP, DATE)]),
    starts=st.tuples(_STARTS, _STARTS),
    steps=st.tuples(_STEPS, _STEPS),
    unit=st.sampled_from(UNITS),
    near=st.integers(-2, 2),
    op=_OPERATORS,
    nulls=st.booleans(),
)
@settings(max_examples=examples(10, at_night=1_500), deadline=None)
def test_every_row_has_an_outcome_of_its_slice_in_whole_units(
    engine: str,
    zone: str,
    kinds: tuple[Type, Type],
    starts: tuple[int, int],
    steps: tuple[list[int], list[int]],
    unit: str,
    near: int,
    op: str,
    nulls: bool,
) -> None:
    of = {name: (kind, rows_of(kind, *one)) for name, kind, *one in zip("tu", kinds, starts, steps, strict=True)}
    call = ex.Call("timestampdiff", (lit(unit, STRING), col("t"), col("u")))
    schema = Schema([Field(name, kind) for name, (kind, _) in of.items()])
    row = {name: rows[0] for name, (_, rows) in of.items()}
    count = next(
        (
            n
            for n in whole_units_near(unit, starts)
            if value_of(ex.Compare(">=", call, lit(n, BIGINT)), row, schema, Semantics.named(engine, "UTC"))
        ),
        0,
    )
    check(ex.Compare(op, call, lit(count + near, BIGINT)), of, engine, zone, nulls)


def whole_units_near(unit: str, starts: tuple[int, int]) -> range:
    """Numbers from above that of the units between two moments down to below it."""
    days = {"month": 30, "quarter": 91, "year": 365, "week": 7}.get(unit, 1)
    length = {"microsecond": 1, "millisecond": 1_000, "second": 10**6, "minute": 60 * 10**6, "hour": HOUR}
    near = (starts[1] - starts[0]) // length.get(unit, days * DAY)
    return range(near + 12, near - 12, -1)


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "hive"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u - t > interval '59' minute", "T"),
        ("u - t > interval '60' minute", "TF"),
        ("u - t > interval '3' hour", "F"),
        ("interval '3' hour < u - t", "F"),
        ("u - t between interval '1' hour and interval '3' hour", "T"),
        ("timestamp '2024-01-01 12:00:00' - t >= interval '4' hour", "T"),
        ("t - timestamp '2024-01-01 06:00:00' = interval '0' second", "TF"),
        ("d - date '2024-01-31' > interval '9' day", "T"),
        ("d - date '2024-01-31' > interval '10' day", "F"),
        ("t - d < interval '0' day", "T"),
    ],
)
@pytest.mark.parametrize("kind", [TIMESTAMP, TIMESTAMP_LTZ])
def test_in_utc_a_difference_is_decided_to_the_microsecond(engine: str, text: str, expected: str, kind: Type) -> None:
    known = {
        "t": stats(kind, micros("2024-01-01 06:00:00"), micros("2024-01-01 08:00:00"), nulls=0),
        "u": stats(kind, micros("2024-01-01 09:00:00"), micros("2024-01-01 09:00:00"), nulls=0),
        "d": stats(DATE, 19763, 19763, nulls=0),  # 2024-02-10
    }
    condition = parse(text, engine)  # type: ignore[arg-type]
    assert outcome_of(condition, known, Semantics.named(engine, "UTC")) == expected
    unreadable = parse("timestampdiff(MINUTE, t, 'no moment') <= 240", engine)  # type: ignore[arg-type]
    is_null = engine in ("spark-legacy", "spark-try")
    assert outcome_of(unreadable, known, Semantics.named(engine, "UTC")) == ("N" if is_null else "TFN")


@pytest.mark.parametrize("engine", OF_SPARK)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timestampdiff(HOUR, t, u) = 1", "TF"),
        ("timestampdiff(HOUR, t, u) >= 1", "T"),
        ("timestampdiff(HOUR, t, u) > 3", "F"),
        ("timestampdiff(HOUR, u, t) < -3", "F"),
        ("datediff(MINUTE, t, timestamp '2024-01-01 10:00:00') <= 240", "T"),
        ("datediff(DAY, t, d) = 39", "T"),
        ("timestampdiff(MINUTE, t, '2024-01-01 10:00:00') <= 240", "T"),
        ("timestampdiff(MINUTE, '2024-01-01', t) < 360", "F"),
        ("timestampdiff(MONTH, timestamp '2023-11-01 07:00:00', u) = 2", "T"),
        ("timestampdiff(MONTH, t, u) >= 1", "F"),
        ("timestampdiff(YEAR, t, u) = 0", "T"),
    ],
)
def test_whole_units_are_decided_in_spark(engine: str, text: str, expected: str) -> None:
    known = {
        "t": stats(TIMESTAMP_LTZ, micros("2024-01-01 06:00:00"), micros("2024-01-01 08:00:00"), nulls=0),
        "u": stats(TIMESTAMP_LTZ, micros("2024-01-01 09:00:00"), micros("2024-01-01 09:00:00"), nulls=0),
        "d": stats(DATE, 19763, 19763, nulls=0),
    }
    condition = parse(text, engine)  # type: ignore[arg-type]
    assert outcome_of(condition, known, Semantics.named(engine, "UTC")) == expected


@pytest.mark.parametrize("engine", OF_SPARK)
def test_what_is_younger_than_an_hour_is_not_among_old_files(engine: str) -> None:
    then = micros("2024-01-01 06:00:00")
    semantics = Semantics.named(engine, "Europe/Berlin").at(Clock.from_now_on(zone_known=True))
    for text, expected in (
        ("current_timestamp() - t < interval '1' hour", "F"),
        ("now() - t <= interval '30' day", "F"),
        ("current_date() - d > interval '7' day", "T"),
        ("timestampdiff(HOUR, t, current_timestamp()) < 24", "F"),
        ("timestampdiff(MONTH, t, now()) > 3", "T"),
    ):
        known = {"t": stats(TIMESTAMP_LTZ, then, then + HOUR, nulls=0), "d": stats(DATE, 19000, 19001, nulls=0)}
        assert outcome_of(parse(text, engine), known, semantics) == expected, text  # type: ignore[arg-type]


def test_a_month_may_begin_to_be_whole_while_its_start_rises() -> None:
    """From 31 January 23:00 to 1 March 12:00 there is no whole month, from 1 February there is one."""
    ends = micros("2024-01-31 23:00:00"), micros("2024-02-01 00:00:00")
    known = {"t": stats(TIMESTAMP, *ends, nulls=0)}
    schema, semantics = Schema([Field("t", TIMESTAMP)]), Semantics.named("spark", "UTC")
    condition = parse("timestampdiff(MONTH, t, timestamp '2024-03-01 12:00:00') = 1", "spark")
    assert [value_of(condition, {"t": end}, schema, semantics) for end in ends] == [False, True]
    assert outcome_of(condition, known, semantics) == "TF"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        "t - u > interval '1' month",
        "t - u > 5",
        "t - u > '1 day'",
        "abs(t - u) > interval '1' day",
        "t - s > interval '1' day",
        "i - 1 > interval '1' day",
        "i > interval '1' day",
        "t > interval '1' day",
        "timestampdiff() > 1",
        "timestampdiff(HOUR, t) > 1",
        "timestampdiff(HOUR, t, u, t) > 1",
        "timestampdiff(FORTNIGHT, t, u) > 1",
    ],
)
def test_nothing_else_is_compared_with_an_interval(engine: str, text: str) -> None:
    moment = stats(TIMESTAMP, micros("2024-01-01 06:00:00"), micros("2024-01-01 08:00:00"), nulls=0)
    known = {"t": moment, "u": moment, "i": stats(BIGINT, 1, 2, nulls=0), "s": stats(STRING, "2024", "2025", nulls=0)}
    assert outcome_of(parse(text, engine), known, Semantics.named(engine, "UTC")) == "TFN"  # type: ignore[arg-type]
