"""The pitfalls of data skipping that a translation of Spark's conditions can fall into, each with a slice of its own.

The numbers are those of tests/evaluator/evaluation/test_pitfalls.py. "keep": some rows of the slice may match; "skip":
none can; "all": every row does. The session's zone is America/New_York.

Pitfalls P1 to P20 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from pyspark.sql import functions as F  # noqa: N812

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.outcome import TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.statistics.columns import from_values
from handler.catalyst.literals import type_of
from handler.catalyst.translation import condition_of
from handler.catalyst.tree import missing_parts
from handler.spark.catalyst.analysis import exact_parts
from handler.spark.catalyst.conditions import engine_of, time_zone_of, to_expression

DAY = 86_400_000_000
COLUMNS = (
    "ti tinyint, i int, l bigint, f float, d double, dec decimal(10,2), wide decimal(38,0), s string, "
    "bin binary, b boolean, dt date, t timestamp, tn timestamp_ntz, st struct<x:int>"
)
#: (pitfall, condition, column, lo, hi, nulls of 4 rows, expected)
CASES = [
    ("P3 nothing is above NaN", "d > double('NaN')", "d", 1.0, 2.0, 0, "skip"),
    ("P3 NOT IN with NaN", "d NOT IN (double('NaN'), 1.5)", "d", 1.5, 1.5, 0, "keep"),
    ("P3 a column that may hold NaN", "d > 5", "d", None, None, 0, "keep"),
    ("P4 != inside the range", "i != 5", "i", 4, 6, 0, "keep"),
    ("P4 != of one value", "i != 5", "i", 5, 5, 0, "skip"),
    ("P4 NOT of =", "NOT (i = 5)", "i", 5, 5, 0, "skip"),
    ("P5 LIKE 'p%' is no equality", "s LIKE 'ap%'", "s", "apple", "apricot", 0, "all"),
    ("P5 _ ends the prefix", "s LIKE 'a_z'", "s", "aaz", "abz", 0, "keep"),
    ("P5 an escaped wildcard", "s LIKE 'a\\\\%'", "s", "a%", "a%", 0, "all"),
    ("P5 another escape character", "s LIKE 'a/%' ESCAPE '/'", "s", "ab", "ac", 0, "skip"),
    ("P5 startswith takes % as it is", "startswith(s, '50%')", "s", "500", "509", 0, "skip"),
    ("P6 <=> NULL", "i <=> NULL", "i", 1, 2, 0, "skip"),
    ("P6 <=> NULL of a column with NULLs", "i <=> NULL", "i", 1, 2, 1, "keep"),
    ("P6 IS NULL where nulls are not counted", "i IS NULL", "i", 1, 2, None, "keep"),
    ("P7 a part that is not understood", "i = 5 OR hash(i) = 3", "i", 6, 7, 0, "keep"),
    ("P7 NOT of what is not understood", "NOT (hash(i) = 3)", "i", 6, 7, 0, "keep"),
    ("P7 beside what is not understood", "i = 5 AND hash(i) = 3", "i", 6, 7, 0, "skip"),
    ("P8 IS NOT NULL with some NULLs", "i IS NOT NULL", "i", 1, 2, 3, "keep"),
    ("P8 IS NOT NULL of NULLs", "i IS NOT NULL", "i", None, None, 4, "skip"),
    ("P9 a narrowing cast", "TRY_CAST(i AS TINYINT) = 4", "i", 250, 270, 0, "keep"),
    ("P9 times -1", "i * -1 > 250", "i", -300, 5, 0, "keep"),
    ("P9 times -1, no match", "i * -1 > 250", "i", 5, 300, 0, "skip"),
    (
        "P9 a date's text in another order",
        "date_format(dt, 'dd-MM-yyyy') < '05-01-2020'",
        "dt",
        18_260,
        18_300,
        0,
        "keep",
    ),
    ("P9 minus a column", "datediff(DATE'2020-01-01', dt) < -600", "dt", 18_262, 19_000, 0, "keep"),
    ("P10 beyond a tinyint", "ti < 300", "ti", 1, 100, 0, "all"),
    ("P10 beyond a tinyint", "ti = 300", "ti", 1, 100, 0, "skip"),
    ("P10 between two integers", "i < 5.5", "i", 5, 5, 0, "all"),
    ("P10 between two integers", "i > 5.5", "i", 5, 5, 0, "skip"),
    ("P10 a date and a time of day", "dt < TIMESTAMP'2020-01-01 10:00:00'", "dt", 18_262, 18_262, 0, "all"),
    ("P10 a date and a time of day", "dt = TIMESTAMP'2020-01-01 10:00:00'", "dt", 18_262, 18_262, 0, "skip"),
    ("P11 text against a number", "s > 9", "s", "10", "11", 0, "keep"),
    ("P11 a number against text", "i > '9'", "i", 10, 11, 0, "all"),
    ("P11 numbers that are texts in a list", "s IN ('9', '10')", "s", "11", "12", 0, "skip"),
    ("P12 decimals of two scales", "dec = 1.500", "dec", Decimal("1.50"), Decimal("1.50"), 0, "all"),
    ("P12 more digits than the column", "dec < 1.505", "dec", Decimal("1.50"), Decimal("1.50"), 0, "all"),
    ("P12 beyond 38 digits, exact or rounded", "wide < 0.5", "wide", Decimal(10**37), Decimal(10**38 - 1), 0, "skip"),
    ("P12 beyond 38 digits, 0.5 becomes 1", "wide = 0.5", "wide", Decimal(1), Decimal(1), 0, "all"),
    ("P13 below the microsecond", "t < TIMESTAMP'1970-01-01 00:00:00.0000009Z'", "t", 0, 0, 0, "skip"),
    ("P14 a wall clock in winter", "t >= TIMESTAMP'2020-01-01 00:00:00'", "t", 18_262 * DAY, 18_262 * DAY, 0, "skip"),
    (
        "P14 a wall clock shown twice",
        "t = TIMESTAMP'2020-11-01 01:30:00'",
        "t",
        18_567 * DAY + 19_800_000_000,
        18_567 * DAY + 19_800_000_000,
        0,
        "all",
    ),
    ("P14 the day of an instant", "to_date(t) = DATE'2019-12-31'", "t", 18_262 * DAY, 18_262 * DAY, 0, "all"),
    ("P14 no zone, no shift", "tn >= TIMESTAMP_NTZ'2020-01-01 00:00:00'", "tn", 18_262 * DAY, 18_262 * DAY, 0, "all"),
    ("P16 two zeros", "d = 0.0D", "d", -0.0, -0.0, 0, "all"),
    ("P16 two zeros", "f IN (float('-0.0'))", "f", 0.0, 0.0, 0, "all"),
    ("P17 bytes are unsigned", "bin > X'7F'", "bin", b"\x80", b"\xff", 0, "all"),
    ("P18 NULL inside NOT IN", "i NOT IN (5, NULL)", "i", 1, 2, 0, "skip"),
    ("P18 all but the NULLs", "i > 0", "i", 1, 2, 1, "keep"),
    ("P19 a field of a struct that may be NULL", "st.x IS NULL", "st.x", 1, 2, 1, "keep"),
    ("P20 a collated comparison", "s = 'a' COLLATE UTF8_LCASE", "s", "A", "A", 0, "keep"),
    ("P20 a collated column", "(s COLLATE UTF8_LCASE) IN ('a')", "s", "A", "A", 0, "keep"),
    ("P20 names in another case", "I > 5 AND S = 'x'", "i", 1, 5, 0, "skip"),
]
#: Spark 3.5 compares both sides as decimal(38,1), where 4.1 takes away the digits behind the point.
OLDER = {"wide < 0.5": "keep", "wide = 0.5": "skip"}


@pytest.fixture(scope="module")
def schema(spark):
    relation = spark.createDataFrame([], COLUMNS).schema
    fields = [Field(field["name"], type_of(field["type"])) for field in relation.jsonValue()["fields"]]
    return relation, Schema([*fields, Field("st.x", type_of("integer"))])


@pytest.fixture
def outcome_of(spark, schema):
    relation, columns = schema
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")

    def outcome(condition, column="i", lo=1, hi=2, nulls=0):
        expression = to_expression(spark, relation, condition)
        bound = bind(expression, columns, Semantics.named(engine_of(spark), time_zone_of(spark)))
        of = columns.resolve(column).type
        source = StatisticsProvider("test", {column: from_values(of, [lo], [hi], [nulls], [4])})
        return int(evaluate(bound, 1, [source]).outcomes[0])

    yield outcome
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(
    ("text", "column", "lo", "hi", "nulls", "expected"),
    [pytest.param(*case[1:], id=f"{case[0]}: {case[1]}") for case in CASES],
)
def test_pitfall(spark, outcome_of, text, column, lo, hi, nulls, expected):
    if "COLLATE" in text and spark.version.startswith("3."):
        pytest.skip("Spark 3.5 has no collations")
    if spark.version.startswith("3."):
        expected = OLDER.get(text, expected)
    found = outcome_of(text, column, lo, hi, nulls)
    assert {"keep": found & TRUE and found != TRUE, "skip": not found & TRUE, "all": found == TRUE}[expected]


@pytest.mark.parametrize("setting", ["spark.sql.caseSensitive"])
def test_names_follow_the_sessions_rule_for_case(spark, outcome_of, setting):
    assert not outcome_of("I > 5") & TRUE
    spark.conf.set(setting, "true")
    try:
        with pytest.raises(Exception, match="Spark cannot resolve"):
            outcome_of("I > 5")
        assert not outcome_of("i > 5") & TRUE
    finally:
        spark.conf.unset(setting)


def test_two_columns_whose_names_differ_by_case_only_are_unknown(spark):
    relation = spark.createDataFrame([], "a int, b int").schema
    columns = Schema([Field("a", type_of("integer")), Field("A", type_of("integer"))])
    bound = bind(to_expression(spark, relation, "a > 5"), columns, Semantics.named("spark-ansi", "UTC"))
    assert "ambiguous" in bound.leaves[0].reason


def test_a_column_that_changed_its_type_since_is_unknown(spark):
    relation = spark.createDataFrame([], "a string").schema
    columns = Schema([Field("a", type_of("integer"))])
    bound = bind(to_expression(spark, relation, "a > 'x'"), columns, Semantics.named("spark-ansi", "UTC"))
    assert bound.leaves[0].reason == "column a is int in the table but string in the filter"


def test_long_lists_are_read_in_one_piece(outcome_of):
    members = ", ".join(map(str, range(10, 2_000)))
    assert not outcome_of(f"i IN ({members})") & TRUE
    assert outcome_of(f"i IN ({members}, 2)") & TRUE
    assert not outcome_of(F.col("i").isin(list(range(10, 20)))) & TRUE


def test_the_optimisers_form_of_a_list_is_read_too(spark):
    texts = ", ".join(f"'k{number:02}'" for number in range(12))
    days = ", ".join(f"DATE'2020-01-{number}'" for number in range(10, 22))
    frame = spark.range(2).selectExpr("id", "concat('k', id) AS s", "date_add(DATE'2020-01-01', int(id)) AS dt")
    frame = frame.where("id >= 0").localCheckpoint()
    frame = frame.where(f"id IN ({', '.join(map(str, range(20)))}) AND s IN ({texts}) AND dt IN ({days})")
    condition = frame._jdf.queryExecution().optimizedPlan().condition()
    items = json.loads(condition.toJSON())
    assert [item["class"].rpartition(".")[2] for item in items].count("InSet") == 3
    found = str(condition_of(items, exact_parts(condition, items, missing_parts(items))))
    assert found.count(" IN (") == 3
    assert "DATE '2020-01-1" in found
    assert "?" not in found
