"""Tables of many file slices with expression indexes and with an index of our own, made in real formats.

``expressions``: column_stats of four columns, and ``expr_index_ix_lower`` and ``expr_index_ix_length`` of ``name``.
``own``: nothing but the list of files, and an index ``ix`` beside the data, of the sketches in ``SKETCHES``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from index_store import open_table
from index_store.own.builder import FILE_ID, IndexedFile
from index_store.own.builders.sketching import SketchPlan, sketch_rows
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.store.locations import folder_of
from index_store.table.file_rows import ColumnRows, RowBatch
from index_store.table.file_types import FileType
from index_store.table.plain_values import plain_array
from index_store.table.table import Table
from tests.index_store.synthetic import INSTANT, hfile, stats_key, stats_value, write_table

__all__ = ["SKETCHES", "make_expressions", "make_own"]

#: What the own index keeps of files of 500 rows.
SKETCHES = (("ts", "min_max"), ("amount", "value_list"), ("name", "min_max"), ("name", "bloom_filter"))
_FILES_AT_ONCE = 1000


def make_expressions(root: Path, files: int) -> None:
    """A table of so many slices with two expression indexes of bounds."""
    write_table(root, files)
    metadata = root / ".hoodie" / "metadata"
    names = [one.base_file or "" for one in open_table(root).slices()]
    for index, function in (("ix_lower", "lower"), ("ix_length", "length")):
        folder = metadata / f"expr_index_{index}"
        folder.mkdir()
        records = []
        for i, name in enumerate(names):
            lo: Any = ("StringWrapper", f"shop-{i:06d}") if function == "lower" else ("IntWrapper", 5 + i % 90)
            hi: Any = ("StringWrapper", f"shop-{i + 50:06d}") if function == "lower" else ("IntWrapper", 8 + i % 90)
            of_type = (7, None) if function == "lower" else (3, None)
            value = stats_value(name, "name", lo, hi, 100_000 + i, 0, value_type=of_type)
            records.append((stats_key("name", "", name), value))
        file = folder / f"expr-index-{index.replace('_', '-')}-0000-0_0-1-1_{INSTANT}.hfile"
        file.write_bytes(hfile(records))
    _define(root, {"expr_index_ix_lower": "lower", "expr_index_ix_length": "length"})


def _define(root: Path, functions: dict[str, str]) -> None:
    definitions = {
        name: {
            "indexName": name,
            "indexType": "column_stats",
            "indexFunction": function,
            "sourceFields": ["name"],
            "indexOptions": {"expr": function},
            "version": "V2",
        }
        for name, function in functions.items()
    }
    folder = root / ".hoodie" / ".index_defs"
    folder.mkdir()
    (folder / "index.json").write_text(json.dumps({"indexDefinitions": definitions}))
    _set_partitions(root, ["files", "column_stats", *functions])


def _set_partitions(root: Path, partitions: Sequence[str]) -> None:
    path = root / ".hoodie" / "hoodie.properties"
    lines = [line for line in path.read_text().splitlines() if "metadata.partitions" not in line]
    path.write_text("\n".join([*lines, f"hoodie.table.metadata.partitions={','.join(partitions)}"]) + "\n")


def make_own(root: Path, files: int) -> None:
    """A table of so many slices with an index of its own, and no other."""
    write_table(root, files)
    _set_partitions(root, ["files"])
    table = open_table(root)
    definition = Definition("ix", tuple(Entry(on, sketch) for on, sketch in SKETCHES))
    create(folder_of(table, "ix"), table, definition, _Drawn)


class _Drawn:
    """Rows of real sketches, of values that are drawn from the number of each file."""

    def __init__(self, table: Table, definition: Definition) -> None:
        self._plan = SketchPlan.for_table(table, definition)
        self._types = {column.name: column.type for column in table.schema}

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        waiting: list[dict[str, Any]] = []
        for file in files:
            waiting.append({FILE_ID: file.file_id, **self._sketched(int(file.path.rpartition("/")[2][:8], 16))})
            if len(waiting) == _FILES_AT_ONCE:
                yield pa.RecordBatch.from_pylist(waiting, self._plan.schema)
                waiting = []
        if waiting:
            yield pa.RecordBatch.from_pylist(waiting, self._plan.schema)

    def _sketched(self, number: int) -> dict[str, Any]:
        draw = np.random.default_rng(number)
        start = 1_767_225_600_000_000 + int(draw.integers(0, 10**14))
        values = {
            "ts": pa.array(start + draw.integers(0, 10**9, 500), pa.timestamp("us", "UTC")),
            "amount": pa.array(draw.integers(0, 1000, 5) / 4),
            "name": pa.array([f"shop-{shop:07d}" for shop in draw.integers(0, 10**7, 500).tolist()]),
        }
        units = {"ts": "micros"}
        types = {name: FileType.of(self._types[name], units.get(name, "")) for name in values}
        columns = {name: ColumnRows(types[name], plain_array(array, types[name])) for name, array in values.items()}
        return dict(sketch_rows([RowBatch(500, columns)], list(self._plan.targets)))
