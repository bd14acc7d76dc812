"""Moments written as text and read back are decided like the moments, where engines read what they write."""

from __future__ import annotations

import pytest

from evaluator.language import expression as ex
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type
from tests.evaluator.short_forms import HIVE, SPARK, col, lit, outcome_of, reasons_of, stats

DAY = 86_400_000_000
D20200301 = 18_322
BERLIN = Semantics.named("spark", "Europe/Berlin")
SPRING = 18_350  # 2020-03-29: Berlin's clocks go from 02:00 to 03:00
AUTUMN = 18_560  # 2020-10-25: they go from 03:00 to 02:00
HOUR = 3_600_000_000


def text(name: str) -> ex.Cast:
    return ex.Cast(col(name), STRING)


@pytest.mark.parametrize(
    ("operand", "column_type"),
    [
        (ex.Call("to_timestamp", (text("x"),)), TIMESTAMP_LTZ),
        (ex.Call("to_timestamp", (text("x"),)), TIMESTAMP),
        (ex.Call("to_timestamp", (text("x"),)), DATE),
        (ex.Call("to_timestamp", (col("x"),)), DATE),
        (ex.Call("to_timestamp", (col("x"),)), TIMESTAMP_LTZ),
        (ex.Cast(text("x"), TIMESTAMP), TIMESTAMP_LTZ),
    ],
    ids=str,
)
def test_a_moment_read_from_its_own_text_is_that_moment(operand: ex.Operand, column_type: Type) -> None:
    unit = 1 if column_type is DATE else DAY
    day = {"x": stats(column_type, D20200301 * unit, (D20200301 + 1) * unit)}
    for op, days, expected in ((">", 2, "F"), (">", 0, "TF"), ("<", 2, "T"), (">=", 0, "T"), ("=", 5, "F")):
        leaf = ex.Compare(op, operand, lit((D20200301 + days) * DAY, TIMESTAMP))
        assert outcome_of(leaf, day) == expected, (op, days)


@pytest.mark.parametrize(
    "operand", [ex.Call("to_date", (text("x"),)), ex.Call("year", (ex.Call("to_date", (text("x"),)),))], ids=str
)
def test_the_day_of_a_moments_text_is_its_day(operand: ex.Call) -> None:
    literal = lit(D20200301 + 5, DATE) if operand.function == "to_date" else lit(2021, INT)
    leaf = ex.Compare(">=", operand, literal)
    assert outcome_of(leaf, {"x": stats(TIMESTAMP_LTZ, D20200301 * DAY, (D20200301 + 1) * DAY)}) == "F"


@pytest.mark.parametrize(
    ("operand", "column_type"),
    [
        (ex.Call("to_timestamp", (col("x"),)), STRING),
        (ex.Call("to_timestamp", (text("x"), lit("yyyy", STRING))), DATE),
    ],
    ids=str,
)
def test_what_text_may_spell_otherwise_is_unknown(operand: ex.Operand, column_type: Type) -> None:
    leaf = ex.Compare("=", operand, lit(D20200301 * DAY, TIMESTAMP))
    assert reasons_of(leaf, [("x", column_type)], HIVE)
    ends = ("2020-03-01", "2020-03-02") if column_type == STRING else (D20200301, D20200301 + 1)
    assert outcome_of(leaf, {"x": stats(column_type, *ends)}) == "TFN"  # of one value Spark's result is known


@pytest.mark.parametrize("hour", range(5))
@pytest.mark.parametrize("day", [SPRING, AUTUMN], ids=["clocks forward", "clocks back"])
def test_the_round_trip_keeps_rows_around_a_change_of_clocks(day: int, hour: int) -> None:
    instant = day * DAY + hour * HOUR
    wall = instant + (2 if (day, hour) >= (SPRING, 1) and (day, hour) < (AUTUMN, 1) else 1) * HOUR
    operand = ex.Call("to_timestamp", (text("x"),))
    for op in ("=", "<=", ">="):
        leaf = ex.Compare(op, operand, lit(wall, TIMESTAMP))
        assert "T" in outcome_of(leaf, {"x": stats(TIMESTAMP_LTZ, instant, instant)}, BERLIN)


@pytest.mark.parametrize(
    "operand", [ex.Call("to_timestamp", (col("x"),)), ex.Call("to_timestamp", (text("x"),))], ids=str
)
@pytest.mark.parametrize("op", ["=", ">"])
def test_an_hour_that_is_shown_again_counts_as_either(operand: ex.Operand, op: str) -> None:
    """02:10 for the second time is later than 02:10, which means the first, but its text says the same."""
    again = AUTUMN * DAY + HOUR + HOUR // 6
    leaf = ex.Compare(op, operand, lit(AUTUMN * DAY + 2 * HOUR + HOUR // 6, TIMESTAMP))
    assert "T" in outcome_of(leaf, {"x": stats(TIMESTAMP_LTZ, again, again)}, BERLIN)


@pytest.mark.parametrize(
    ("operand", "column_type", "literal"),
    [
        (ex.Cast(text("x"), DATE), TIMESTAMP_LTZ, lit(D20200301, DATE)),
        (ex.Cast(text("x"), TIMESTAMP), DATE, lit(D20200301 * DAY, TIMESTAMP)),
    ],
    ids=["a time as a date", "a date as a time"],
)
@pytest.mark.parametrize("engine", [SPARK, HIVE], ids=["spark", "hive"])
def test_what_old_hive_reads_as_null_may_be_the_day_or_null(
    operand: ex.Operand, column_type: Type, literal: ex.Literal, engine: Semantics
) -> None:
    value = D20200301 if column_type is DATE else D20200301 * DAY
    actual = outcome_of(ex.Compare("=", operand, literal), {"x": stats(column_type, value, value)}, engine)
    assert "T" in actual
    assert "N" in actual or engine is SPARK
