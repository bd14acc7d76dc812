"""Pruning a fact table by the keys of a dimension: no row that meets a key is in a skipped slice."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.types import BIGINT, INT, STRING
from handler.spark import join_keys
from handler.spark.join import prune_by_join, read_by_join
from handler.spark.join_keys import Bloom, collect_keys
from handler.spark.reading.reading import read
from index_store.opened_table import open_table
from tests.handler.spark.real_tables import unpack
from tests.sampling import share


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return unpack("1.1.1_main_cow", tmp_path_factory.mktemp("join") / "main_cow")


@pytest.fixture(scope="module")
def opened(folder):
    return open_table(folder, cache=None)


@pytest.fixture(scope="module")
def fact(spark, folder):
    frame = read(spark, str(folder)).cache()
    frame.count()
    yield frame
    frame.unpersist()


def keys(spark, kind, values):
    return spark.createDataFrame([(value,) for value in values], f"key {kind}")


#: Columns of the fact table, a type of keys for each, and how to make one of a number.
SIDES = [
    ("i", "int", int),
    ("i", "bigint", int),
    ("i", "double", float),
    ("i", "string", str),
    ("i", "decimal(12,1)", lambda n: Decimal(n)),
    ("l", "bigint", lambda n: n * 10**9),
    ("l", "int", int),
    ("s", "string", lambda n: f"{('apple', 'banana', 'Cherry', 'date', 'grape')[n % 5]}-{n % 200:03}"),
    ("d", "double", lambda n: n / 4),
    ("f", "float", lambda n: n / 2),
    ("dec", "decimal(10,2)", lambda n: Decimal(n)),
    ("dec", "int", int),
    ("dt", "date", lambda n: datetime.date(2019, 1, 1) + datetime.timedelta(days=n % 1000)),
    ("dt", "string", lambda n: str(datetime.date(2019, 1, 1) + datetime.timedelta(days=n % 1000))),
    ("t", "timestamp", lambda n: datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=n)),
    ("t", "date", lambda n: datetime.date(2020, 1, 1) + datetime.timedelta(days=n % 60)),
    ("b", "boolean", lambda n: n % 2 == 0),
    ("p", "string", lambda n: f"p{n % 5}"),
    ("st.x", "int", int),
    ("an", "smallint", int),
    ("id", "string", lambda n: f"k{n % 200:04}"),
]
#: The places in SIDES that are asked.
ASKED = share(range(len(SIDES)), 57)


def dimension_of(spark, column, kind, make):
    chance = random.Random(f"{column} {kind}")
    values = [make(chance.choice([chance.randrange(200), chance.randrange(-20, 40), 31])) for _ in range(6)]
    return keys(spark, kind, [*values, None])


@pytest.fixture(scope="module")
def needed(spark, fact):
    """By place in SIDES: the files whose rows meet a key, as Spark's own join says it of the whole table."""
    found = None
    for number in ASKED:
        column, kind, make = SIDES[number]
        dimension = dimension_of(spark, column, kind, make)
        one = (
            fact.join(F.broadcast(dimension), F.col(column) == dimension["key"], "left_semi")
            .select(F.lit(number).alias("side"), "_hoodie_file_name")
            .distinct()
        )
        found = one if found is None else found.union(one)
    files = {}
    for row in found.collect():
        files.setdefault(row["side"], set()).add(row["_hoodie_file_name"].rpartition("/")[2])
    return files


@pytest.mark.parametrize("number", ASKED, ids=lambda number: "-".join(SIDES[number][:2]))
def test_no_slice_is_skipped_whose_rows_meet_a_key(spark, opened, needed, number, monkeypatch):
    """As a list of few keys, as a key set, and as too many keys: their hull and Bloom filter."""
    column, kind, make = SIDES[number]
    dimension = dimension_of(spark, column, kind, make)
    for most_keys, listed in ((100, 100), (100, 1), (2, 100)):
        monkeypatch.setattr(join_keys, "LISTED", listed)
        plan = prune_by_join(spark, opened, column, dimension, most_keys=most_keys)
        skipped = {item.base_file.rpartition("/")[2] for item in plan.skipped}
        assert not skipped & needed.get(number, set())
        assert all("the join:" not in reason.text for reason in plan.reasons)


