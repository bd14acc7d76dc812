"""The scans and joins of TPC-DS on Spark: as it analyses them, they keep what bounds leave open."""

from __future__ import annotations

import datetime

import pytest
from pyspark.sql import SparkSession

from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, INT
from evaluator.reference.row_oracle import value_of
from handler.spark import prune, prune_by_join
from handler.sql import parse
from tests.sampling import share
from tests.tpc.benchmark import benchmark
from tests.tpc.measure import Table, tables
from tests.tpc.tables import unpack
from tests.tpcds.joins import JOINS

EPOCH = datetime.date(1970, 1, 1)


@pytest.fixture(scope="module")
def tpcds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    return tables("tpcds", unpack(tmp_path_factory.mktemp("tpcds"), benchmark("tpcds").archive))


@pytest.mark.nightly
def test_the_keys_of_a_dimension_keep_what_bounds_leave_open(spark: SparkSession, tpcds: dict[str, Table]) -> None:
    for join in share(JOINS, 20):
        keys = spark.createDataFrame([(key,) for key in join.keys(tpcds).to_pylist()], "key int")
        own = join.condition(tpcds)
        condition = None if own is None else own.specification
        plan = prune_by_join(spark, tpcds[join.fact].opened, join.column, keys, condition=condition)
        kept = frozenset(file_slice.file_id for file_slice in plan.kept)
        assert join.ideal(tpcds) <= kept
        assert kept == join.by_bounds(tpcds), join.name


def test_conditions_as_spark_analyses_them_keep_what_literals_keep(
    spark: SparkSession, tpcds: dict[str, Table]
) -> None:
    """Q34 divides integers, Q28 compares decimals with integers, Q8 has 400 postal codes."""
    cases = {(name, question.specification): question for name in tpcds for question in tpcds[name].questions}
    for name, sql in share(cases, 192):
        kept = frozenset(file_slice.file_id for file_slice in prune(spark, tpcds[name].opened, sql).kept)
        assert kept == tpcds[name].kept(cases[name, sql].literal), (name, sql)


#: Dates of a column moved by an operator, in rows and in slices.
MOVED = (
    "d_date + interval '30' day",
    "d_date - interval 1 month",
    "interval '1-1' year to month + d_date",
    "d_date - interval 2 weeks",
    "d_date + 30",
    "d_date - d_dom",
    "add_months(d_date, 12)",
    "date_add(d_date, datediff('2000-08-23', d_date))",
)


@pytest.mark.parametrize("text", MOVED)
def test_a_column_of_dates_is_moved_as_spark_moves_it(spark: SparkSession, tpcds: dict[str, Table], text: str) -> None:
    """Row by row with Spark, for leap days and ends of months; and by slices, in SQL text and as Spark analyses it."""
    days = "(date '1999-01-31', 31), (date '2000-02-29', 29), (date '2000-12-31', 31), (null, 1)"
    rows = f"values {days} as t(d_date, d_dom)"
    schema = Schema([Field("d_date", DATE), Field("d_dom", INT)])
    for day, dom, moved in spark.sql(f"select d_date, d_dom, {text} from {rows}").collect():
        row = {"d_date": None if day is None else (day - EPOCH).days, "d_dom": dom}
        condition = f"{text} is null" if moved is None else f"{text} = date '{moved}'"
        assert value_of(parse(condition, "spark"), row, schema, Semantics.named("spark", "UTC")) is True
    table = tpcds["date_dim"]
    condition = f"{text} between date '2000-08-23' and date '2000-09-22'"
    kept = table.kept(condition)
    asked = frozenset(file_slice.file_id for file_slice in prune(spark, table.opened, condition).kept)
    assert kept == asked
    assert 0 < len(kept) <= 4 or "datediff" in text
