"""Spark computes the constants of a condition, but neither the clock nor a user's function (C1, C7).

No reason shows a name of Catalyst's classes.
"""

from __future__ import annotations

import re

import pytest

from evaluator.language.expression import to_text
from handler.spark.catalyst.conditions import ConditionError, to_expression
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
        "x < rand(3) * 2",
        "i < length(current_timezone()) * 2",
        "s = concat(current_user(), 'a')",
    ],
)
def test_what_changes_from_query_to_query_is_not_computed(spark, condition):
    assert "?(" in to_text(to_expression(spark, _schema(spark), condition))


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("d >= current_date() - interval 7 days", "d >= date_add(current_date(), negative(7))"),
        ("d >= current_date() - 7", "d >= date_sub(current_date(), 7)"),
        ("d >= current_date() - interval 2 months", "d >= (current_date() + negative(INTERVAL '2' MONTH))"),
        (
            "t >= now() - interval 7 days",
            "t >= CAST((current_timestamp() + negative(INTERVAL '7' DAY)) AS timestamp with local time zone)",
        ),
        ("t >= timestampadd(HOUR, -7, now())", "t >= (current_timestamp() + INTERVAL '-25200' SECOND)"),
        ("i >= unix_timestamp() - 5", "i >= (unix_timestamp() - 5)"),
        ("i >= unix_seconds(now())", "i >= unix_timestamp()"),
    ],
)
def test_the_clock_stays_a_function_of_the_clock(spark, condition, text):
    assert to_text(to_expression(spark, _schema(spark), condition)) == text


#: Conditions that are not decided, each with a class of Catalyst that has another name in SQL.
UNDECIDED = [
    *("next_day(d, 'MO') > d", "regexp_replace(s, 'a', 'b') = 'c'", "reverse(s) = 'x'", "split(s, ',')[0] = 'a'"),
    *("s ILIKE 'a%'", "soundex(s) = 'A1'", "md5(s) = 'x'", "hash(s) = 1", "d - date '2020-01-01' > interval 3 days"),
    *("months_between(d, d) > 1", "t + make_interval(1) > t", "i & 1 = 1", "~i = 1", "shiftleft(i, 2) = 4"),
    *("sequence(1, 3)[0] = i", "map(s, i)['a'] = 1", "exists(array(i), v -> v > 1)", "rand() > 0.5", "uuid() = s"),
    *("current_user() = s", "current_timezone() = s", "bit_count(i) = 1", "percent_rank() is null or i = 1"),
    *("date_part('week', d) = 1", "weekday(d) = 1", "format_string('%d', i) = s", "try_divide(i, 2) = 1"),
    *("to_json(named_struct('a', i)) = s", "from_csv(s, 'a INT').a = 1", "s COLLATE UTF8_LCASE = 'a'"),
    *("timestampdiff(DAY, t, t) = 1", "array_contains(array(i), 1)", "width_bucket(x, 0, 1, 2) = 1", "elt(i, 'a') = s"),
]


@pytest.mark.parametrize("condition", UNDECIDED)
def test_no_reason_has_a_name_of_catalyst(spark, condition):
    try:
        text = to_text(to_expression(spark, _schema(spark), condition))
    except ConditionError:
        return  # this version of Spark refuses it
    reasons = " ".join(re.findall(r"\?\((.*?)\)", text))
    assert not re.search(r"[a-z][A-Z]|\b[A-Z][a-z]+[A-Z]", reasons), text


def test_the_other_conditions_beside_the_clock_are_computed(spark):
    condition = "d < current_date() AND d < date '2020-01-01' + interval 1 month AND i < 1 + 1"
    text = to_text(to_expression(spark, _schema(spark), condition))
    assert text == "(d < current_date() AND d < DATE '2020-02-01' AND i < 2)"


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
