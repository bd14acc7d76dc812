"""Slices of a table in a bucket: base files by pyarrow, log files by the package hudi, with the same options."""

from __future__ import annotations

import pyarrow as pa
import pytest

from evaluator.language.errors import UnsupportedError
from handler.rows.merged_rows import merged_batches
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark.arrow_schemas import to_arrow_schema
from handler.spark.pruning.schemas import spark_schema
from index_store import open_table
from tests.handler.spark.true_rows import counted, true_rows, unpack
from tests.index_store.object_store import running

NAME = "format_1.2.0_order_event_mor"


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    with running() as store:
        yield store, store.put(unpack(NAME, tmp_path_factory.mktemp("table") / "t"), "trips")


def test_rows_of_a_table_in_a_bucket_are_those_that_hudi_reads(bucket, monkeypatch):
    store, path = bucket
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)  # the options alone must do
    table = open_table(path, storage_options=store.options)
    slices = table.slices()
    assert any(one.log_files for one in slices)
    source = SliceSource.of(table, path, slices.instant, store.options)
    schema = to_arrow_schema(spark_schema(table))
    found = pa.Table.from_batches([batch for one in slices for batch in slice_batches(source, one, schema)])
    columns = [name for name in schema.names if name != "_hoodie_file_name"]
    assert counted(found, columns) == counted(true_rows(NAME, "snapshot"), columns)


def test_a_store_that_the_package_has_not_is_refused_by_name(bucket):
    store, path = bucket
    table = open_table(path, storage_options=store.options)
    one = next(one for one in table.slices() if one.log_files)
    source = SliceSource("memory://trips", None, SliceSource.of(table, path).partitions, "")
    with pytest.raises(UnsupportedError, match="log files at memory:// with these options are not merged here"):
        list(merged_batches(source, one, pa.schema([("id", pa.string())]), 100))
