"""Spark computes the constants of a condition, but neither the clock nor a user's function (C1, C7)."""

from __future__ import annotations

import pytest

from evaluator.language.expression import to_text
from handler.spark.catalyst.conditions import to_expression
from handler.spark.catalyst.constants import has_constants

SCHEMA = "d date, t timestamp, s string, i bigint, x double"


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("d < date '1994-01-01' + interval '1' year", "d < DATE '1995-01-01'"),
        ("d >= date '2020-01-01' - interval 7 days", "d >= DATE '2019-12-25'"),
        ("d < next_day('2020-01-01', 'TU')", "d < DATE '2020-01-07'"),
        (
            "d between to_date('20200101', 'yyyyMMdd') and make_date(2020, 1, 2)",
            "(d >= DATE '2020-01-01' AND d <= DATE '2020-01-02')",
        ),
        ("s like concat('a', '%')", "s LIKE 'a%'"),
        ("i in (1 + 1, 3, 4 * 5)", "i IN (2, 3, 20)"),
        ("x < pow(2, 10)", "x < 1024.0"),
        ("i < 5", "i < 5"),
    ],
)
def test_constants_are_computed(spark, condition, text):
    assert to_text(to_expression(spark, _schema(spark), condition)) == text


@pytest.mark.parametrize(
    "condition",
    [
        "d < current_date() - interval 7 days",
        "i < unix_timestamp() - 5",
        "x < rand(3) * 2",
        "s = concat(current_user(), 'a')",
    ],
)
def test_what_changes_from_query_to_query_is_not_computed(spark, condition):
    assert "?(" in to_text(to_expression(spark, _schema(spark), condition))


def test_the_other_conditions_beside_the_clock_are_computed(spark):
    condition = "d < current_date() AND d < date '2020-01-01' + interval 1 month AND i < 1 + 1"
    text = to_text(to_expression(spark, _schema(spark), condition))
    assert "d < DATE '2020-02-01' AND i < 2" in text
    assert "?(" in text


def test_a_constant_that_spark_refuses_stays_in_the_condition(spark):
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        text = to_text(to_expression(spark, _schema(spark), "x < 1 / 0"))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert text == "x < (1.0 / 0.0)"


def test_a_literal_or_its_cast_needs_no_computing():
    column = {"class": "a.AttributeReference", "num-children": 0}
    literal, cast = {"class": "a.Literal", "num-children": 0}, {"class": "a.Cast", "num-children": 1}
    less, add = {"class": "a.LessThan", "num-children": 2}, {"class": "a.Add", "num-children": 2}
    assert not has_constants([less, column, cast, literal])
    assert not has_constants([less, column, add, column, literal])
    assert has_constants([less, column, add, literal, cast, literal])


def _schema(spark):
    return spark.createDataFrame([], SCHEMA).schema
