"""``format("sargo")``: the rows of the whole table under the query's filters, from the files that they need alone."""

from __future__ import annotations

import datetime
import random
import re
import shutil
from decimal import Decimal

import pytest
from pyspark.sql import functions as F  # noqa: N812

from handler.planning.prune import prune
from handler.spark.registration import register
from handler.spark.source.datasource import PruningReader, PruningSource, SargoSource
from index_store.opened_table import open_table
from tests.handler.spark.real_tables import unpack
from tests.sampling import share

#: Filters that the optimizer pushes, as a whole or in part, on the columns of the main tables.
CONDITIONS = [
    "i > 100 AND i <= 900",
    "i = 31",
    "i <=> 31",
    "i IN (1, 2, NULL, 700)",
    "NOT i = 31",
    "i IS NULL",
    "i IS NOT NULL",
    "an IS NULL",
    "s LIKE 'apple%'",
    "s LIKE '%31'",
    "s LIKE '%pp%'",
    "s = 'banana-031'",
    "s >= 'date' AND s < 'f'",
    "l > 3000000000",
    "f < -10.5",
    "d >= 0.25D",
    "d = 0.0D",
    "dec = 10.11",
    "dec > 12.345",
    "dec30 < 5",
    "dt > DATE'2020-06-01'",
    "dt = DATE'2019-05-05' OR i = 7",
    "t < TIMESTAMP'2020-01-03 00:00:00'",
    "b",
    "NOT b",
    "st.x > 20",
    "p = 'p1' AND u < 20",
    "p IN ('p0', 'p9')",
    "i > 100 OR an = 3",
    "i > 5.5",
    "l = 1.0D",
    "false",
    "upper(s) = 'APPLE-001' AND i < 50",
    "bin IS NULL",
    "i + 1 > 100 AND p <> 'p0'",
]


@pytest.fixture(scope="module")
def registered(spark):
    assert register(spark)
    return spark


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")

    def table(name):
        return unpack(name, folder / name)

    return table


def load(spark, path, **options):
    return spark.read.format("sargo").options(**options).load(str(path))


