"""``read`` on real Spark: the rows of real tables are Hudi's, and a condition opens no file but the kept ones."""

from __future__ import annotations

import shutil
from functools import reduce

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema

from evaluator.language.errors import UnsupportedError
from handler.spark.pruning.prune import prune
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading import file_schemas, scans
from handler.spark.reading.reading import read
from index_store import TableError, open_table
from tests.handler.spark.true_rows import counted, reads, true_rows, unpack
from tests.sampling import share

#: Conditions over tables without log files, whose files Spark itself reads.
PLAIN = {
    "1.1.1_main_cow": ["i > 500 AND s LIKE 'Ch%'", "dt < date'2019-08-01' OR st.x = 3", "dec * -1 > 30"],
    "0.15.0_main_cow": ["id = 'k0003'", "t >= timestamp'2020-01-20 00:00:00'"],
    "1.1.1_nan_cow": ["f = 0.0", "f >= 0", "d = 0.0", "d <> 0.0", "f > 5", "f = double('NaN')", "d IN (-0.0, 5)"],
    "1.1.1_longstr_cow": ["s IS NOT NULL", "length(s) > 2000"],
    "1.1.1_evol_cow": ["extra IS NULL AND i < 0", "extra > 7", "i = 4000000000"],
    "keys_1.1.1_rli_part_names_cow": ["p = 'x y'", "p IN ('ü%', 'a-b_c')", "id IS NULL"],
    "format_1.2.0_partcols_cow": ["p = 'p1'", "p = 'p0' AND i > 5000"],
    "format_0.15.0_evolved_cow": ["s_new IS NULL", "w = '203'", "f = 5.5", "x > '2003'", "dec < 6", "extra IS NULL"],
    "format_1.2.0_widened_cow": ["i > 30", "f < 20", "e IS NULL", "x = '3'"],
    "format_1.2.0_dropped_cow": ["e IS NULL", "i < 20"],
    "format_1.2.0_readded_cow": ["e = 'e10'", "e IS NULL", "i = 10"],
}
#: Where a column is one value in all files of a schema (NULL, or the partition's), Spark itself rules files out.
FOLDED = (
    "1.1.1_evol_cow",
    "format_1.2.0_partcols_cow",
    "format_0.15.0_evolved_cow",
    "format_1.2.0_widened_cow",
    "format_1.2.0_dropped_cow",
    "format_1.2.0_readded_cow",
)
#: Conditions over tables with log files, which Python workers merge.
MERGED = {
    "1.1.1_main_mor": ["s LIKE 'apple%'", "i < -100 AND p = 'p1'"],
    "format_0.15.0_compacted_mor": ["i > 300", "s IS NULL"],
    "format_1.2.0_compacted_mor": ["i BETWEEN 1 AND 200"],
}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    folders = {}

    def unpacked(name):
        if name not in folders:
            folders[name] = unpack(name, tmp_path_factory.mktemp("real") / "t")
        return str(folders[name])

    return unpacked


def rows_of(frame: DataFrame) -> pa.Table:
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches = frame._collect_as_arrow()  # Spark 3.5
    return pa.Table.from_batches(batches) if batches else to_arrow_schema(frame.schema).empty_table()


def satisfying(spark, rows: pa.Table, schema, conditions):
    """For each condition the rows that satisfy it, by Spark's evaluation of it on rows that are there already."""
    frame = spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], schema)
    flags = frame.select(*(F.expr(f"coalesce(({one}), false)").alias(f"c{n}") for n, one in enumerate(conditions)))
    found = flags.collect()
    return [rows.filter(pa.array([row[n] for row in found], pa.bool_())) for n in range(len(conditions))]


def check(spark, name, path, conditions):
    """The whole table and each condition's rows in one job; gives the frames and the plans of the conditions."""
    table = open_table(path)
    schema, right = spark_schema(table), true_rows(name, "snapshot")
    frames = [read(spark, path), *(read(spark, path, one) for one in conditions)]
    assert [[field.name for field in frame.schema] for frame in frames] == [schema.names] * len(frames)
    assert [field.dataType for field in frames[0].schema] == [field.dataType for field in schema]
    together = rows_of(reduce(DataFrame.union, (frame.withColumn("#", F.lit(n)) for n, frame in enumerate(frames))))
    expected = [right, *satisfying(spark, right, schema, conditions)]
    columns = [one for one in schema.names if one != "_hoodie_file_name"]
    for n, (text, rows) in enumerate(zip(["", *conditions], expected, strict=True)):
        found = together.filter(pa.compute.equal(together["#"], n))
        assert counted(found, columns) == counted(rows, columns), text
    return frames, [prune(spark, path, one) for one in conditions]


@pytest.mark.parametrize("name", share(PLAIN, 20))
def test_a_condition_reads_its_rows_from_the_kept_files_only(spark, folder_of, name):
    path = folder_of(name)
    frames, plans = check(spark, name, path, PLAIN[name])
    assert len(frames[0].inputFiles()) == len(plans[0].slices)
    for frame, plan in zip(frames[1:], plans, strict=True):
        opened = {file.rpartition("/")[2] for file in frame.inputFiles()}
        kept = {one.base_file.rpartition("/")[2] for one in plan.kept}
        assert opened == kept or (opened < kept and name in FOLDED)
    assert sum(len(plan.skipped) for plan in plans) > 0


