"""A mistake in a call of ``handler.spark`` raises; a name or a type that Spark refuses does with ``strict``."""

from collections.abc import Iterator

import numpy as np
import pytest
from pyspark.sql import functions as F  # noqa: N812

from handler.spark import prune, prune_by_join, read, read_by_join
from handler.spark.catalyst.conditions import ConditionError


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, TypeError),
        (42, TypeError),
        (b"i = 5", TypeError),
        (["i = 5", None], TypeError),
        (["i = 5", 42], TypeError),
        ({"i": 5}, TypeError),
        (np.array(["i = 5"]), TypeError),
        ((part for part in ["i = 5"]), TypeError),
        ("", ConditionError),
        (" \n", ConditionError),
        ("i =", ConditionError),
        (["i = 5", "i ="], ConditionError),
        ("i = 5; DROP TABLE t", ConditionError),
    ],
    ids=lambda given: "a generator" if isinstance(given, Iterator) else str(given),
)
def test_what_is_no_condition_is_an_error(spark, main_cow, given, error):
    with pytest.raises(error):
        prune(spark, main_cow, given)
    if given is not None:
        with pytest.raises(error):
            read(spark, main_cow, given)


def test_an_unknown_column_is_a_reason_that_names_similar_ones_and_an_error_in_strict(spark, main_cow):
    for condition in ("idd = 'k1'", F.col("idd") == "k1"):
        plan = prune(spark, main_cow, condition)
        assert len(plan.kept) == 14
        assert any("idd" in reason.text and "id" in reason.text.partition("Did you mean")[2] for reason in plan.reasons)
        with pytest.raises(ConditionError, match="Did you mean"):
            prune(spark, main_cow, condition, strict=True)


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ({"as_of": 5}, TypeError),
        ({"as_of": ""}, ValueError),
        ({"strict": "yes"}, TypeError),
    ],
    ids=str,
)
def test_an_argument_that_is_none(spark, main_cow, named, error):
    for call in (prune, read):
        with pytest.raises(error):
            call(spark, main_cow, "i = 5", **named)
    with pytest.raises(error):
        prune_by_join(spark, main_cow, "i", spark.range(3), **named)


def test_the_session_and_the_table_are_checked(spark, main_cow):
    for call in (prune, read):
        with pytest.raises(TypeError, match="SparkSession"):
            call(main_cow, spark, "i = 5")
        with pytest.raises(TypeError, match="a path, a URI"):
            call(spark, None, "i = 5")


def test_the_arguments_of_a_join_are_checked(spark, main_cow):
    keys = spark.range(3)
    for call in (prune_by_join, read_by_join):
        with pytest.raises(TypeError, match="DataFrame"):
            call(spark, main_cow, "i", [1, 2, 3])
        with pytest.raises(TypeError, match="column"):
            call(spark, main_cow, F.col("i"), keys)
        with pytest.raises(ValueError, match="most_keys"):
            call(spark, main_cow, "i", keys, most_keys=-1)
        with pytest.raises(TypeError, match="most_keys"):
            call(spark, main_cow, "i", keys, most_keys="10")


def test_a_column_of_another_kind_of_session_is_a_type_error(spark, main_cow):
    class Column:
        """Stands for a Column of Spark Connect, which has no counterpart in this session's JVM."""

    Column.__module__ = "pyspark.sql.connect.column"
    with pytest.raises(TypeError, match="Spark Connect"):
        prune(spark, main_cow, Column())


# ruff: noqa: ARG005
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda spark, table: prune("spark", table, "i = 5"),
            r"SparkSession, not str: prune\(spark, table, condition\)",
        ),
        (lambda spark, table: prune(None, table, "i = 5"), "SparkSession, not NoneType"),
        (lambda spark, table: prune(type(spark), table, "i = 5"), "SparkSession, not SparkSession"),
        (lambda spark, table: prune(spark.sparkContext, table, "i = 5"), "SparkSession, not SparkContext"),
        (lambda spark, table: prune(spark.range(1), table, "i = 5"), "SparkSession, not DataFrame"),
        (lambda spark, table: prune(table, spark, "i = 5"), "the session comes first"),
        (lambda spark, table: prune(spark, "i = 5", str(table)), "the table comes before it"),
        (lambda spark, table: prune(spark, F.col("i") == 5, table), r"a path, a URI .* not .*Column: prune\(spark"),
        (lambda spark, table: prune(spark, spark.range(1), "i = 5"), "a path, a URI .* not .*DataFrame"),
        (lambda spark, table: read("spark", table, "i = 5"), r"SparkSession, not str: read\(spark, table, condition\)"),
        (lambda spark, table: read(spark, "i = 5", "s3://lake/trips"), "the table comes before it"),
        (
            lambda spark, table: prune_by_join("spark", table, "i", 5),
            r"not str: prune_by_join\(spark, table, column, dim",
        ),
        (lambda spark, table: prune_by_join(spark, "i", str(table), spark.range(1)), "column is a table"),
        (lambda spark, table: prune_by_join(spark, table, spark.range(1), "i"), "column is the name .* not DataFrame"),
        (lambda spark, table: prune_by_join(spark, table, "i", "keys"), "dimension is a DataFrame, not str"),
        (lambda spark, table: read_by_join(table, spark, "i", spark.range(1)), "the session comes first"),
    ],
)
def test_arguments_in_a_wrong_order_are_a_type_error_that_shows_the_call(spark, main_cow, call, said):
    with pytest.raises(TypeError, match=said):
        call(spark, main_cow)
