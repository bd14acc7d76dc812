"""The pitfalls of data skipping, each by the number of its report: the whole table, then some of them in depth.

Pitfalls P1 to P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.outcome import describe
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    Kind,
    Type,
    decimal_type,
)
from evaluator.statistics.columns import from_values
from handler.sql.parsing import parse
from tests.evaluator.pitfalls import PITFALLS, Pitfall
from tests.evaluator.short_forms import HIVE, NULL, SPARK, col, letters, lit, outcome_of, reasons_of, stats

DAY = 86_400_000_000
D20200102 = 18_263


@pytest.mark.parametrize("row", PITFALLS, ids=lambda row: f"{row.number} {row.what}")
def test_a_pitfall_is_avoided(row: Pitfall) -> None:
    expression = (
        parse(row.filter, "hive" if row.engine.engine == "hive" else "spark")
        if isinstance(row.filter, str)
        else row.filter
    )
    bound = bind(expression, Schema([Field(name, known.type) for name, known in row.statistics.items()]), row.engine)
    keys = (lambda _lookup, _candidates: np.array([False])) if row.no_key else None
    actual = evaluate(bound, 1, [StatisticsProvider("statistics", row.statistics, keys)]).outcomes.tolist()
    assert letters(actual[0]) == row.outcome
    if not row.no_key:
        assert outcome_of(expression, row.statistics, row.engine) == row.outcome


def test_every_pitfall_is_in_the_table() -> None:
    assert list(dict.fromkeys(row.number for row in PITFALLS)) == [f"P{number}" for number in range(1, 21)]
    assert len({(row.number, row.what) for row in PITFALLS}) == len(PITFALLS)


# P3: NaN in bounds and literals (iceberg#1761, iceberg#2069)
@pytest.mark.parametrize("bounds", [(math.nan, 5.0), (1.0, math.nan), (math.nan, math.nan)], ids=str)
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
def test_p3_a_nan_bound_makes_both_bounds_unknown(bounds: tuple[float, float], op: str) -> None:
    assert outcome_of(ex.Compare(op, col("d"), lit(100.0, DOUBLE)), {"d": stats(DOUBLE, *bounds)}) == "TF"


def test_p3_one_missing_bound_of_a_double_may_hide_nan() -> None:
    assert outcome_of(ex.Compare(">", col("d"), lit(100.0, DOUBLE)), {"d": stats(DOUBLE, None, 5.0)}) == "TF"


def test_p3_a_nan_literal_is_decided_only_where_bounds_rule_nan_out() -> None:
    less = ex.Compare("<", col("d"), lit(math.nan, DOUBLE))
    assert outcome_of(less, {"d": stats(DOUBLE, 1.0, 5.0)}) == "T"
    assert outcome_of(less, {"d": stats(DOUBLE, 1.0, 5.0)}, HIVE) == "TF"
    for lo, hi in ((None, None), (1.0, None), (None, 5.0), (1.0, math.nan)):
        assert outcome_of(less, {"d": stats(DOUBLE, lo, hi)}) == "TF"
    members = (lit(1.0, DOUBLE), lit(math.nan, DOUBLE))
    assert outcome_of(ex.Not(ex.In(col("d"), members)), {"d": stats(DOUBLE, 1.0, 1.0)}) == "F"
    assert outcome_of(ex.Not(ex.In(col("d"), members)), {"d": stats(DOUBLE, 1.0, None)}) == "TF"


# P4: != prunes only a single value (datafusion#560)
def test_p4_not_equal_prunes_only_a_slice_of_that_single_value() -> None:
    leaf = ex.Compare("!=", col("x"), lit(5, INT))
    assert outcome_of(leaf, {"x": stats(INT, 5, 5)}) == "F"
    assert outcome_of(leaf, {"x": stats(INT, 4, 6)}) == "TF"


# P5: LIKE is a prefix, not an equality (hudi#18791, datafusion#12978)
@pytest.mark.parametrize(
    ("pattern", "outcome"),
    [
        ("apple%", "T"),
        ("apple", "F"),
        ("apple\\%", "F"),
        ("appl_%", "TF"),
        ("%e", "TF"),
        ("b%", "F"),
        ("a_b%", "TF"),
        ("", "F"),
        ("%", "T"),
        ("apple-0%", "TF"),
        ("apple\\_%", "F"),
    ],
)
def test_p5_like_keeps_the_files_that_hold_the_prefix(pattern: str, outcome: str) -> None:
    assert outcome_of(ex.Like(col("s"), pattern), {"s": stats(STRING, "apple-000", "apple-999")}) == outcome


def test_p5_a_dangling_escape_is_unknown_not_an_error() -> None:
    reasons = reasons_of(ex.Like(col("s"), "a\\"), [("s", STRING)])
    assert reasons == ["a LIKE pattern with a dangling escape is not decided"]


# P6: IS NULL with an unknown null count keeps (hudi#19645)
def test_p6_is_null_and_null_safe_equality_keep_a_slice_without_null_count() -> None:
    statistics = {"x": stats(INT, 1, 3, nulls=None)}
    assert "T" in outcome_of(ex.IsNull(col("x")), statistics)
    assert "T" in outcome_of(ex.Compare("<=>", col("x"), NULL), statistics)


# P7: a column without statistics is unknown, its sibling still prunes (hudi#9397, hudi#10389)
def test_p7_a_column_without_statistics_neither_prunes_nor_hinders() -> None:
    schema = Schema([Field("x", INT), Field("y", INT)])
    x, y = ex.Compare("=", col("x"), lit(9, INT)), ex.Compare("=", col("y"), lit(9, INT))
    statistics = {"x": stats(INT, 1, 3)}
    assert outcome_of(y, statistics, schema=schema) == "TFN"
    assert outcome_of(ex.And((x, y)), statistics, schema=schema) == "F"
    assert outcome_of(ex.Or((x, y)), statistics, schema=schema) == "TFN"


# P8: IS NOT NULL prunes only all-null slices (datafusion#9230)
def test_p8_is_not_null_keeps_a_slice_with_some_nulls() -> None:
    leaf = ex.Not(ex.IsNull(col("x")))
    assert "T" in outcome_of(leaf, {"x": stats(INT, 1, 3, nulls=9)})
    assert outcome_of(leaf, {"x": stats(INT, None, None, nulls=10)}) == "F"


# P9: functions that break the order (hudi#19445, hudi#19474)
@pytest.mark.parametrize(
    ("leaf", "statistics"),
    [
        (ex.Compare(">", ex.Call("*", (col("x"), lit(-1, INT))), lit(250, INT)), stats(INT, -300, 100)),
        (ex.Compare("=", ex.Cast(col("x"), TINYINT), lit(4, TINYINT)), stats(INT, 0, 260)),
        (ex.Compare(">", ex.Call("+", (col("x"), lit(2_147_483_000, INT))), lit(0, INT)), stats(INT, 1, 5_000)),
        (ex.Compare(">", ex.Call("/", (col("x"), lit(-10, INT))), lit(25, INT)), stats(INT, -300, 100)),
    ],
    ids=["times -1", "narrowing cast", "overflow", "divided by -10"],
)
def test_p9_a_function_that_breaks_the_order_keeps_the_file(leaf: ex.HudiExpression, statistics: object) -> None:
    assert "T" in outcome_of(leaf, {"x": statistics})  # type: ignore[dict-item]


def test_p9_lower_is_not_monotone() -> None:
    leaf = ex.Compare(">", ex.Call("lower", (col("s"),)), lit("d", STRING))
    assert "T" in outcome_of(leaf, {"s": stats(STRING, "ZEBRA", "cherry")})


@pytest.mark.parametrize(("pattern", "text"), [("MM/dd/yyyy", "01/01/2021"), ("dd", "02"), ("HH", "01")])
def test_p9_date_format_does_not_keep_the_order_of_time(pattern: str, text: str) -> None:
    leaf = ex.Compare("<", ex.Call("date_format", (col("dt"), lit(pattern, STRING))), lit(text, STRING))
    assert "T" in outcome_of(leaf, {"dt": stats(DATE, D20200102 - 40, D20200102 + 40)})


def test_p9_datediff_with_the_column_as_second_argument_falls() -> None:
    leaf = ex.Compare("<", ex.Call("datediff", (lit(D20200102, DATE), col("dt"))), lit(-600, INT))
    assert "T" in outcome_of(leaf, {"dt": stats(DATE, D20200102, D20200102 + 700)})
    assert outcome_of(leaf, {"dt": stats(DATE, D20200102, D20200102 + 500)}) == "F"


@pytest.mark.parametrize(("declared", "known"), [(None, True), (DOUBLE, True), (decimal_type(20, 6), False)], ids=str)
def test_p9_a_function_that_the_engine_computes_in_another_type_is_unknown(declared: Type | None, known: bool) -> None:
    leaf = ex.Compare(">", ex.Call("/", (col("x"), lit(2, INT)), declared), lit(9.0, DOUBLE))
    assert (outcome_of(leaf, {"x": stats(INT, 1, 3)}) == "F") is known


@pytest.mark.parametrize("text", ["true", "TRUE"])
def test_p9_a_boolean_as_text_is_written_in_either_case(text: str) -> None:
    leaf = ex.Compare("=", ex.Cast(col("b"), STRING), lit(text, STRING))
    assert "T" in outcome_of(leaf, {"b": stats(BOOLEAN, True, True)})
    assert outcome_of(leaf, {"b": stats(BOOLEAN, False, False)}) == ("F" if text == "true" else "TF")


# P10: a literal is converted exactly or not at all (ClickHouse#118392, StarRocks#73511)
@pytest.mark.parametrize(
    ("op", "value", "bounds", "outcome"),
    [
        ("<", Decimal("5.5"), (5, 5), "T"),
        ("<", Decimal("5.5"), (6, 6), "F"),
        (">", Decimal("5.5"), (5, 5), "F"),
        (">", Decimal("5.5"), (6, 6), "T"),
        ("=", Decimal("5.5"), (5, 6), "F"),
        ("!=", Decimal("5.5"), (5, 5), "T"),
        ("<=>", Decimal("5.5"), (5, 6), "F"),
        ("<", Decimal("-5.5"), (-5, -5), "F"),
        ("<=", Decimal("-5.5"), (-6, -6), "T"),
        ("<", Decimal(300), (-128, 127), "T"),
        (">", Decimal(300), (-128, 127), "F"),
        ("=", Decimal(300), (44, 44), "F"),
        ("<", Decimal(10) ** 30, (1, 9), "T"),
        (">", -(Decimal(10) ** 30), (1, 9), "T"),
    ],
)
def test_p10_a_decimal_constant_on_an_integer_column(
    op: str, value: Decimal, bounds: tuple[int, int], outcome: str
) -> None:
    leaf = ex.Compare(op, col("x"), lit(value, decimal_type(38, 1)))
    assert outcome_of(leaf, {"x": stats(BIGINT, *bounds)}) == outcome
    cast = ex.Compare(op, ex.Cast(col("x"), decimal_type(38, 1)), lit(value, decimal_type(38, 1)))
    assert outcome_of(cast, {"x": stats(BIGINT, *bounds)}) == outcome


def test_p10_not_in_drops_only_members_that_no_integer_equals() -> None:
    leaf = ex.Not(ex.In(col("x"), (lit(Decimal("1.5"), decimal_type(2, 1)), lit(Decimal("2.0"), decimal_type(2, 1)))))
    assert outcome_of(leaf, {"x": stats(INT, 1, 1)}) == "T"
    assert outcome_of(leaf, {"x": stats(INT, 2, 2)}) == "F"


def test_p10_a_bigint_beyond_2_53_compared_with_a_double_is_rounded_by_the_engine() -> None:
    leaf = ex.Compare("=", col("x"), lit(float(2**53), DOUBLE))
    assert "T" in outcome_of(leaf, {"x": stats(BIGINT, 2**53 + 1, 2**53 + 1)})
    assert outcome_of(leaf, {"x": stats(BIGINT, 2**53 + 9, 2**53 + 9)}) == "F"
    smaller = ex.Compare("=", col("x"), lit(float(2**40), DOUBLE))
    assert outcome_of(smaller, {"x": stats(BIGINT, 2**40 + 1, 2**40 + 1)}) == "F"


def test_p10_a_date_against_a_timestamp_within_the_day() -> None:
    noon = lit(D20200102 * DAY + DAY // 2, TIMESTAMP)
    day = {"dt": stats(DATE, D20200102, D20200102)}
    assert outcome_of(ex.Compare("<", col("dt"), noon), day) == "T"
    assert outcome_of(ex.Compare("=", col("dt"), noon), day) == "F"
    assert "T" in outcome_of(ex.Compare("=", col("dt"), noon), day, HIVE)


# P11: a string column against a number (StarRocks#73511)
def test_p11_text_against_a_number_is_read_as_a_number_or_unknown() -> None:
    assert outcome_of(ex.Compare(">", col("s"), lit(10, INT)), {"s": stats(STRING, "9", "9")}) == "F"
    assert outcome_of(ex.Compare(">", col("s"), lit(10, INT)), {"s": stats(STRING, "9", "90")}) == "TFN"
    assert outcome_of(ex.Compare("=", col("x"), lit("5.5", STRING)), {"x": stats(INT, 5, 5)}) == "TFN"
    assert outcome_of(ex.Compare("=", col("x"), lit("6", STRING)), {"x": stats(INT, 5, 5)}) == "F"


@pytest.mark.parametrize(
    ("column", "members"),
    [
        (BIGINT, [("1.0", STRING)]),
        (DOUBLE, [("12.50", STRING)]),
        (BIGINT, [(197, INT), ("64.0", STRING)]),
        (decimal_type(5, 2), [("1.5", STRING)]),
        (DATE, [("2020-09-07", STRING), (0, TIMESTAMP)]),
    ],
    ids=str,
)
def test_p11_a_list_with_text_may_be_compared_as_text(column: Type, members: list[tuple[object, Type]]) -> None:
    leaf = ex.In(col("x"), tuple(lit(*m) for m in members))
    assert reasons_of(leaf, [("x", column)])


def test_p11_a_list_with_text_is_decided_where_a_value_has_one_text() -> None:
    assert outcome_of(ex.In(col("x"), (lit("7", STRING), lit(9, INT))), {"x": stats(INT, 1, 3)}) == "F"
    assert outcome_of(ex.In(col("x"), (lit("2020-01-02", STRING),)), {"x": stats(DATE, D20200102, D20200102)}) == "T"


@pytest.mark.parametrize(("op", "outcome"), [("<", "T"), ("<=", "T"), (">", "F"), (">=", "F"), ("=", "F"), ("!=", "T")])
def test_p10_beyond_the_type_nulls_may_come_out_as_values_do(op: str, outcome: str) -> None:
    leaf = ex.Compare(op, col("x"), lit(Decimal(10) ** 20, decimal_type(21, 0)))
    assert outcome_of(leaf, {"x": stats(BIGINT, 1, 3)}) == outcome
    assert outcome_of(leaf, {"x": stats(BIGINT, None, None, nulls=10)}) == f"{outcome}N"


@pytest.mark.parametrize("function", ["sqrt", "exp", "ln"])
def test_a_double_function_over_a_float_is_decided(function: str) -> None:
    leaf = ex.Compare(">", ex.Call(function, (col("f"),)), lit(1e6, DOUBLE))
    assert outcome_of(leaf, {"f": stats(FLOAT, 1.0, 2.0)}) == "F"


@pytest.mark.parametrize("call", [ex.Call("sqrt", ()), ex.Call("date_add", (col("dt"),)), ex.Call("left", (col("s"),))])
def test_a_wrong_number_of_arguments_is_unknown_not_an_error(call: ex.Call) -> None:
    leaf = ex.Compare("=", call, lit(1, INT))
    assert "T" in outcome_of(leaf, {"dt": stats(DATE, 1, 2), "s": stats(STRING, "a", "b")})


# P12: decimals of different scale and width (trino#26203)
def test_p12_decimals_are_compared_at_a_common_scale() -> None:
    statistics = {"a": stats(decimal_type(10, 2), Decimal("1.10"), Decimal("1.20"))}
    assert outcome_of(ex.Compare("=", col("a"), lit(Decimal("1.1"), decimal_type(2, 1))), statistics) == "TF"
    assert outcome_of(ex.Compare(">", col("a"), lit(Decimal("1.205"), decimal_type(4, 3))), statistics) == "F"
    assert outcome_of(ex.Compare("<", col("a"), lit(Decimal("1.205"), decimal_type(4, 3))), statistics) == "T"
    wide = {**statistics, "b": stats(decimal_type(30, 10), Decimal(10) ** 19, Decimal(10) ** 19)}
    assert outcome_of(ex.Compare("<", col("a"), col("b")), wide) == "T"


@pytest.mark.parametrize(
    ("column_type", "outcome"), [(decimal_type(38, 6), "F"), (decimal_type(38, 10), "TFN")], ids=str
)
def test_p12_a_sum_of_more_than_38_digits_is_decided_while_its_scale_is_kept(column_type: Type, outcome: str) -> None:
    leaf = ex.Compare("<=", ex.Call("+", (col("x"), lit(1, INT))), lit(Decimal(9), decimal_type(38, 6)))
    assert outcome_of(leaf, {"x": stats(column_type, Decimal(10), Decimal(20))}) == outcome


# P13, P14: fractions of a microsecond and zones (delta#6080, trino#31050)
def test_p13_a_constant_finer_than_a_microsecond_lies_between_two_values() -> None:
    finer = lit(Fraction(2_000_000_001, 2), TIMESTAMP)  # ....000000.5 microseconds
    assert outcome_of(ex.Compare(">", col("t"), finer), {"t": stats(TIMESTAMP, 0, 1_000_000_001)}) == "TF"
    assert outcome_of(ex.Compare(">", col("t"), finer), {"t": stats(TIMESTAMP, 0, 1_000_000_000)}) == "F"


@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("Asia/Tokyo", -9), ("America/Los_Angeles", 8)])
def test_p14_a_wall_clock_is_an_instant_of_the_session_zone(zone: str, hours: int) -> None:
    midnight = D20200102 * DAY
    instant = midnight + hours * 3_600_000_000
    leaf = ex.Compare("=", col("t"), lit(midnight, TIMESTAMP))
    spark, hive = Semantics.named("spark", zone), Semantics.named("hive", zone)
    assert outcome_of(leaf, {"t": stats(TIMESTAMP_LTZ, instant, instant)}, spark) == "T"
    assert outcome_of(leaf, {"t": stats(TIMESTAMP_LTZ, instant + 1, instant + 1)}, spark) == "F"
    assert "T" in outcome_of(leaf, {"t": stats(TIMESTAMP_LTZ, midnight, midnight)}, hive)


def test_p14_an_hour_that_is_shown_twice_is_both_instants() -> None:
    berlin = Semantics.named("spark", "Europe/Berlin")
    half_past_two = lit((18_560 * 24 + 2) * 3_600_000_000 + 1_800_000_000, TIMESTAMP)  # 2020-10-25, clocks go back at 3
    for hours_of_utc in (0, 1):
        instant = (18_560 * 24 + hours_of_utc) * 3_600_000_000 + 1_800_000_000
        leaf = ex.Compare("=", col("t"), half_past_two)
        assert "T" in outcome_of(leaf, {"t": stats(TIMESTAMP_LTZ, instant, instant)}, berlin)


BERLIN = Semantics.named("spark", "Europe/Berlin")
SAO_PAULO = Semantics.named("spark", "America/Sao_Paulo")
SPRING = 18_350 * DAY  # 2020-03-29: Berlin's clocks go from 02:00 to 03:00
NO_MIDNIGHT = 17_839  # 2018-11-04: Sao Paulo's clocks go from 00:00 to 01:00
HOUR = 3_600_000_000


def test_p14_a_constant_in_a_gap_is_shown_later() -> None:
    half_past_two = lit(SPRING + 5 * HOUR // 2, TIMESTAMP)  # means 03:30
    leaf = ex.Compare("<", ex.Call("date_trunc", (lit("HOUR", STRING), col("t"))), half_past_two)
    three = SPRING + 1 * HOUR  # 03:00 in Berlin is 01:00 UTC
    assert "T" in outcome_of(leaf, {"t": stats(TIMESTAMP_LTZ, three, three)}, BERLIN)


@pytest.mark.parametrize("wall", [0, HOUR], ids=["00:00", "01:00"])
def test_p14_a_midnight_that_does_not_exist_is_one_oclock(wall: int) -> None:
    moment = lit(NO_MIDNIGHT * DAY + wall, TIMESTAMP)
    day = {"dt": stats(DATE, NO_MIDNIGHT, NO_MIDNIGHT)}
    assert "T" in outcome_of(ex.Compare("=", col("dt"), moment), day, SAO_PAULO)
    assert "T" in outcome_of(ex.Compare("=", ex.Cast(col("dt"), TIMESTAMP), moment), day, SAO_PAULO)
    start = ex.Call("date_trunc", (lit("DAY", STRING), col("t")))
    noon = (NO_MIDNIGHT * 24 + 14) * HOUR
    assert "T" in outcome_of(ex.Compare("=", start, moment), {"t": stats(TIMESTAMP_LTZ, noon, noon)}, SAO_PAULO)


@pytest.mark.parametrize(("op", "text"), [(">", "2020-01-02"), ("!=", "2020-01-02"), ("<", "2020-01-02 00:00:00.00")])
def test_p14_old_hive_may_compare_a_timestamp_with_text_as_text(op: str, text: str) -> None:
    midnight = {"t": stats(TIMESTAMP, D20200102 * DAY, D20200102 * DAY)}
    leaf = ex.Compare(op, col("t"), lit(text, STRING))
    assert "T" in outcome_of(leaf, midnight, HIVE)
    assert outcome_of(leaf, midnight, SPARK) == "F"


# P15: CHAR padding (trino#30187, HIVE-17593)
@pytest.mark.parametrize("stored", ["ab", "ab   "], ids=["trimmed", "padded"])
@pytest.mark.parametrize("written", ["ab", "ab   "], ids=["trimmed", "padded"])
def test_p15_char_matches_padded_or_not(stored: str, written: str) -> None:
    char = Type(Kind.CHAR, 5)
    leaf = ex.Compare("=", col("c", char), lit(written, char))
    assert "T" in outcome_of(leaf, {"c": stats(STRING, stored, stored)}, HIVE)
    assert outcome_of(leaf, {"c": stats(STRING, "b", "c")}, HIVE) == "F"
    cast = ex.Compare("<=", ex.Cast(col("c", char), STRING), lit(written, STRING))
    assert "T" in outcome_of(cast, {"c": stats(STRING, stored, stored)}, HIVE)


def test_p15_characters_below_the_space_are_unknown() -> None:
    char = Type(Kind.CHAR, 5)
    leaf = ex.Compare("<", col("c", char), lit("a\x01", char))
    assert outcome_of(leaf, {"c": stats(STRING, "b", "c")}, HIVE) == "TFN"


# P16: -0.0 and 0.0
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("stored", [0.0, -0.0])
def test_p16_both_zeros_are_equal_and_hive_may_order_them(zero: float, stored: float) -> None:
    statistics = {"d": stats(DOUBLE, stored, stored)}
    assert outcome_of(ex.Compare("=", col("d"), lit(zero, DOUBLE)), statistics, SPARK) == "T"
    assert "T" in outcome_of(ex.Compare("=", col("d"), lit(zero, DOUBLE)), statistics, HIVE)
    assert "T" in outcome_of(ex.Compare("<", col("d"), lit(zero, DOUBLE)), statistics, HIVE)


# P17: text and binary are ordered by unsigned bytes (parquet-format#314)
def test_p17_text_is_ordered_like_its_utf8_bytes() -> None:
    statistics = {"s": stats(STRING, "z", "\uffff")}
    assert outcome_of(ex.Compare("<", col("s"), lit("\U0001f600", STRING)), statistics) == "T"
    assert outcome_of(ex.Compare(">", col("b"), lit(b"\x7f", BINARY)), {"b": stats(BINARY, b"\x80", b"\xff")}) == "T"


def test_text_that_ends_in_nul_is_not_cut() -> None:
    assert outcome_of(ex.Compare("=", col("s"), lit("a\0", STRING)), {"s": stats(STRING, "a", "a")}) == "F"
    assert outcome_of(ex.In(col("s"), (lit("a\0", STRING),)), {"s": stats(STRING, "a", "a")}) == "F"


# P18: fully matched needs nulls known to be 0 (iceberg#3578)
def test_p18_a_slice_is_fully_matched_only_without_nulls() -> None:
    leaf = ex.Compare(">", col("x"), lit(0, INT))
    assert outcome_of(leaf, {"x": stats(INT, 1, 3, nulls=0)}) == "T"
    assert outcome_of(leaf, {"x": stats(INT, 1, 3, nulls=None)}) == "TN"
    assert outcome_of(ex.Not(ex.In(col("x"), (lit(9, INT), NULL))), {"x": stats(INT, 1, 3)}) == "N"


# P19: types that changed, nested parents
@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        (INT, STRING),
        (STRING, INT),
        (TINYINT, BIGINT),
        (decimal_type(10, 1), decimal_type(10, 2)),
        (FLOAT, DOUBLE),
        (BOOLEAN, INT),
        (DATE, TIMESTAMP),
    ],
    ids=str,
)
def test_p19_a_column_whose_type_the_reader_changes_is_unknown(declared: Type, stored: Type) -> None:
    leaf = ex.IsNull(col("x", declared))
    assert len(reasons_of(leaf, [("x", stored)])) == 1


def test_p19_a_field_of_a_struct_may_be_null_because_the_struct_is() -> None:
    statistics = {"st.x": stats(INT, 1, 3, nulls=0)}
    assert outcome_of(ex.IsNull(col("st.x")), statistics) == "TF"
    assert outcome_of(ex.Compare("=", col("st.x"), lit(9, INT)), statistics) == "FN"


# P20: names without case, and ambiguous names
def test_p20_names_resolve_without_case_and_ambiguous_ones_are_unknown() -> None:
    leaf = ex.Compare("=", col("USERID"), lit(9, INT))
    assert outcome_of(leaf, {"userId": stats(INT, 1, 3)}) == "F"
    assert reasons_of(leaf, [("userId", INT), ("userid", INT)])


def test_sources_are_intersected_leaf_by_leaf() -> None:
    bound = bind(ex.Compare("=", col("x"), lit(5, INT)), Schema([Field("x", INT)]), SPARK)
    first = StatisticsProvider("column_stats", {"x": from_values(INT, [1, 1, 1], [9, 9, 2], [0] * 3, [10] * 3)})
    second = StatisticsProvider(
        "record_index", {}, lambda lookup, _candidates: np.array([lookup.values == (5,), False, True])
    )
    actual = evaluate(bound, 3, [first, second])
    assert actual.keep.tolist() == [True, False, False]
    assert set(actual.leaves[0].by_provider) == {"column_stats", "record_index"}


def test_a_provider_that_knows_nothing_hides_no_statistics_of_the_same_name() -> None:
    bound = bind(ex.Compare("=", col("x"), lit(5, INT)), Schema([Field("x", INT)]), SPARK)
    known = StatisticsProvider("column_stats", {"x": from_values(INT, [1, 1, 1], [9, 9, 2], [0] * 3, [10] * 3)})
    actual = evaluate(bound, 3, [known, StatisticsProvider("column_stats", {})])
    assert actual.keep.tolist() == [True, True, False]
    assert [describe(outcome) for outcome in actual.outcomes.tolist()] == ["{true, false}", "{true, false}", "{false}"]
    assert list(actual.leaves[0].by_provider) == ["column_stats"]


# NUL is a character and a byte like any other: numpy drops it at the end of its own fixed-width text
@pytest.mark.parametrize(
    ("column_type", "value", "less"), [(STRING, "a\0", "a"), (BINARY, b"a\0", b"a")], ids=["text", "bytes"]
)
def test_a_nul_at_the_end_of_a_member_or_a_constant_counts(column_type: Type, value: object, less: object) -> None:
    statistics = from_values(column_type, [value, value, None], [value, None, value], [0, 0, 0], [1, 2, 2])
    bound = bind(ex.In(col("x"), (lit(value, column_type),)), Schema([Field("x", column_type)]), SPARK)
    assert evaluate(bound, 3, [StatisticsProvider("column_stats", {"x": statistics})]).keep.tolist() == [True] * 3
    assert evaluate(bound, 3, [StatisticsProvider("column_stats", {})]).keep.tolist() == [True] * 3
    assert (
        outcome_of(ex.Compare("=", col("x"), lit(value, column_type)), {"x": stats(column_type, value, value)}) == "T"
    )
    assert (
        outcome_of(ex.Compare("<=", col("x"), lit(less, column_type)), {"x": stats(column_type, value, value)}) == "F"
    )
    assert outcome_of(ex.In(col("x"), (lit(less, column_type),)), {"x": stats(column_type, value, value)}) == "F"


# P15: padding does not count between constants either
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=>"])
def test_p15_char_constants_are_not_compared_as_text(op: str) -> None:
    char = Type(Kind.CHAR, 5)
    assert outcome_of(ex.Compare(op, lit("a    ", char), lit("a", char)), {"x": stats(INT, 1, 3)}) == "TFN"
    assert outcome_of(ex.Compare("<=>", lit(None, char), lit("a", char)), {"x": stats(INT, 1, 3)}) == "F"