@pytest.mark.parametrize("name", share(MERGED, 20))
def test_a_condition_reads_its_rows_from_kept_slices_with_log_files(spark, folder_of, name):
    _, plans = check(spark, name, folder_of(name), MERGED[name])
    assert sum(len(plan.skipped) for plan in plans) > 0


def test_an_older_instant_has_the_rows_and_the_columns_of_its_time(spark, folder_of):
    name = "format_1.2.0_evolved_cow"
    asked = [one for one in reads()[name] if one.startswith("asof_")]
    schemas = set()
    for one in (asked[0], asked[-1]):
        frame = read(spark, folder_of(name), as_of=one.removeprefix("asof_"))
        assert counted(rows_of(frame), frame.columns) == counted(true_rows(name, one), frame.columns), one
        schemas.add(frame.schema.simpleString())
    assert len(schemas) == 2


def test_read_optimized_is_the_base_files_alone_and_no_index_hides_a_row_of_theirs(spark, folder_of):
    name = "1.1.1_main_mor"
    path, right = folder_of(name), true_rows(name, "read_optimized")
    gone = counted(right, ["id"]) - counted(true_rows(name, "snapshot"), ["id"])
    assert gone  # deleted in a log file, and unknown to the record index
    key = min(gone)[0]
    frame = read(spark, path, query="read_optimized")
    assert counted(rows_of(frame), frame.columns) == counted(right, frame.columns)
    assert rows_of(read(spark, path, f"id = '{key}'", query="read_optimized"))["id"].to_pylist() == [key]
    assert read(spark, path, f"id = '{key}'").count() == 0


def test_conditions_may_be_columns_and_lists(spark, folder_of):
    path = folder_of("1.1.1_main_cow")
    texts = read(spark, path, "i > 500 AND p = 'p1'")
    mixed = read(spark, path, [F.col("i") > 500, "p = 'p1'"])
    assert sorted(texts.inputFiles()) == sorted(mixed.inputFiles())
    assert counted(rows_of(texts), ["id"]) == counted(rows_of(mixed), ["id"]) != {}
    assert rows_of(read(spark, path, "1 = 0")).num_rows == 0


@pytest.mark.nightly
def test_many_schemas_are_read_by_workers_and_many_footers_by_a_job(spark, folder_of, monkeypatch):
    name = "format_0.15.0_evolved_cow"
    right = true_rows(name, "snapshot")
    monkeypatch.setattr(file_schemas, "MAX_FOOTERS_ON_DRIVER", 0)
    scanned = read(spark, folder_of(name))
    assert len(scanned.inputFiles()) > 1
    monkeypatch.setattr(scans, "MAX_SCANS", 0)
    by_workers = read(spark, folder_of(name))
    assert by_workers.inputFiles() == []
    for frame in (scanned, by_workers):
        assert counted(rows_of(frame), frame.columns) == counted(right, frame.columns)


@pytest.mark.parametrize(
    ("name", "why"), [("format_1.2.0_pay_sum_mor", "SumPayload"), ("format_1.2.0_pay_postgres_mor", "FILL_UNAVAILABLE")]
)
def test_what_only_hudi_merges_rightly_says_what_to_do(spark, folder_of, name, why):
    with pytest.raises(UnsupportedError, match=rf"{why}\). Put the Hudi bundle .* query=\"read_optimized\""):
        read(spark, folder_of(name))
    frame = read(spark, folder_of(name), "i > 0", query="read_optimized")
    right = satisfying(spark, true_rows(name, "read_optimized"), frame.schema, ["i > 0"])[0]
    assert counted(rows_of(frame), frame.columns) == counted(right, frame.columns)


def test_bad_input_is_refused_by_name(spark, folder_of, tmp_path):
    path = folder_of("1.1.1_main_cow")
    with pytest.raises(UnsupportedError, match="query 'incremental'"):
        read(spark, path, query="incremental")
    with pytest.raises(UnsupportedError, match="reader 'duckdb'"):
        read(spark, path, reader="duckdb")
    with pytest.raises(TableError, match="no commit is as old"):
        read(spark, path, as_of="20000101000000")
    with pytest.raises(UnsupportedError, match="column s: string in the file cannot be read as int"):
        read(spark, folder_of("format_1.0.2_reused_mor"), query="read_optimized")
    spark.conf.set("hoodie.schema.on.read.enable", "true")
    try:
        with pytest.raises(UnsupportedError, match=r"renamed, or dropped and added again: e\. Hudi's own reader"):
            read(spark, folder_of("format_1.2.0_readded_cow"))
    finally:
        spark.conf.unset("hoodie.schema.on.read.enable")
    copy = shutil.copytree(path, tmp_path / "t")
    gone = open_table(copy).slices()[0].base_file
    (copy / gone).unlink()
    with pytest.raises(TableError, match=f"{gone}: no such file"):
        read(spark, copy)
