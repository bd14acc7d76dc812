"""A scan for Polars, pandas and DuckDB.

Polars    a LazyFrame: columns and predicates of the query are pushed into the scan, whose batches it takes
pandas    a DataFrame of all rows
DuckDB    a relation over the pyarrow dataset of the scan, into which DuckDB pushes columns and conditions

DuckDB 1 pushes ``x > 1`` into Arrow, where NaN is in no order, and loses the rows of NaN, its own greatest number. So
columns with floating-point values are taken out of its reach there. DuckDB 2 has all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from handler.engines.conditions import duckdb_name
from handler.engines.datasets import to_dataset
from handler.engines.packages import needed
from handler.engines.slice_scan import BATCH_ROWS, SliceScan

__all__ = ["scan_polars", "to_duckdb", "to_pandas"]


def scan_polars(scan: SliceScan) -> Any:
    """A ``polars.LazyFrame``; nothing is read before it is collected."""
    pl = needed("polars", "polars")
    plugins = needed("polars.io.plugins", "polars")
    scan.check()

    def batches(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        columns = list(scan.columns) if with_columns is None else list(with_columns)
        wanted = columns if predicate is None else list(dict.fromkeys((*columns, *predicate.meta.root_names())))
        left = n_rows
        for batch in scan.with_columns(wanted or scan.columns[:1]).to_batches(batch_size or BATCH_ROWS):
            frame = pl.from_arrow(batch)
            if left is not None:
                frame = frame.head(left)
                left -= len(frame)
            yield (frame if predicate is None else frame.filter(predicate)).select(columns)
            if left is not None and left <= 0:
                return

    empty = pl.from_arrow(scan.result_schema.empty_table())
    return plugins.register_io_source(batches, schema=empty.schema)


def to_pandas(scan: SliceScan, **options: Any) -> Any:
    """A ``pandas.DataFrame``; ``options`` go to ``pyarrow.Table.to_pandas``."""
    needed("pandas", "pandas")
    return scan.to_table().to_pandas(**options)


def to_duckdb(scan: SliceScan, con: Any, name: str | None = None) -> Any:
    """A ``duckdb.DuckDBPyRelation`` of a connection; ``name``: a view of this name is made, too."""
    duckdb = needed("duckdb", "duckdb")
    if not hasattr(con, "from_arrow"):
        raise TypeError(f"con is a connection of DuckDB, such as duckdb.connect(), not {type(con).__name__}")
    made = to_dataset(scan)
    relation = con.from_arrow(made)
    held = {one.name for one in made.schema if _has_floats(one.type)} if duckdb.__version__.startswith("1.") else set()
    if held or made.schema.names != list(scan.columns):  # columns of the filter are in it, too
        relation = relation.project(", ".join(_shown(name, name in held) for name in scan.columns))
    if name is not None:
        relation.create_view(name, replace=True)
    return relation


def _shown(name: str, is_held: bool) -> str:
    """A column; ``greatest`` of one value is that value, and not pushed down."""
    column = duckdb_name(name)
    return f"greatest({column}) AS {column}" if is_held else column


def _has_floats(kind: Any) -> bool:
    """Whether an Arrow type has floating-point values, also within."""
    parts = (kind.field(number).type for number in range(kind.num_fields))
    return pa.types.is_floating(kind) or any(_has_floats(part) for part in parts)
