"""The Spark path: predicates resolved by Spark's own analyser, pruned, and the kept slices read by Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.reading import read
from index_store.opened_table import OpenTable
from tests.conformance.meanings import SPARK_NOT_ALIKE
from tests.conformance.paths import Kept, Resolved
from tests.conformance.paths import kept as kept_of
from tests.conformance.pruned_reads import READ_HERE
from tests.conformance.stored_truth import TABLES, truth_of
from tests.sampling import share

AT_ONCE = 80
#: One predicate of each kind. A table is read with half of them; `make conformance` reads with all predicates.
READ = (
    "i > 100",
    "f = 5.0",
    "dt < date '1582-10-10'",
    "p in ('a b', 'ü%é')",
    "s like 'apple%'",
    "extra is null and i < 0",
    "note > 'h'",
    "w > 3000000000",
)


@pytest.fixture(scope="module")
def resolved(spark: SparkSession) -> Resolved:
    return Resolved(spark)


@pytest.fixture(scope="module")
def schema(opened: dict[str, OpenTable]) -> StructType:
    """All tables have these columns in these types, some without `tn`: each predicate is resolved once."""
    return spark_schema(opened["1.2.0_wide_cow"].table)


@pytest.mark.parametrize("name", share(TABLES, 24))
def test_spark_skips_no_slice_with_a_match_and_keeps_what_the_text_keeps(
    opened: dict[str, OpenTable], kept: Kept, resolved: Resolved, schema: StructType, name: str
) -> None:
    truth = truth_of(name)
    lost, unlike = {}, {}
    for sql in share(truth.predicates, 900, seed=TABLES.index(name)):
        here = kept_of(opened[name], resolved.expression(schema, sql, "legacy"), "spark-legacy")
        there = kept.text(name, sql)
        missing = truth.groups_of(truth.numbers(sql, "legacy") or ()) - here
        if missing:
            lost[sql] = missing
        if here != there and sql not in SPARK_NOT_ALIKE:
            unlike[sql] = here ^ there
    assert lost == {}
    assert unlike == {}


def true_keys(frame: DataFrame, texts: list[str]) -> dict[str, set[tuple[str, str]]]:
    """SQL -> (table, record key) of the rows where it is TRUE; evaluated as columns, so that nothing is pushed down."""
    columns = [F.expr(f"({text}) is true").alias(f"c{n}") for n, text in enumerate(texts)]
    rows = frame.select("_table", "_hoodie_record_key", *columns).collect()
    return {
        text: {(row[0], row[1]) for row in rows if row[n + 2] and text in truth_of(row[0]).predicates}
        for n, text in enumerate(texts)
    }


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Without ANSI; and expressions are not compiled: hundreds are used once each."""
    settings = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, str(value))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.nightly
def test_the_rows_read_are_those_of_the_full_scan(spark: SparkSession, opened: dict[str, OpenTable]) -> None:
    """For a share of the predicates, on every table that is read here: the rows that it is TRUE on."""
    frames = [read(spark, opened[name].path).withColumn("_table", F.lit(name)) for name in READ_HERE]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    whole = whole.coalesce(2).cache()
    wrong = {}
    texts = share(dict.fromkeys(sql for name in READ_HERE for sql in truth_of(name).predicates), 576)
    for start in range(0, len(texts), AT_ONCE):
        for sql, keys in true_keys(whole, texts[start : start + AT_ONCE]).items():
            expected = {
                (name, key)
                for name in READ_HERE
                if sql in truth_of(name).predicates
                for key in truth_of(name).keys(sql, "legacy")
            }
            if keys != expected:
                wrong[sql] = (sorted(keys - expected)[:3], sorted(expected - keys)[:3])
    whole.unpersist()
    assert wrong == {}


@pytest.mark.parametrize("name", share(["0.15.0_wide_mor", "1.0.2_grown_mor", "1.2.0_wide_cow"], 3))
def test_the_pruned_read_gives_the_rows_of_the_full_scan(
    spark: SparkSession, opened: dict[str, OpenTable], name: str
) -> None:
    for sql in share(READ, 80, seed=TABLES.index(name)):
        keys = {row[0] for row in read(spark, opened[name].path, sql).select("_hoodie_record_key").collect()}
        assert keys == truth_of(name).keys(sql, "ansi"), sql