@pytest.mark.nightly
def test_a_condition_on_the_clock_is_that_of_the_moment_given(spark, folder, opened):
    dimension = keys(spark, "int", list(range(1000)))
    where = {"key": "key", "condition": "dt < current_date()"}
    plans = {
        moment: prune_by_join(spark, opened, "i", dimension, as_of_clock=moment, **where)
        for moment in ("2010-01-01 12:00", "2019-09-01 12:00", "2090-01-01 12:00")
    }
    counts = [len(plan.kept) for plan in plans.values()]
    assert counts[0] < counts[1] < counts[2]
    for moment, plan in plans.items():
        literal = prune_by_join(
            spark, opened, "i", dimension, key="key", condition=f"dt < DATE '{moment[:10]}'", options={}
        )
        assert [item.file_id for item in plan.kept] == [item.file_id for item in literal.kept]
    rows = read_by_join(spark, str(folder), "i", dimension, as_of_clock="2019-09-01 12:00", **where)
    assert len({row[0] for row in rows.select("_hoodie_file_name").distinct().collect()}) <= counts[1]
    with pytest.raises(TypeError, match="as_of_clock"):
        prune_by_join(spark, opened, "i", dimension, as_of_clock=5, **where)
    with pytest.raises(TypeError, match="clock_skew"):
        read_by_join(spark, str(folder), "i", dimension, clock_skew="x", **where)


@pytest.mark.nightly
def test_read_options_are_those_of_prune(spark, folder, opened):
    dimension = keys(spark, "int", [31, 100, 700])
    incremental = {"hoodie.datasource.query.type": "incremental"}
    for call, table in ((prune_by_join, opened), (read_by_join, str(folder))):
        with pytest.raises(UnsupportedError, match="incremental"):
            call(spark, table, "i", dimension, key="key", options=incremental)
    optimized = {"hoodie.datasource.query.type": "read_optimized"}
    plan = prune_by_join(spark, opened, "i", dimension, key="key", options=optimized)
    assert any("base files" in reason.text for reason in plan.reasons)
    pruned = read_by_join(spark, str(folder), "i", dimension, key="key", options=optimized)
    assert (
        pruned.where("i in (31, 100, 700)").count()
        == read(spark, str(folder), "i in (31, 100, 700)", options=optimized).count()
    )


def test_what_is_read_joins_as_the_whole(spark, folder, fact):
    dimension = keys(spark, "int", [31, 100, 700, None]).withColumn("name", F.lit("x"))
    pruned = read_by_join(spark, str(folder), "i", dimension, key="key", condition="p <> 'p9'")
    assert pruned.count() < fact.count()

    def joined(frame):
        return sorted(map(repr, frame.join(dimension, frame["i"] == dimension["key"]).collect()))

    assert joined(pruned) == joined(fact)


def test_few_keys_are_a_list(spark, opened):
    plan = prune_by_join(spark, opened, "i", keys(spark, "int", [31, 31, None]), most_keys=10**12)
    assert str(plan.expression) == "i IN (31)"
    assert 0 < len(plan.kept) < len(plan.slices)


def test_without_a_key_nothing_is_kept(spark, opened):
    assert prune_by_join(spark, opened, "i", keys(spark, "int", [None])).kept == ()


def test_many_keys_are_their_hull(spark, opened):
    plan = prune_by_join(spark, opened, "i", keys(spark, "int", range(0, 300, 100)), most_keys=2)
    assert "i >= 0 AND i <= 200" in str(plan.expression)
    assert plan.fully_matched == ()  # a value of the hull need not be a key


def test_more_keys_than_a_list_has_are_a_key_set(spark, opened, monkeypatch):
    dimension = keys(spark, "int", [31, 100, 100, None, 700])
    listed = prune_by_join(spark, opened, "i", dimension)
    monkeypatch.setattr(join_keys, "LISTED", 2)
    plan = prune_by_join(spark, opened, "i", dimension)
    assert str(plan.expression) == "i IN (3 keys from 31 to 700)"
    assert plan.kept == listed.kept
    assert 0 < len(plan.kept) < len(plan.slices)
    assert not plan.reasons
    assert not any(group.complete for group in plan.residual_groups if "IN (3 keys" in str(group.expression))
    assert plan.to_dict()["filter"]["tree"]["keys"] == 3


def test_keys_that_are_no_value_of_the_column_match_no_row(spark, opened, monkeypatch):
    monkeypatch.setattr(join_keys, "LISTED", 1)
    assert prune_by_join(spark, opened, "i", keys(spark, "double", [1.5, 2.5, 1e300])).kept == ()
    some = prune_by_join(
        spark, opened, "i", keys(spark, "decimal(30,2)", [Decimal("31.50"), Decimal(31), Decimal(10) ** 27])
    )
    assert str(some.expression) == "i IN (1 keys from 31 to 31)"


