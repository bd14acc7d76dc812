"""A builder that knows little of a file: how many rows it has, or its digest. Enough to tell files apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from index_store.own.builder import IndexedFile
from index_store.own.definition import Definition, Entry
from index_store.own.store.merged_slices import MergedPart
from index_store.own.store.own_index import OwnIndex

DEFINITION = Definition("toy", (Entry("*", "toy"),))


class Toy:
    """Base files: the row count of the footer. Log files: their digest, in a column that base files do not have.

    Row counts of some files are int32 and of others int64, as if a column's type had changed. Files that are not there
    are left out, and so are merged slices. ``built`` are the paths that rows were made of.
    """

    def __init__(self, root: Path | None = None, batch: int = 3) -> None:
        self.root = root
        self.batch = batch
        self.built: list[str] = []

    def __call__(self, table, definition):
        assert definition == DEFINITION
        self.root = Path(table.path)
        return self

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        rows: dict[pa.Schema, list[dict[str, object]]] = {}
        for one in reversed(files):
            path = self.root / one.path
            if MergedPart.named(one.path) is None and path.exists():
                self.built.append(one.path)
                if one.path.endswith(".parquet"):
                    kind = pa.int32() if one.size % 2 else pa.int64()
                    schema = pa.schema([("rows", kind), ("file_id", pa.int32()), ("key.value", pa.string())])
                    row = {"rows": parquet.read_metadata(path).num_rows, "key.value": one.path}
                else:
                    schema = pa.schema([("file_id", pa.int32()), ("digest", pa.binary())])
                    row = {"digest": hashlib.sha256(path.read_bytes()[: one.size]).digest()}
                waiting = rows.setdefault(schema, [])
                waiting.append({**row, "file_id": one.file_id})
                if len(waiting) == self.batch:
                    yield pa.RecordBatch.from_pylist(waiting, schema=schema)
                    waiting.clear()
        for schema, waiting in rows.items():
            yield pa.RecordBatch.from_pylist(waiting, schema=schema)

    def aggregate(self, rows: pa.Table) -> pa.Table | None:
        if "rows" not in rows.column_names:
            return None
        rows = rows.set_column(rows.column_names.index("rows"), "rows", pc.cast(rows.column("rows"), pa.int64()))
        return rows.group_by("partition").aggregate([("rows", "max")])


def answers(index: OwnIndex) -> dict[tuple[str, int], dict[str, object]]:
    """All that an index says: by path and size of a file, its statistics with their types."""
    files = index.files
    assert (np.diff(files.column("file_id").to_numpy()) > 0).all()
    names = list(zip(files.column("path").to_pylist(), files.column("size").to_pylist(), strict=True))
    said: dict[tuple[str, int], dict[str, object]] = {}
    for rows in index.statistics():
        for place, row in zip(rows.index_rows.tolist(), rows.columns.to_pylist(), strict=True):
            assert names[place] not in said
            said[names[place]] = {
                name: (value, str(rows.columns.schema.field(name).type)) for name, value in row.items()
            }
    assert set(said) == set(names)
    return said
