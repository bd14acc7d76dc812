"""Columns named by the table in ``handler.spark``: Spark resolves them under the alias given or used."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from handler.planning.qualified_names import TwoTablesError
from handler.spark import prune, prune_by_join, read
from tests.sampling import share

PLAIN = "i BETWEEN 400 AND 700 AND p = 'p1'"


def kept(plan):
    return [one.file_id for one in plan.kept]


@pytest.mark.parametrize(
    ("condition", "alias"),
    [
        ("o.i BETWEEN 400 AND 700 AND `O`.p = 'p1'", None),
        (["o.i BETWEEN 400 AND 700", "p = 'p1'"], None),
        ("catalog.db.orders.i BETWEEN 400 AND 700 AND orders.p = 'p1'", None),
        ("db.orders.i BETWEEN 400 AND 700 AND db.orders.p = 'p1'", "db.orders"),
        (lambda: [F.col("o.i").between(400, 700), F.col("p") == "p1"], "o"),
        (lambda: [F.col("o.i").between(400, 700), "o.p = 'p1'"], None),
    ],
    ids=range(6),
)
def test_a_qualified_name_is_the_column(spark, main_cow, condition, alias):
    plan = prune(spark, main_cow, condition() if callable(condition) else condition, alias=alias, strict=True)
    assert 0 < len(plan.kept) < len(plan.slices)
    assert kept(plan) == kept(prune(spark, main_cow, PLAIN))


def test_read_applies_a_condition_with_qualified_names(spark, main_cow):
    rows = read(spark, main_cow, PLAIN).count()
    assert rows > 0
    assert read(spark, main_cow, "o.i BETWEEN 400 AND 700 AND O.p = 'p1'").count() == rows
    assert read(spark, main_cow, "db.orders.i BETWEEN 400 AND 700 AND orders.p = 'p1'").count() == rows


def test_a_struct_and_an_alias_of_one_name(spark, main_cow):
    """Spark takes the qualifier first, where the table has the column, and else the field."""
    assert kept(prune(spark, main_cow, "st.i > 1000", strict=True)) == kept(prune(spark, main_cow, "i > 1000"))
    assert str(prune(spark, main_cow, "st.x > 20", alias="st", strict=True).expression).startswith("st.x")


def test_two_qualifiers_are_an_error_that_names_both(spark, main_cow):
    for call in (prune, read):
        with pytest.raises(TwoTablesError, match="two tables, l and o: say which"):
            call(spark, main_cow, ["o.i = 5", "l.i = 5"])
    plan = prune(spark, main_cow, ["o.i BETWEEN 400 AND 700", "l.i = 5", "o.p = 'p1'"], alias="o")
    assert kept(plan) == kept(prune(spark, main_cow, PLAIN))


@pytest.mark.parametrize(
    ("column", "condition", "alias"),
    share(
        [
            ("o.i", None, None),
            ("`o`.`i`", "O.p = 'p1'", None),
            ("db.orders.i", "orders.p = 'p1'", None),
            ("o.i", "l.x = 5", "o"),
        ],
        2,
    ),
)
def test_the_column_of_a_join_may_be_qualified(spark, main_cow, column, condition, alias):
    keys = spark.createDataFrame([(101,), (102,)], "i int")
    plan = prune_by_join(spark, main_cow, column, keys, condition=condition, alias=alias)
    plain = None if condition is None or alias else condition.rpartition(".")[2]
    assert 0 < len(plan.kept) < len(plan.slices)
    assert kept(plan) == kept(prune_by_join(spark, main_cow, "i", keys, condition=plain))


def test_a_join_of_two_qualifiers_is_an_error(spark, main_cow):
    with pytest.raises(TwoTablesError, match="two tables, l and o"):
        prune_by_join(spark, main_cow, "o.i", spark.range(3), condition="l.p = 'p1'")