def test_a_plan_says_why_keys_are_not_looked_up(spark, opened, monkeypatch):
    [reason] = prune_by_join(spark, opened, "i", keys(spark, "int", range(3)), most_keys=2).reasons
    assert "the join has 3 keys, more than most_keys=2: no index looks them up, only their range is used" in reason.text
    assert reason.text.endswith("and a Bloom filter")
    monkeypatch.setattr(join_keys, "LISTED", 1)
    [reason] = prune_by_join(spark, opened, "d", keys(spark, "double", [0.5, 1.5])).reasons
    assert reason.text == (
        "the 2 keys of the join are of type double: no index looks them up, only their range is used"
    )
    monkeypatch.setattr(join_keys, "MAX_BYTES", 10)
    [reason] = prune_by_join(spark, opened, "l", keys(spark, "bigint", range(3))).reasons
    assert "more than the 256 MB of keys that are collected" in reason.text


def test_text_that_is_not_utf_8_skips_nothing(spark, opened):
    dimension = spark.range(1).selectExpr("CAST(X'ff41' AS string) AS key")
    plan = prune_by_join(spark, opened, "s", dimension)
    assert len(plan.kept) == len(plan.slices)
    assert any("not text in UTF-8" in reason.text for reason in plan.reasons)


def test_many_keys_are_looked_up_where_a_slice_has_few_values(spark, opened):
    """Of the hull of p0 and p9 a partition that is no key is skipped; and so are narrow ranges between two keys."""
    plan = prune_by_join(spark, opened, "p", keys(spark, "string", ["a", "p1", "z"]), most_keys=1)
    assert {item.partition.rpartition("=")[2] for item in plan.kept} == {"p1"}
    assert any("none of their values is a key" in reason.text for reason in plan.reasons)
    assert len(plan.kept) + len(plan.skipped) == len(plan.slices)


def test_a_condition_holds_beside_the_join(spark, opened):
    both = prune_by_join(spark, opened, "i", keys(spark, "int", [31, 700]), condition="p = 'p1'")
    assert {item.partition.rpartition("=")[2] for item in both.kept} <= {"p1"}


@pytest.mark.parametrize(("column", "kind"), [("st", "struct<x:int,y:string>"), ("i", "array<int>"), ("gone", "int")])
def test_what_spark_does_not_compare_skips_nothing(spark, opened, column, kind):
    dimension = spark.createDataFrame([], f"key {kind}")
    plan = prune_by_join(spark, opened, column, dimension)
    assert len(plan.kept_rows) == len(plan.slices)
    assert any(reason.text.startswith("the join:") for reason in plan.reasons)
    with pytest.raises(SargoError):
        prune_by_join(spark, opened, column, dimension, strict=True)


def test_a_key_that_fails_skips_nothing(spark, opened):
    """As a cast does in ANSI mode. Spark 3.5 tells an error of the JVM, later ones an error of PySpark."""
    dimension = spark.range(2).selectExpr("element_at(array(31), int(id)) AS key")
    plan = prune_by_join(spark, opened, "i", dimension)
    assert len(plan.kept_rows) == len(plan.slices)
    assert any(reason.text.startswith("the join:") for reason in plan.reasons)
    with pytest.raises((PySparkException, Py4JError), match="INVALID_INDEX_OF_ZERO"):
        prune_by_join(spark, opened, "i", dimension, strict=True)


def test_the_key_is_found_by_name(spark, opened):
    dimension = spark.createDataFrame([(31, "x")], "i int, name string")
    assert str(prune_by_join(spark, opened, "i", dimension).expression) == "i IN (31)"
    with pytest.raises(UnsupportedError, match="key="):
        prune_by_join(spark, opened, "l", dimension)


@pytest.mark.parametrize(
    ("kind", "of", "values", "others"),
    [
        ("bigint", BIGINT, [-(2**63), -1, 0, 7, 2**63 - 1], range(100, 400)),
        ("string", STRING, ["", "a", "ä€", "longer than a word"], [f"k{n}" for n in range(300)]),
    ],
)
def test_a_bloom_filter_holds_what_was_put_in(spark, kind, of, values, others):
    found = collect_keys(keys(spark, kind, values).repartition(2), "key", [of], 1)
    assert found.values is None
    assert all(found.bloom.might_contain_any([value]) for value in values)
    wrong = sum(found.bloom.might_contain_any([other]) for other in others)
    assert wrong < len(list(others)) / 10


def test_a_bloom_filter_of_few_keys_has_a_byte_at_least(spark):
    found = collect_keys(keys(spark, "int", [1, 2]), "key", [INT], 1)
    assert isinstance(found.bloom, Bloom)
    assert len(found.bloom.bits) >= 2
