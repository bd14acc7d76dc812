"""C7: a date of a column that an operator moves is decided as the function of dates that it is."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP
from evaluator.reference.row_oracle import value_of
from handler.sql import parse
from tests.evaluator.short_forms import col, lit, outcome_of, reasons_of, stats
from tests.sampling import examples

EPOCH = datetime.date(1970, 1, 1)
SCHEMA = Schema([Field("d", DATE), Field("n", INT)])


def day(text: str) -> int:
    return (datetime.date.fromisoformat(text) - EPOCH).days


_SPANS = st.one_of(
    st.builds(TimeSpan, st.just("months"), st.integers(-30, 30)),
    st.builds(TimeSpan, st.just("days"), st.integers(-800, 800)),
    st.builds(TimeSpan, st.just("micros"), st.integers(-1_600, 1_600).map(lambda halves: halves * DAY // 2)),
).map(lambda span: lit(span, TIME_SPAN))
_COUNTS = st.integers(-800, 800).map(lambda count: lit(count, INT))
_DAYS = st.integers(day("1582-01-01"), day("2105-12-31"))
_TEXTS = _DAYS.map(lambda number: lit(str(EPOCH + datetime.timedelta(number)), STRING))
_MOVED = st.one_of(
    st.builds(lambda name, span: ex.Call(name, (col("d"), span)), st.sampled_from("+-"), _SPANS),
    st.builds(lambda name, count: ex.Call(name, (col("d"), count)), st.sampled_from("+-"), _COUNTS),
    st.builds(lambda count: ex.Call("+", (count, col("d"))), st.one_of(_COUNTS, _SPANS)),
    st.builds(lambda count: ex.Call("add_months", (col("d"), lit(count, INT))), st.integers(-30, 30)),
)
_ASKED = st.one_of(
    st.tuples(_MOVED, st.integers(-900, 900).map(lambda near: lit(near, DATE))),
    st.tuples(st.builds(lambda text: ex.Call("datediff", (col("d"), text)), _TEXTS), _COUNTS),
    st.tuples(st.builds(lambda text: ex.Call("datediff", (text, col("d"))), _TEXTS), _COUNTS),
)


@pytest.mark.parametrize("engine", ENGINES)
@given(asked=_ASKED, first=_DAYS, width=st.integers(0, 40), op=st.sampled_from(("<", "<=", "=", ">=", ">", "<=>")))
@settings(max_examples=examples(16, at_night=3_000), deadline=None)
def test_every_row_has_an_outcome_of_its_slice(
    engine: str, asked: tuple[ex.Operand, ex.Literal], first: int, width: int, op: str
) -> None:
    operand, given_bound = asked
    bound = lit(first + given_bound.value, DATE) if given_bound.type == DATE else given_bound
    condition = ex.Compare(op, operand, bound)
    semantics = Semantics.named(engine, "UTC")
    possible = outcome_of(condition, {"d": stats(DATE, first, first + width, nulls=0)}, semantics)
    nullable = {"d": stats(DATE, first, first + width, nulls=3)}
    for number in (None, *range(first, first + width + 1)):
        try:
            result = value_of(condition, {"d": number}, SCHEMA, semantics)
        except (UnsupportedError, OverflowError):  # the row has no form here
            continue
        expected = outcome_of(condition, nullable, semantics) if number is None else possible
        assert {True: "T", False: "F", None: "N"}[result] in expected, (number, result, expected)


@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "spark-legacy", "hive3", "hive4"])
@pytest.mark.parametrize(
    ("text", "least", "greatest", "expected"),
    [
        ("d + interval '30' day <= date '2000-08-23'", "2000-07-24", "2000-07-24", "T"),
        ("d + interval '30' day <= date '2000-08-23'", "2000-07-25", "2000-12-31", "F"),
        ("d - interval '2' week > '2000-08-23'", "2000-09-06", "2000-09-06", "F"),
        ("d - interval '2' week > '2000-08-23'", "2000-09-07", "2000-10-06", "T"),
        ("interval '1' month + d = date '2000-02-29'", "2000-01-29", "2000-01-29", "T"),
        ("interval '1' month + d = date '2000-02-29'", "2000-01-28", "2000-01-28", "F"),
        ("d + interval '1' year >= date '2001-03-01'", "2000-03-01", "2000-12-31", "T"),
        ("d + interval '1' year >= date '2001-03-01'", "1999-03-01", "2000-02-28", "F"),
        ("datediff(d, '2000-08-23') between 0 and 30", "2000-08-23", "2000-09-22", "T"),
        ("datediff(d, '2000-08-23') between 0 and 30", "2000-09-23", "2000-12-31", "F"),
        ("datediff('2000-08-23', d) > 5", "2000-08-01", "2000-08-17", "T"),
        ("datediff('2000-08-23', d) > 5", "2000-08-18", "2000-08-31", "F"),
        ("add_months(d, 12) < '2001-01-01'", "1999-01-01", "1999-12-31", "T"),
        ("add_months(d, 12) < '2001-01-01'", "2000-01-01", "2000-12-31", "F"),
    ],
)
def test_a_moved_date_is_decided_to_the_day(engine: str, text: str, least: str, greatest: str, expected: str) -> None:
    semantics = Semantics.named(engine, "UTC")
    condition = parse(text, engine)  # type: ignore[arg-type]
    assert outcome_of(condition, {"d": stats(DATE, day(least), day(greatest))}, semantics) == expected


@pytest.mark.parametrize("text", ["d + 30 <= date '2000-08-23'", "30 + d <= date '2000-08-23'"])
def test_spark_adds_days_to_a_date_and_hive_does_not(text: str) -> None:
    for engine, expected in (("spark", "F"), ("spark-ansi", "F"), ("hive4", "TFN"), ("hive3", "TFN")):
        known = {"d": stats(DATE, day("2000-07-25"), day("2000-08-01"))}
        semantics = Semantics.named(engine, "UTC")
        assert outcome_of(parse(text, engine), known, semantics) == expected  # type: ignore[arg-type]


def test_spark_adds_a_column_of_days() -> None:
    known = {"d": stats(DATE, day("2000-01-01"), day("2000-01-31")), "n": stats(INT, 5, 9)}
    for text, expected in (("d + n > date '2000-01-05'", "T"), ("d - n >= date '2000-01-27'", "F")):
        assert outcome_of(parse(text, "spark"), known) == expected


@pytest.mark.parametrize(
    ("operand", "reason"),
    [
        (
            ex.Call("+", (col("d"), lit(TimeSpan("micros", 3_600_000_000), TIME_SPAN))),
            "an interval is not decided here",
        ),
        (ex.Call("-", (lit(3, INT), col("d"))), "arithmetic on int, date is not decided"),
        (ex.Call("+", (col("d"), lit(3, BIGINT))), "arithmetic on date, bigint is not decided"),
        (ex.Call("-", (lit(TimeSpan("days", 3), TIME_SPAN), col("d"))), "an interval is not decided here"),
        (ex.Call("-", (lit(TimeSpan("days", 3), TIME_SPAN), col("t"))), "an interval is not decided here"),
    ],
)
def test_what_no_rule_covers_stays_open(operand: ex.Operand, reason: str) -> None:
    condition = ex.Compare("<", operand, lit(0, DATE))
    assert reasons_of(condition, [("d", DATE), ("t", TIMESTAMP)]) == [reason]


def test_hive_2_moves_a_date_as_an_instant_of_its_zone() -> None:
    """``hive`` stands for Hive 2 as well: outside UTC its months may end a day off."""
    known = {"d": stats(DATE, day("2000-01-01"), day("2000-01-31"))}
    text = "d + interval '1' month > date '2001-01-05'"
    assert outcome_of(parse(text, "hive"), known, Semantics.named("hive", "UTC")) == "F"
    assert outcome_of(parse(text, "hive"), known, Semantics.named("hive", "Europe/Berlin")) == "TFN"


def test_hive_sends_days_as_microseconds() -> None:
    """Its one type of days and hours. Hours beside them, and Spark's microseconds, stay open."""
    known = {"d": stats(DATE, 11_000, 11_010)}
    for engine, micros, expected in (
        ("hive4", 30 * DAY, "F"),
        ("hive3", 30 * DAY, "F"),
        ("hive4", 30 * DAY + 1, "TFN"),
        ("spark", 30 * DAY, "TFN"),
    ):
        moved = ex.Call("+", (col("d"), lit(TimeSpan("micros", micros), TIME_SPAN)))
        semantics = Semantics.named(engine, "Europe/Berlin")
        assert outcome_of(ex.Compare("<", moved, lit(11_030, DATE)), known, semantics) == expected


def test_a_null_date_stays_null() -> None:
    known = {"d": stats(DATE, None, None, nulls=10)}
    assert outcome_of(parse("d + interval '1' day < date '2000-01-01'", "spark"), known) == "N"
