"""The rows of slices, read without Spark, against what Hudi's own Spark reader gave: every table, now and before."""

from __future__ import annotations

import tarfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.types import STRING
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark.arrow_schemas import to_arrow_schema
from handler.spark.pruning.schemas import spark_schema
from index_store import FileSlice, TableError, open_table
from index_store.table.table_schema import with_columns
from tests.handler.spark.true_rows import counted, reads, true_rows, unpack
from tests.sampling import share

CONFORMANCE = Path(__file__).parents[3] / "data" / "conformance"
#: Hudi reads fewer rows than were committed: archived beyond a savepoint.
DISPUTED = tuple(name for name in reads() if "archived_saved" in name)
#: Reads that are refused, and why.
REFUSED = {
    "format_0.15.0_pay_partial_mor": "PartialUpdateAvroPayload",
    "format_0.15.0_pay_sum_mor": "SumPayload",
    "format_1.2.0_pay_sum_mor": "SumPayload",
    "format_1.2.0_pay_postgres_mor": "FILL_UNAVAILABLE",
    "format_1.2.0_pay_partial_mor": "IGNORE_DEFAULTS",
    "format_1.2.0_pay_nondefault_mor": "IGNORE_DEFAULTS",
    "format_0.15.0_widened_mor": "in the schema of an older instant",
    "merging_1.2.0_pay_PartialUpdateAvroPayload": "IGNORE_DEFAULTS",  # hudi 0.5.0 would lose the old value of a map
    "merging_1.2.0_ord_two": "several ordering fields (ts,i)",
    "merging_0.15.0_widen": "has type Int32 but the table schema expects Int64",
    "merging_1.0.2_widen": "has type Int32 but the table schema expects Int64",
    "format_1.0.2_reused_mor": "column s: string in the file cannot be read as int32",
}
#: Hudi 1.2.0 misses updates in log files that an older release wrote, as of an instant before the upgrade. The same
#: table before it was upgraded has them.
BETTER = {("format_1.2.0_upgraded_mor", "asof_20261121101722181"): "format_0.15.0_archived_mor"}
#: The name of the file that a row came from: of merged rows Hudi gives the log's note, which may be the file id.
_NOTED = "_hoodie_file_name"


def rows_of(table, path, instant, schema, read_optimized=False):
    slices = table.slices(instant)
    source = SliceSource.of(table, str(path), slices.instant)
    batches = [batch for one in slices for batch in slice_batches(source, one, schema, read_optimized=read_optimized)]
    return pa.Table.from_batches(batches) if batches else pa.schema(schema).empty_table()


@pytest.mark.parametrize("name", share((name for name in reads() if name not in DISPUTED), 4))
def test_the_rows_of_every_slice_are_those_that_hudi_reads(name, tmp_path):
    path = unpack(name, tmp_path / "t")
    table = open_table(path)
    right, refused = Counter(), []
    for read, stream in reads()[name].items():
        if stream is None or read.startswith("evolved"):
            continue
        instant = read.partition("_")[2] if read.startswith("asof_") else None
        try:
            schema = to_arrow_schema(spark_schema(table, table.slices(instant).instant))
            found = rows_of(table, path, instant, schema, read == "read_optimized")
        except UnsupportedError as error:
            refused.append(str(error))
            continue
        except TableError as error:
            refused.append(str(error))
            continue
        columns = [column for column in schema.names if column != _NOTED]
        expected = true_rows(BETTER.get((name, read), name), read)
        assert counted(found, columns) == counted(expected, columns), read
        right["read"] += 1
    assert all(REFUSED.get(name, "are cleaned") in why for why in refused)
    assert right["read"] >= (0 if name in REFUSED else 2)


@pytest.mark.parametrize("name", DISPUTED)
def test_no_log_file_is_merged_where_readers_do_not_agree_on_what_is_committed(name, tmp_path):
    path = unpack(name, tmp_path / "t")
    table = open_table(path)
    source = SliceSource.of(table, str(path))
    assert source.not_merged == "Hudi's readers do not agree on what is committed (archived beyond a savepoint)"


def test_columns_come_in_the_order_asked_for(tmp_path):
    path = unpack("1.1.1_main_mor", tmp_path / "t")
    table = open_table(path)
    schema = to_arrow_schema(spark_schema(table))
    whole = true_rows("1.1.1_main_mor", "snapshot")
    source, found = SliceSource.of(table, str(path), table.slices().instant), []
    for one in table.slices():
        found += slice_batches(source, one, schema, ["s", "id"], batch_rows=7)
    assert {tuple(batch.schema.names) for batch in found} == {("s", "id")}
    assert counted(pa.Table.from_batches(found), ["id", "s"]) == counted(whole, ["id", "s"])


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    path = unpack("1.1.1_main_cow", tmp_path / "t")
    table = open_table(path)
    one = table.slices()[0]
    (path / one.base_file).unlink()
    with pytest.raises(TableError, match=f"{one.base_file}: no such file"):
        list(slice_batches(SliceSource.of(table, str(path)), one, to_arrow_schema(spark_schema(table))))


def test_a_log_file_that_is_gone_is_an_error_that_names_it(tmp_path):
    path = unpack("1.1.1_main_mor", tmp_path / "t")
    table = open_table(path)
    slices = table.slices()
    one = next(one for one in slices if one.log_files)
    (path / one.log_files[0]).unlink()
    source = SliceSource.of(table, str(path), slices.instant)
    with pytest.raises(TableError, match=rf"{one.log_files[0]}: cannot be merged"):
        list(slice_batches(source, one, to_arrow_schema(spark_schema(table))))


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("a-0_0-1-1_20260101000000000.orc", "only Parquet base files are read"),
        ("a-0_0-1-1_00000000000001.parquet", "a bootstrapped file has no data columns"),
    ],
)
def test_base_files_that_do_not_hold_the_rows_are_refused(tmp_path, file, why):
    path = unpack("1.1.1_nonpart_mor", tmp_path / "t")
    table = open_table(path)
    source, schema = SliceSource.of(table, str(path)), to_arrow_schema(spark_schema(table))
    for logs in ((), (".a-0_20260101000000001.log.1_0-1-1",)):
        with pytest.raises(UnsupportedError, match=f"{file}: {why}"):
            list(slice_batches(source, FileSlice("", "a-0", file, logs), schema))


def test_a_table_that_keeps_changes_as_rows_is_not_merged_here(tmp_path):
    path = unpack("format_1.2.0_order_event_mor", tmp_path / "t")
    assert SliceSource.of(open_table(path), str(path)).not_merged == ""
    table = open_table(path)
    table.__dict__["columns"] = with_columns(table.columns, ["_hoodie_operation"], STRING)
    assert "_hoodie_operation" in SliceSource.of(table, str(path)).not_merged


def test_timestamps_without_a_zone_in_log_files_are_refused_before_hudi_panics_on_them(tmp_path):
    with tarfile.open(CONFORMANCE / "1.2.0_flat_mor.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    path = next(tmp_path.rglob("hoodie.properties")).parent.parent
    table = open_table(path)
    source = SliceSource.of(table, str(path))
    assert "without a zone" in source.not_merged
    logged = next(one for one in table.slices() if one.log_files)
    with pytest.raises(TableError, match="cannot be opened to merge log files"):
        list(slice_batches(replace(source, not_merged=""), logged, to_arrow_schema(spark_schema(table))))