def explained(frame):
    """(kept, all) as EXPLAIN shows them."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return tuple(int(number) for number in re.search(r"file slices kept: (\d+) of (\d+)", plan).groups())


def rows_of(frame):
    return sorted(map(repr, frame.collect()))


@pytest.mark.parametrize(("name", "count"), share([("1.1.1_main_cow", 5), ("1.1.1_main_mor", 2)], 4))
def test_rows_are_those_of_the_full_scan(registered, tables, name, count):
    """One job for all: the rows of each condition, tagged with its number, with and without pruning."""
    full = load(registered, tables(name)).cache()
    full.count()
    chance = random.Random(name)
    conditions = chance.sample(CONDITIONS, count)
    columns = ["_hoodie_record_key", "i", "s", "dec", "dt"]

    def all_of(frame_of):
        found = None
        for number, condition in enumerate(conditions):
            one = frame_of().where(condition).select(F.lit(number).alias("condition"), *columns)
            found = one if found is None else found.union(one)
        return rows_of(found)

    # each one alone is planned by itself; together they share one relation
    shared = load(registered, tables(name))
    assert all_of(lambda: shared) == all_of(lambda: full)
    kept = [explained(shared.where(condition)) for condition in conditions if condition != "false"]
    assert any(count < total for count, total in kept)
    full.unpersist()


def test_what_two_scans_of_one_frame_read_is_not_mixed_up(registered, tables):
    """Spark 4.1 and 4.2 do mix it up: without ``scan_plans`` each of these loses rows."""
    frame = load(registered, tables("1.1.1_main_cow"))
    first, second = frame.where("i < 0"), frame.where("i > 1500")
    counts = [first.count(), second.count(), frame.count()]
    assert counts[2] > sum(counts[:2]) > counts[0] > 0
    assert first.union(second).count() == sum(counts[:2])


@pytest.mark.spark_full
def test_what_a_join_and_a_subquery_read_of_one_frame_is_not_mixed_up(registered, tables):
    frame = load(registered, tables("1.1.1_main_cow"))
    first, second = frame.where("i < 0"), frame.where("i > 1500")
    counts = [first.count(), second.count(), frame.count()]
    assert first.union(frame).count() == counts[0] + counts[2]
    assert frame.join(second.select("id"), "id").count() == counts[1]
    registered.sql(f"CREATE TEMPORARY VIEW scanned_twice USING sargo OPTIONS (path '{tables('1.1.1_main_cow')}')")
    both = registered.sql("SELECT count(*) FROM scanned_twice a WHERE i < 0 AND i < (SELECT max(i) FROM scanned_twice)")
    assert both.collect()[0][0] == counts[0]
    registered.sql("DROP VIEW scanned_twice")


def test_a_partition_for_each_kept_slice_and_no_other_file_is_opened(registered, tables, tmp_path):
    """Files that are not kept can be missing."""
    folder = shutil.copytree(tables("1.1.1_main_cow"), tmp_path / "t")
    condition = "i > 1000 AND p = 'p1'"
    plan = prune(open_table(folder, cache=None), condition, time_zone="UTC")
    frame = load(registered, folder).where(condition)
    expected = rows_of(frame)
    assert expected
    assert 0 < len(plan.kept) < len(plan.slices)
    for item in plan.skipped:
        (folder / item.base_file).unlink()
    again = load(registered, folder).where(condition)
    assert rows_of(again) == expected
    assert again.rdd.getNumPartitions() == len(plan.kept)
    assert explained(again) == (len(plan.kept), len(plan.slices))


@pytest.mark.nightly
def test_only_the_columns_of_the_query_are_read(registered, tables):
    frame = load(registered, tables("1.1.1_main_cow"))
    plan = frame.where("i > 100").select("id")._jdf.queryExecution().executedPlan()
    read = plan.collectLeaves().head().schema().fieldNames()
    assert sorted(read) == ["i", "id"]
    assert frame.count() == 175
    assert frame.select("st.y").where("st.x > 20").count() > 0


def test_explain_shows_files_and_filters(registered, tables):
    frame = load(registered, tables("1.1.1_main_cow")).where("i > 1000")
    text = registered._jvm.PythonSQLUtils.explainString(frame._jdf.queryExecution(), "formatted")
    assert re.search(r"Sargo: file slices kept: \d+ of 14", text)
    assert "PrunedWith: [IsNotNull(i), GreaterThan(i,1000)]" in text


@pytest.mark.nightly
def test_a_view_and_an_older_instant(registered, tables):
    folder = tables("1.1.1_main_cow")
    instants = [one.requested for one in open_table(folder).table.timeline.writes]
    older = load(registered, folder, as_of=instants[-2])
    assert {row[0] for row in older.select("_hoodie_commit_time").distinct().collect()} <= set(instants[:-1])
    registered.sql(f"CREATE TEMPORARY VIEW trips USING sargo OPTIONS (path '{folder}', as_of '{instants[-2]}')")
    assert registered.sql("SELECT count(*) FROM trips WHERE p = 'p1'").collect()[0][0] > 0
    assert explained(registered.sql("SELECT * FROM trips WHERE p = 'p1'"))[0] < 14
    registered.sql("DROP VIEW trips")


def test_of_a_table_in_the_catalog_spark_tells_no_path(registered, tables):
    registered.sql(f"CREATE TABLE sargo_trips USING sargo OPTIONS (path '{tables('1.1.1_main_cow')}')")
    try:
        with pytest.raises(Exception, match="CREATE TEMPORARY VIEW"):
            registered.sql("SELECT count(*) FROM sargo_trips").collect()
    finally:
        registered.sql("DROP TABLE sargo_trips")


def test_a_frame_keeps_to_the_instant_when_it_was_made(tables):
    source = PruningSource({"path": str(tables("1.1.1_main_cow"))})
    source.schema()
    last = open_table(tables("1.1.1_main_cow")).table.timeline.last.requested
    assert source._instant == last
    assert source.open_at()[1] is None  # it is still the latest
    source._instant = open_table(tables("1.1.1_main_cow")).table.timeline.writes[0].requested
    assert source.open_at()[1] == source._instant


@pytest.mark.nightly
def test_read_optimized_leaves_logs_out(registered, tables):
    folder = tables("1.1.1_main_mor")
    merged, bases = load(registered, folder), load(registered, folder, query="read_optimized")
    condition = "i > 100"
    everything = {row["id"] for row in bases.collect() if row["i"] is not None and row["i"] > 100}
    assert {row["id"] for row in bases.where(condition).select("id").collect()} == everything
    assert {row["id"] for row in merged.where(condition).select("id").collect()} != everything


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "without a path"),
        ({"path": "x", "query": "incremental"}, "query 'incremental'"),
        ({"path": "x", "pth": "y"}, "is path meant"),
        ({"path": "x", "asof": "y"}, "is as_of meant"),
        ({"path": "x", "hoodie.index.tpye": "BUCKET"}, "is hoodie.index.type meant"),
        ({"path": "x", "hoodie.index.type": "BUKET"}, "is BUCKET meant"),
        ({"path": "x", "hoodi.index.type": "BUCKET"}, "is hoodie.index.type meant"),
    ],
)
def test_options_that_are_wrong_are_named(options, said):
    with pytest.raises(Exception, match=said):
        SargoSource(options).schema()


def test_storage_options_reach_the_file_system(registered, tables):
    with pytest.raises(Exception, match="nonsense"):
        load(registered, tables("1.1.1_main_cow"), **{"storage.nonsense": "1"})


def test_a_reader_travels_without_its_table(tables):
    import pickle

    source = PruningSource({"path": str(tables("1.1.1_main_cow"))})
    reader = source.reader(source.schema())
    assert isinstance(reader, PruningReader)
    again = pickle.loads(pickle.dumps(reader))
    assert again._opened is None
    assert len(again.partitions()) == 14


def test_without_a_kept_slice_there_is_a_partition_of_nothing(tables):
    from pyspark.sql.datasource import LessThan

    source = PruningSource({"path": str(tables("1.1.1_main_cow"))})
    reader = source.reader(source.schema())
    assert reader.pushFilters([LessThan(("i",), -(10**9))]) == [LessThan(("i",), -(10**9))]
    [partition] = reader.partitions()
    assert partition.note == "file slices kept: 0 of 14"
    assert list(reader.read(partition)) == []


def test_before_spark_4_1_the_error_says_what_to_use(monkeypatch):
    class Session:
        version = "3.5.5"

    monkeypatch.setattr("handler.spark.registration.has_hudi", lambda _: False)
    with pytest.raises(Exception, match=r"handler\.spark\.read"):
        register(Session())


def test_where_scans_are_mixed_up_nothing_is_pruned(registered, tables, monkeypatch):
    from handler.spark.source import scan_plans

    monkeypatch.setattr(scan_plans, "scans_are_their_own", lambda _: False)
    with pytest.warns(UserWarning, match="reads every file"):
        assert not register(registered)
    try:
        frame = load(registered, tables("1.1.1_main_cow")).where("i > 1000")
        assert explained(frame) == (14, 14)
    finally:
        monkeypatch.undo()
        assert register(registered)


def test_values_of_every_type_come_through(registered, tables):
    row = load(registered, tables("1.1.1_main_cow")).where("id = 'k0031'").collect()[0]
    assert isinstance(row["dec"], Decimal)
    assert isinstance(row["dt"], datetime.date)
    assert isinstance(row["t"], datetime.datetime)
    assert row["_hoodie_record_key"] == "k0031"
