"""A Hudi table of one commit, whose slices have the rows that a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from index_store import Table, open_table
from tests.evaluator.strategies import Slice
from tests.index_store.own.parquet_rows import write_parquet

INSTANT = "20260101000000000"


def small_table(
    folder: Path,
    slices: Sequence[Slice],
    columns: Sequence[str],
    unit: str = "us",
    properties: Mapping[str, str] | None = None,
) -> Table:
    """COPY_ON_WRITE, version 6, no metadata table; slice j is file group ``g<j>``, its rows have keys of their own."""
    (folder / ".hoodie").mkdir(parents=True)
    settings = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "6",
        "hoodie.timeline.layout.version": "1",
        **(properties or {}),
    }
    (folder / ".hoodie/hoodie.properties").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    (folder / f".hoodie/{INSTANT}.commit").write_text("{}")
    for number, one in enumerate(slices):
        path = folder / f"g{number}_0-1-0_{INSTANT}.parquet"
        write_parquet(path, one.rows, columns, unit, 3)
        add_keys(path, [f"k{number}-{row // 2}" for row in range(len(one.rows))])
    return open_table(folder)


def add_keys(path: Path, keys: Sequence[Any]) -> None:
    """Give the rows of a file record keys."""
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.append_column("_hoodie_record_key", pa.array(keys, pa.string())), path, row_group_size=3)
