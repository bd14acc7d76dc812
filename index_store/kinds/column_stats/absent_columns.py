"""Files that were written before a column was added: all NULL, if the table shows that they have no such column (P6).

Hudi writes no statistics for a column that a file does not have. A missing record alone proves nothing. Two things
prove that the file lacks the column:

    the schema of the commit that wrote the file   without the column, and no commit before it had the column
    the file's own footer                          no such column, under any case

Such a file has NULL in each of its rows, unless

    the column had another name before             the file may hold it under that name (``.hoodie/.schema``)
    the schema gives it a default other than NULL  readers fill that in
    it is a partition column                       its value may stand in the path only
    it is one of Hudi's own columns                they may be virtual
    the table was bootstrapped                     the columns are in another file

Pitfall P6 is described in docs/facts/pitfalls.md#p6.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.language.schema import Field
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.storage.errors import FormatError, TableError
from index_store.table.instant_details import rows_written
from index_store.table.table_schema import from_avro
from index_store.table.timeline import Timeline

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["CommitSchemas", "reads_as_null", "with_absent_columns"]

#: How many commits are read to see when a column was added, and for how many seconds.
COMMIT_LIMIT = 256
COMMIT_SECONDS = 1.0


def with_absent_columns(
    rows: FileStatistics,
    column: Field,
    files: SliceFiles,
    deleted: npt.NDArray[np.intp],
    table: Table,
    *,
    renamed: frozenset[str],
    commits: CommitSchemas,
) -> FileStatistics:
    """Add a row of NULLs only for each base file that has no record and was written without the column."""
    if not reads_as_null(column, table, renamed):
        return rows
    missing = np.ones(len(files.paths), np.bool_)
    missing[rows.file_index] = False
    missing[deleted] = False
    missing[files.is_log] = False
    candidates = np.flatnonzero(missing).tolist()
    if not candidates:
        return rows
    written = commits.files_without(column.name)
    file_indices: list[int] = []
    counts: list[int] = []
    table.footers.expect([path for one in candidates if (path := files.paths[one]) not in written])
    for file_index in candidates:
        count = written.get(files.paths[file_index])
        if count is None:
            count = _rows_by_footer(files.paths[file_index], column.name, table)
        if count is not None:
            file_indices.append(file_index)
            counts.append(count)
    return rows.with_nulls(np.array(file_indices, np.intp), np.array(counts, np.int64)) if file_indices else rows


class CommitSchemas:
    """The columns of the schemas of a table's first commits, and the files that they wrote; each commit is read once.

    Reading ends after ``COMMIT_LIMIT`` commits or ``COMMIT_SECONDS``, or at a commit that cannot be read.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._rest = iter(timeline.writes[:COMMIT_LIMIT])
        self._timeline = timeline
        self._seconds = COMMIT_SECONDS
        self._read: list[tuple[Sequence[str], Mapping[str, int]]] = []

    def files_without(self, column: str) -> Mapping[str, int]:
        """The base files of all commits before the first one whose schema has the column, and how many rows each has.

        A commit without a schema proves nothing about its own files; nor does one that lacks the column after another
        commit had it.
        """
        found: dict[str, int] = {}
        for names, files in self._commits():
            if _has_column(names, column):
                break
            if names:
                found.update(files)
        return found

    def _commits(self) -> Iterator[tuple[Sequence[str], Mapping[str, int]]]:
        yield from self._read
        while self._seconds > 0 and (instant := next(self._rest, None)) is not None:
            start = time.monotonic()
            try:
                details = self._timeline.details(instant)
                schema = (details.get("extraMetadata") or {}).get("schema")
                names = [field.name for field in from_avro(schema).schema] if schema else []
            except (TableError, FormatError):
                self._seconds = 0.0
                return
            self._seconds -= time.monotonic() - start
            self._read.append((names, dict(rows_written(details))))
            yield self._read[-1]


def _rows_by_footer(path: str, column: str, table: Table) -> int | None:
    """How many rows a base file has whose footer lacks the column."""
    footer = table.footers.read(path)
    if footer is None or _has_column((footer.schema.column(i).path for i in range(len(footer.schema))), column):
        return None
    return int(footer.num_rows)


def reads_as_null(column: Field, table: Table, renamed: frozenset[str]) -> bool:
    """Whether a file without the column has only NULL for it."""
    name = column.name
    parents = {name[:end] for end in range(len(name) + 1) if end == len(name) or name[end] == "."}
    return not (
        parents & (renamed | table.columns.filled)
        or name in table.partition_fields
        or name.startswith("_hoodie_")
        or "hoodie.bootstrap.base.path" in table.properties
    )


def _has_column(paths: Iterable[str], name: str) -> bool:
    """Whether one of the paths is the column, or anything below it, under any case."""
    wanted = name.lower()
    return any(path == wanted or path.startswith(wanted + ".") for path in map(str.lower, paths))
