"""A misspelt option of a table is refused, and every option that a catalog may have is not."""

import pytest

from evaluator.language.errors import UnsupportedError
from index_store.table.table_options import ROWS, USED, check_table_options

MISSPELT = [
    ("hoodie.index.tpye", "hoodie.index.type"),
    ("hoodie.index.typ", "hoodie.index.type"),
    ("hoodie.index.types", "hoodie.index.type"),
    ("hoodie.indx.type", "hoodie.index.type"),
    ("hoodi.index.type", "hoodie.index.type"),
    ("Hoodie.Index.Type", "hoodie.index.type"),
    ("HOODIE.INDEX.TYPE", "hoodie.index.type"),
    ("hoodie_index_type", "hoodie.index.type"),
    ("hoodie-index-type", "hoodie.index.type"),
    (" hoodie.index.type", "hoodie.index.type"),
    ("hoodie.index.bucket.engin", "hoodie.index.bucket.engine"),
    ("hoodie.bucket.index.num.bucket", "hoodie.bucket.index.num.buckets"),
    ("hoodie.bucket.index.number.buckets", "hoodie.bucket.index.num.buckets"),
    ("hoodie.bucket.num.buckets", "hoodie.bucket.index.num.buckets"),
    ("hoodie.bucket.index.hash.fields", "hoodie.bucket.index.hash.field"),
    ("hoodie.bucket.index.partition.expression", "hoodie.bucket.index.partition.expressions"),
    ("sargo.index.path", "sargo.index.paths"),
    ("sargo.indexes.paths", "sargo.index.paths"),
]


@pytest.mark.parametrize(("name", "meant"), MISSPELT)
def test_a_misspelt_name_is_refused_with_the_closest_one(name, meant):
    with pytest.raises(UnsupportedError, match=f"is {meant} meant"):
        check_table_options({name: "BUCKET"})


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("hoodie.index.type", "BUKET", "BUCKET"),
        ("hoodie.index.type", "buckets", "BUCKET"),
        ("hoodie.index.bucket.engine", "CONSISTENT-HASH", "CONSISTENT_HASHING"),
        ("hoodie.index.bucket.engine", "SIMPEL", "SIMPLE"),
    ],
)
def test_a_misspelt_value_is_refused_with_the_closest_one(name, value, meant):
    with pytest.raises(UnsupportedError, match=f"is {meant} meant"):
        check_table_options({name: value})


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in USED if name != ROWS),
        *("owner", "EXTERNAL", "primaryKey", "preCombineField", "type", "transient_lastDdlTime", "path", "provider"),
        *("spark.sql.sources.schema.part.0", "last_commit_time_sync", "index.type", "index.global.enabled", "", "x"),
        *("hoodie.index.class", "hoodie.index.name", "hoodie.index.function", "hoodie.index.bloom.fpp"),
        *("hoodie.index.bloom.num_entries", "hoodie.bloom.index.filter.type", "hoodie.simple.index.use.caching"),
        *("hoodie.index.hbase.zkquorum", "hoodie.index.hbase.zkport", "hoodie.index.hbase.table"),
        *("hoodie.bucket.index.max.num.buckets", "hoodie.bucket.index.min.num.buckets"),
        *("hoodie.bucket.index.merge.threshold", "hoodie.bucket.index.split.threshold"),
        *("hoodie.bucket.index.query.pruning", "hoodie.bucket.index.remote.partitioner.enable"),
        *("hoodie.table.type", "hoodie.table.name", "hoodie.table.version", "hoodie.table.recordkey.fields"),
        *("hoodie.metadata.index.bloom.filter.enable", "hoodie.metadata.index.column.stats.enable"),
        *("hoodie.datasource.write.recordkey.field", "hoodie.datasource.hive_sync.enable", "hoodie.payload.type"),
    ],
)
def test_what_a_catalog_may_have_is_accepted(name):
    check_table_options({name: "BUCKET" if name == "hoodie.index.type" else "4"})


def test_the_rows_that_readers_show_are_merged_or_stored():
    for value in ("merged", "stored", "STORED"):
        check_table_options({ROWS: value})
    with pytest.raises(UnsupportedError, match=r"is STORED meant"):
        check_table_options({ROWS: "store"})
    with pytest.raises(UnsupportedError, match=r"'4' is none of merged, stored"):
        check_table_options({ROWS: "4"})


def test_every_index_type_of_hudi_is_accepted():
    for value in ("BUCKET", "bucket", "BLOOM", "GLOBAL_BLOOM", "SIMPLE", "RECORD_INDEX", "FLINK_STATE", "another"):
        check_table_options({"hoodie.index.type": value})


@pytest.mark.parametrize("options", ["hoodie.index.type=BUCKET", [("a", "b")], 5, {"a"}])
def test_what_is_no_mapping_is_a_type_error(options):
    with pytest.raises(TypeError, match="a dict"):
        check_table_options(options)


@pytest.mark.parametrize("options", [{5: "a"}, {"hoodie.bucket.index.num.buckets": 4}, {"a": None}, {b"a": "b"}])
def test_what_is_no_text_is_a_type_error(options):
    with pytest.raises(TypeError, match="texts"):
        check_table_options(options)


@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("as.of.instant", "20260101000000000", "as_of"),
        ("AS.OF.instant", "2026-01-01", "as_of"),
        ("hoodie.datasource.query.type", "incremental", "snapshots"),
        ("hoodie.datasource.query.type", "read_optimized", "handler.spark"),
        ("hoodie.datasource.merge.type", "skip_merge", "merged rows"),
        ("hoodie.datasource.read.begin.instanttime", "20260101000000000", "incremental"),
        ("hoodie.datasource.read.paths", "/lake/trips/p=1", "partitions"),
    ],
)
def test_an_option_of_a_reader_that_asks_for_other_rows_is_refused(name, value, instead):
    with pytest.raises(UnsupportedError, match=f"{name}.*{instead}"):
        check_table_options({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.datasource.query.type", "snapshot"),
        ("hoodie.datasource.merge.type", "PAYLOAD_COMBINE"),
        ("hoodie.enable.data.skipping", "false"),
        ("hoodie.query.as.ro.table", "false"),
    ],
)
def test_an_option_of_a_reader_that_changes_no_row_is_taken(name, value):
    check_table_options({name: value})
