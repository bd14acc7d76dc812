"""A log file may have a column in two types, one in each block: nothing is known of it then, by any sketch."""

from __future__ import annotations

import pyarrow as pa
import pytest

from index_store.own.builders.sketching import SketchPlan, sketch_rows
from index_store.table.file_rows import ColumnRows, RowBatch
from index_store.table.file_types import FileType
from tests.index_store.own.parquet_rows import SKETCHES

TEXT = RowBatch(2, {"c": ColumnRows(FileType("string"), pa.array([b"a", b"b"], pa.large_binary()))})
NUMBERS = RowBatch(3, {"c": ColumnRows(FileType("bigint"), pa.array([1, None, 3], pa.int64()))})


@pytest.mark.parametrize("sketch", SKETCHES)
@pytest.mark.parametrize("batches", [(TEXT, NUMBERS), (NUMBERS, TEXT, NUMBERS)])
def test_a_column_of_two_types_in_one_file_is_unknown(sketch: str, batches: tuple[RowBatch, ...]) -> None:
    row = sketch_rows(batches, SketchPlan.of([("c", sketch)]).targets)
    assert row["c:type"].startswith("!")
    assert row["c:nulls"] == -1
    assert row["rows"] == sum(one.rows for one in batches)
    assert all(value is None for name, value in row.items() if name.count(":") == 2)
