"""Tables and partitions with a space, %, #, ? and the like in their names, read by Spark: the same rows fewer files."""

from __future__ import annotations

import shutil
import zipfile
from urllib.parse import unquote

import pytest
from pyarrow import parquet

from handler.planning.prune import prune
from handler.spark.catalyst.sessions import line_of
from handler.spark.pruning.prune import prune as prune_in_spark
from handler.spark.reading.reading import read
from handler.spark.registration import register
from handler.spark.source.registration import MIN_VERSION
from index_store.opened_table import open_table
from tests.handler.object_stores.test_awkward_places import NAMES as PARTITIONS
from tests.handler.object_stores.test_awkward_places import PLACES, of_partition
from tests.handler.spark.real_tables import unpack
from tests.sampling import share

NAMES = ["a b%20c#d", "a?b+c&d=e", "'\"äö€{f,g}*[a]"]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places") / "a b%20#{?}"
    with zipfile.ZipFile(PLACES) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.nightly
def test_the_rows_of_awkward_partitions_are_those_of_a_reading_without_skipping(spark, places):
    has_source = line_of(spark.version) >= MIN_VERSION
    assert not has_source or register(spark)
    every = {row.id: row.dt for row in read(spark, places).select("id", "dt").collect()}
    assert len(every) == 120
    assert set(every.values()) == {unquote(name) for name in PARTITIONS}
    source = spark.read.format("sargo").load(str(places)) if has_source else None
    assert sorted(row.id for row in read(spark, places, of_partition("a b")).collect()) == sorted(
        i for i, dt in every.items() if dt == "a b"
    ), "of two partitions"
    for name in ("a#b", "a?b", "a{b}"):
        ids = sorted(i for i, dt in every.items() if dt == name)
        condition = f"k BETWEEN {ids[0]} AND {ids[-1]}"
        assert [item.partition for item in prune_in_spark(spark, places, condition).kept] == [f"dt={name}"]
        assert sorted(row.id for row in read(spark, places, of_partition(name)).collect()) == ids, name
        assert source is None or sorted(row.id for row in source.where(condition).collect()) == ids, name


@pytest.mark.parametrize("name", share(NAMES, 3))
def test_a_table_at_an_awkward_location(spark, tmp_path, name):
    table = tmp_path / name
    shutil.copytree(unpack("1.1.1_main_cow", tmp_path / "unpacked"), table)
    condition = "i BETWEEN 20 AND 60"
    plan = prune(open_table(table), condition)
    assert plan.skipped
    files = [parquet.read_table(table / item.base_file, columns=["i"], partitioning=None) for item in plan.slices]
    want = sorted(i for file in files for i in file["i"].to_pylist() if i is not None and 20 <= i <= 60)
    assert want
    for location in (str(table), f"file://{table}"):
        assert prune_in_spark(spark, location, condition).kept == plan.kept, location
    assert sorted(row.i for row in read(spark, f"file:{table}", condition).collect()) == want
    if line_of(spark.version) >= MIN_VERSION:
        assert register(spark)
        frame = spark.read.format("sargo").load(f"file:{table}").where(condition)
        assert sorted(row.i for row in frame.collect()) == want
