"""Files that were written before a column was added: all NULL, if the file shows that it has no such column (P6).

Hudi writes no statistics for a column that a file does not have, and a missing record alone proves nothing. The Parquet
footer does: no such column in the file's schema, under any case, means NULL in each of its rows, unless

    the column had another name before             the file may hold it under that name (``.hoodie/.schema``)
    the schema gives it a default other than NULL  readers fill that in
    it is a partition column                       its value may stand in the path only
    it is one of Hudi's own columns                they may be virtual
    the table was bootstrapped                     the columns are in another file
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.schema import Field
from index_store.kinds.file_rules import FileStatistics
from index_store.kinds.slice_union import SliceFiles

if TYPE_CHECKING:
    from index_store.table import Table

__all__ = ["with_absent_columns"]


def with_absent_columns(rows: FileStatistics, column: Field, files: SliceFiles, deleted: npt.NDArray[np.intp],
                        table: Table, renamed: frozenset[str]) -> FileStatistics:
    """Add a row of nothing but NULL for each base file without a record whose footer lacks the column."""
    if not _reads_as_null(column, table, renamed):
        return rows
    missing = np.ones(len(files.paths), np.bool_)
    missing[rows.place] = False
    missing[deleted] = False
    missing[files.is_log] = False
    places: list[int] = []
    counts: list[int] = []
    for place in np.flatnonzero(missing).tolist():
        if table.footers.exhausted:
            break
        footer = table.footers.read(files.paths[place])
        if footer is not None and not _has_column(footer.schema, column.name):
            places.append(place)
            counts.append(footer.num_rows)
    return rows.with_nulls(np.array(places, np.intp), np.array(counts, np.int64)) if places else rows


def _reads_as_null(column: Field, table: Table, renamed: frozenset[str]) -> bool:
    """Whether a file without the column has only NULL for it."""
    name = column.name
    parents = {name[:end] for end in range(len(name) + 1) if end == len(name) or name[end] == "."}
    return not (parents & (renamed | table.columns.filled) or name in table.partition_fields
                or name.startswith("_hoodie_") or "hoodie.bootstrap.base.path" in table.properties)


def _has_column(schema: Any, name: str) -> bool:
    """Whether a Parquet schema has the column, or anything below it, under any case."""
    wanted = name.lower()
    paths = (schema.column(i).path.lower() for i in range(len(schema)))
    return any(path == wanted or path.startswith(wanted + ".") for path in paths)
