"""Scans of every real table give the rows that Hudi's own Spark reader gave (tests/data/hudi/true_rows.tar.xz)."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from evaluator.language.errors import UnsupportedError
from handler import open_table, scan
from handler.rows.table_types import arrow_schema
from index_store import TableError
from tests.handler.spark.reading.test_slice_rows import _NOTED, BETTER, DISPUTED, REFUSED
from tests.handler.spark.true_rows import counted, reads, true_rows, unpack
from tests.sampling import share

ENGINES = ("batches", "dataset", "polars", "duckdb", "tasks")
CASES = [
    (table, read, engine)
    for table, streams in sorted(reads().items())
    for read, stream in sorted(streams.items())
    for engine in ENGINES
    if stream is not None and not read.startswith("evolved") and table not in DISPUTED
]


def rows(found, engine):
    """A scan's rows through an engine, as an Arrow table in the scan's types."""
    match engine:
        case "batches":
            return found.to_table()
        case "dataset":
            return found.to_pyarrow_dataset().to_table(columns=list(found.columns))
        case "polars":
            return found.scan_polars().collect().to_arrow().cast(large(found.result_schema)).cast(found.result_schema)
        case "tasks":
            parts = [pickle.loads(pickle.dumps(task)).to_table() for task in found.tasks(3)]
            return pa.concat_tables(parts) if parts else found.result_schema.empty_table()
        case "duckdb":
            duckdb = pytest.importorskip("duckdb")
            con = duckdb.connect()
            con.execute("SET TimeZone = 'UTC'")
            table = found.to_duckdb(con).to_arrow_table()
            return pa.table(
                [in_type(table.column(name), found.result_schema.field(name).type) for name in found.columns],
                schema=found.result_schema,
            )
    raise AssertionError(engine)


def in_type(column, kind):
    """DuckDB renames parts of nested types; values stay."""
    return pa.chunked_array([pa.array(column.to_pylist(), kind)]) if pa.types.is_nested(kind) else column.cast(kind)


def large(schema):
    return pa.schema([pa.field(one.name, pa.large_string() if one.type == pa.string() else one.type) for one in schema])


@pytest.mark.parametrize("case", share(CASES, 116, seed=20), ids="-".join)
def test_scans_give_the_rows_that_hudi_read(case, tmp_path):
    name, read, engine = case
    table = open_table(unpack(name, tmp_path / "t"))
    as_of = read.removeprefix("asof_") if read.startswith("asof_") else None
    query = "read_optimized" if read == "read_optimized" else "snapshot"
    try:
        found = scan(table, as_of=as_of, query=query, by_name=True)
        result = rows(found, engine)
    except (UnsupportedError, TableError) as error:
        if REFUSED.get(name, "are cleaned") not in str(error):
            raise
        return
    expected = true_rows(BETTER.get((name, read), name), read)
    assert found.schema.names == arrow_schema(table.table, found.source.instant).names
    columns = [column for column in expected.column_names if column != _NOTED]
    assert counted(result, columns) == counted(expected, columns)


@pytest.mark.parametrize("name", DISPUTED)
def test_no_rows_are_read_where_readers_do_not_agree_on_what_is_committed(name, tmp_path):
    table = open_table(unpack(name, tmp_path / "t"))
    with pytest.raises(UnsupportedError, match="readers do not agree"):
        scan(table, query="read_optimized")
