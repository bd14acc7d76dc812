"""Files are read without a listing by Spark: the same rows, the same plan, and footers are read once."""

from __future__ import annotations

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812

from handler.spark.reading import file_schemas, known_files
from handler.spark.reading.reading import read
from tests.handler.plain_table import plain_table

FILES = 40
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "trips",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "i", "type": ["null", "long"], "default": None},
            {"name": "x", "type": ["null", "double"], "default": None},
            {"name": "more", "type": ["null", "string"], "default": None},
            {"name": "day", "type": ["null", "string"], "default": None},
        ],
    }
)


def rows_of(number, **more):
    """Three rows; the first files lack the column ``more`` and have ``i`` as int."""
    keys = [f"k{number}_{row}" for row in range(3)]
    columns = {
        "_hoodie_commit_time": ["20260101000000000"] * 3,
        "_hoodie_commit_seqno": keys,
        "_hoodie_record_key": keys,
        "_hoodie_partition_path": [""] * 3,
        "_hoodie_file_name": ["f"] * 3,
        "id": keys,
        "i": pa.array([number * 10 + row for row in range(3)], pa.int64()),
        "x": [0.0, -0.0, float(number)],
        "day": [f"d {number % 5}%/é"] * 3,
    }
    return pa.table(columns | more)


@pytest.fixture
def table(tmp_path):
    """One schema in most files, another in the last two; a folder whose name needs escapes."""
    files = [("", rows_of(number)) for number in range(FILES - 2)]
    files += [("", rows_of(number, more=["a", None, "b"])) for number in (FILES - 2, FILES - 1)]
    return plain_table(tmp_path / "trips of 20%25 é", files, "", SCHEMA)


@pytest.fixture
def listed(monkeypatch):
    """``listed()``: from now on Spark lists the files."""
    return lambda: monkeypatch.setattr(known_files, "_known", lambda *_: None)


@pytest.fixture
def frames(monkeypatch):
    """The frames that were made of known files, and None for each that was not."""
    made = []
    known = known_files._known
    monkeypatch.setattr(known_files, "_known", lambda *given: made.append(known(*given)) or made[-1])
    return made


def test_rows_are_those_of_a_listing(spark, table, frames, listed):
    known = read(spark, table)
    assert frames
    assert None not in frames
    ours = sorted(map(str, known.collect()))
    listed()
    assert ours == sorted(map(str, read(spark, table).collect()))
    assert len(ours) == 3 * FILES


@pytest.mark.parametrize("condition", ["x = 0", "x = -0.0D AND i < 100", "more IS NULL", "more = 'a'", "i >= 380"])
def test_conditions_find_the_same_rows(spark, table, listed, condition):
    known = sorted(row.id for row in read(spark, table, condition).collect())
    listed()
    assert known == sorted(row.id for row in read(spark, table, condition).collect())
    assert known


def test_no_job_runs_while_it_is_planned(spark, table):
    read(spark, table)
    group = "planning"
    spark.sparkContext.setJobGroup(group, group)
    try:
        frame = read(spark, table, "i >= 0")
        assert frame._jdf.queryExecution().toRdd().getNumPartitions() > 0
        assert not spark.sparkContext.statusTracker().getJobIdsForGroup(group)
        assert frame.count() == 3 * FILES
        assert spark.sparkContext.statusTracker().getJobIdsForGroup(group)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_no_session_has_them_listed(spark, table, frames):
    for session in (spark.newSession(), spark, spark.newSession()):
        assert read(session, table).count() == 3 * FILES
    assert frames
    assert None not in frames


def test_what_spark_tells_of_files_is_true(spark, table):
    whole = read(spark, table)
    assert len(whole.inputFiles()) == FILES
    few = read(spark, table, "i < 50")
    assert len(few.inputFiles()) == 5
    assert {os.path.basename(file) for file in few.inputFiles()} <= {file.name for file in table.glob("*.parquet")}


def test_sizes_and_times_are_those_of_the_files(spark, tmp_path):
    files = [("", rows_of(number, more=["a", None, "b"])) for number in range(FILES)]
    table = plain_table(tmp_path / "trips", files, "", SCHEMA)
    frame = read(spark, table)
    columns = ("file_name", "file_size", "file_modification_time")
    told = frame.select(*(F.col(f"_metadata.{name}") for name in columns)).distinct().collect()
    assert len(told) == FILES
    for row in told:
        found = (table / row.file_name).stat()
        assert row.file_size == found.st_size
        assert abs(row.file_modification_time.timestamp() - found.st_mtime) < 1


def test_a_footer_is_read_once_and_again_when_the_file_changed(spark, table, monkeypatch):
    asked = []
    footer = file_schemas._footer

    def counted(storage, file):
        asked.append(file)
        return footer(storage, file)

    monkeypatch.setattr(file_schemas, "_footer", counted)
    read(spark, table)
    assert len(asked) == FILES
    read(spark, table)
    assert len(asked) == FILES
    changed = min(table.glob("*.parquet"))
    pq.write_table(rows_of(0, more=["new", "new", "new"]), changed)
    os.utime(changed, (1, 1))
    assert read(spark, table, "more = 'new'").count() == 3
    assert asked[FILES:] == [changed.name]


def test_a_file_that_is_gone_is_an_error(spark, table):
    frame = read(spark, table)
    min(table.glob("*.parquet")).unlink()
    with pytest.raises(Exception, match=r"FAILED_READ_FILE|FileNotFound|does not exist"):
        frame.collect()


def test_where_the_class_does_not_compile_spark_lists(spark, table, monkeypatch):
    def fail(_):
        raise TypeError("'JavaPackage' object is not callable")

    monkeypatch.setattr(known_files, "_compiled", fail)
    assert read(spark, table).count() == 3 * FILES
