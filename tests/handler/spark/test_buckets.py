"""``assign_buckets`` gives every row the bucket of the file that real Hudi wrote it to."""

from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal

import pytest
from pyspark.sql import functions as F  # noqa: N812

import handler
from evaluator.language.errors import UnsupportedError
from handler.spark import assign_buckets, plan_rebucket, plan_ring_split
from index_store import StatsError, TableError, open_table
from index_store.buckets.hashes import simple_hash
from index_store.buckets.layouts import first_ring
from tests.index_store.bucketed_tables import BUCKETED, RING, RING_TABLES, options, rows_by_file
from tests.index_store.conftest import DATA
from tests.sampling import share


@pytest.fixture(scope="module")
def hudi_table(tmp_path_factory):
    root = tmp_path_factory.mktemp("hudi")

    def unpack(name):
        if not (root / name).exists():
            shutil.unpack_archive(DATA / f"{name}.zip", root / name)
        return root / name

    return unpack


@pytest.fixture
def hudi_copy(hudi_table, tmp_path):
    return lambda name: shutil.copytree(hudi_table(name), tmp_path / name)


def base_rows(spark, path):
    """The rows of the latest base files, with the columns' own types."""
    files = [str(path / one.base_file) for one in open_table(path).slices() if one.base_file]
    return spark.read.parquet(*files)


@pytest.mark.parametrize(
    ("name", "count"),
    share(
        [("1.1.1_bucket_int_cow", 60), ("keys/1.1.1_bucket_subid7_cow", 43), ("keys/1.2.0_bucket_types_cow", 120)], 3
    ),
)
def test_rows_are_assigned_the_bucket_of_their_file_from_the_columns_of_the_key(spark, hudi_table, name, count):
    path = hudi_table(name)
    stored = base_rows(spark, path)
    assigned = assign_buckets(stored, table=path, options=BUCKETED[name], prefix="start")
    assert assigned.columns == [*stored.columns, "bucket", "start"]
    rows = assigned.select("bucket", "start", "_hoodie_file_name").collect()
    assert [row.bucket for row in rows] == [int(row._hoodie_file_name[:8]) for row in rows]
    assert all(row._hoodie_file_name.startswith(f"{row.start}-") for row in rows)
    assert len(rows) >= count


@pytest.mark.parametrize(
    ("name", "typed"), [("1.1.1_bucket_ch_resized_mor", False), ("keys/1.1.1_bucket_ch_two_mor", True)]
)
def test_rows_are_assigned_the_node_of_their_file_group(spark, hudi_table, name, typed):
    path = hudi_table(name)
    told = RING_TABLES[name]
    stored = [
        (
            row["_hoodie_record_key"],
            one.partition,
            one.file_id,
            *((row["id"], row["n"]) if typed else ("", 0)),
            row["p"],
        )
        for one in open_table(path).slices()
        for row in rows_by_file(path, one.files)
    ]
    frame = spark.createDataFrame(stored, "k string, path string, file_id string, id string, n bigint, p string")
    new = first_ring("p=new", 2)
    told = told | {"hoodie.bucket.index.num.buckets": "2"}
    extra = spark.createDataFrame([(stored[0][0], "p=new", new.prefixes[1], *stored[0][3:5], "new")], frame.schema)
    given = {} if typed else {"text": "k", "partition": "path"}
    rows = assign_buckets(frame.union(extra), table=path, options=told, prefix="start", **given).collect()
    assert all(row.file_id.startswith(row.start) for row in rows[:-1])
    assert {(row.path, row.bucket) for row in rows[:-1]} <= {
        (one.partition, number) for one in open_table(path).slices() for number in range(4)
    }
    assert rows[-1].start == new.prefixes[rows[-1].bucket]
    assert len(rows) >= 41


def test_a_key_has_no_bucket_where_hudi_refuses_it(spark):
    texts = spark.createDataFrame(
        [("a", "b"), ("", None), (None, None), ("", "b"), ("x:y", ""), ("", "")], "id string, `n.m` string"
    )
    found = assign_buckets(texts, 11, ["id", "n.m"]).collect()
    assert [row.bucket for row in found] == [
        simple_hash(("a", "b")) % 11,
        None,
        None,
        simple_hash(("", "b")) % 11,
        simple_hash(("x:y", "")) % 11,
        None,
    ]
    one = assign_buckets(texts, 7, "id", column="one", prefix="start")
    both = assign_buckets(one, 7, ["id", "n.m"], hashed="n.m", column="part").collect()
    assert [row.one for row in both] == [simple_hash(("a",)) % 7, None, None, None, simple_hash(("x:y",)) % 7, None]
    assert [row.start for row in both][:2] == [f"{simple_hash(('a',)) % 7:08d}", None]
    assert [row.part for row in both][:2] == [simple_hash(("b",)) % 7, None]


def test_values_are_written_as_javas_key_generators_do(spark):
    rows = [
        (-128, True, dt.date(1, 1, 1), Decimal(0), Decimal("1E-7"), dt.datetime(1969, 12, 31, 23, 59, 59, 5)),
        (7, False, dt.date(9999, 12, 31), Decimal("-0.000001"), Decimal("0"), dt.datetime(2020, 3, 29, 2, 30)),
        (0, None, dt.date(2020, 2, 29), Decimal("12.5"), Decimal("-12.5"), dt.datetime(1, 1, 1)),
    ]
    frame = spark.createDataFrame(
        rows, "i tinyint, b boolean, d date, x decimal(12,6), y decimal(20,9), t timestamp_ntz"
    )
    expected = [
        ("-128", "true", "0001-01-01", "0.000000", "1.00E-7", "-999995"),
        ("7", "false", "9999-12-31", "-0.000001", "0E-9", "1585449000000000"),
        ("0", None, "2020-02-29", "12.500000", "-12.500000000", "-62135596800000000"),
    ]
    zone, ansi = spark.conf.get("spark.sql.session.timeZone"), spark.conf.get("spark.sql.ansi.enabled")
    try:
        for number, other in enumerate(("Europe/Berlin", "UTC")):
            spark.conf.set("spark.sql.session.timeZone", other)
            spark.conf.set("spark.sql.ansi.enabled", str(number == 0).lower())
            found = assign_buckets(frame, 10**6, list("ibdxyt")).collect()
            assert [row.bucket for row in found] == [simple_hash(texts) % 10**6 for texts in expected]
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
        spark.conf.set("spark.sql.ansi.enabled", ansi)


@pytest.mark.parametrize(
    ("column", "why"),
    [
        ("timestamp'2020-01-01'", "inserts in bulk"),
        ("1.5f", "Java's releases"),
        ("1.5d", "Java's releases"),
        ("X'00'", "no certain text"),
        ("array('a')", "no certain text"),
    ],
)
def test_columns_without_a_certain_text_are_refused(spark, column, why):
    with pytest.raises(UnsupportedError, match=f"column k of type .*{why}"):
        assign_buckets(spark.range(1).select(F.expr(column).alias("k")), 4, "k")


@pytest.mark.parametrize(
    ("asked", "error", "why"),
    [
        ({}, UnsupportedError, "buckets: how many"),
        ({"buckets": 0, "key": "id"}, UnsupportedError, "buckets: how many"),
        ({"buckets": 4}, UnsupportedError, "key: the columns"),
        ({"buckets": 4, "key": "id", "hashed": "x"}, UnsupportedError, "hashed x"),
        ({"buckets": 4, "key": "id", "column": "p"}, UnsupportedError, "have a column p already"),
        ({"buckets": 4, "table": "bucket_cow"}, UnsupportedError, "buckets and a table"),
        ({"table": "bucket_cow"}, UnsupportedError, "do not tell of buckets"),
        ({"table": "bucket_cow", "options": options(3)}, StatsError, "not as told"),
        ({"table": "bucket_cow", "options": options(8)}, StatsError, "not as told"),
        ({"table": "bucket_cow", "options": options(None)}, StatsError, "num.buckets does not give"),
        ({"table": "bucket_cow", "options": options(4, engine=RING)}, StatsError, "ring of p=p0 is missing"),
        ({"table": "main_cow", "options": options(4)}, StatsError, "not as told"),
        ({"table": "nowhere", "options": options(4)}, TableError, "not a Hudi table"),
    ],
)
def test_what_does_not_fit_the_table_is_an_error(spark, hudi_table, tmp_path, asked, error, why):
    rows = spark.createDataFrame([("a", "p0")], "id string, p string")
    if "table" in asked:
        asked = asked | {"table": tmp_path if asked["table"] == "nowhere" else hudi_table(f"1.1.1_{asked['table']}")}
    with pytest.raises(error, match=why):
        assign_buckets(rows, **asked)


def test_a_path_that_is_not_the_columns_text_has_to_be_given(spark, hudi_copy):
    path = hudi_copy("1.1.1_bucket_part_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("urlencode=false", "urlencode=true"))
    rows = spark.createDataFrame([("k0001", "p1", "p=p1")], "id string, p string, path string")
    with pytest.raises(UnsupportedError, match=r"give a column that has it \(partition=\)"):
        assign_buckets(rows, table=path, options=BUCKETED["1.1.1_bucket_part_cow"])
    found = assign_buckets(rows, table=path, options=BUCKETED["1.1.1_bucket_part_cow"], partition="path").first()
    assert found.bucket == simple_hash(("k0001",)) % 6


def test_tables_of_hudi_0_leave_out_keys_that_releases_take_apart_differently(spark, hudi_table, monkeypatch):
    opened = handler.open_table(hudi_table("keys/1.1.1_bucket_two_cow"), BUCKETED["keys/1.1.1_bucket_two_cow"])
    rows = spark.createDataFrame([("a:b", 1), ("a", 1)], "id string, n bigint")
    plain, odd = simple_hash(("a", "1")) % 5, simple_hash(("a:b", "1")) % 5
    assert [row.bucket for row in assign_buckets(rows, table=opened).collect()] == [odd, plain]
    monkeypatch.setattr(opened.table, "version", 6)
    assert [row.bucket for row in assign_buckets(rows, table=opened).collect()] == [None, plain]


def test_plans_take_a_path(hudi_table):
    told = BUCKETED["1.1.1_bucket_cow"]
    assert plan_rebucket(2, 4).splits[1].into == (1, 3)
    assert len(plan_rebucket(4, 8, hudi_table("1.1.1_bucket_cow"), options=told).groups) == 12
    name = "1.1.1_bucket_ch_mor"
    assert len(plan_ring_split(hudi_table(name), options=RING_TABLES[name])) == 12
