"""The builder without Spark: files are sketched in parallel, in threads of this process.

A name of ``store.merged_slices`` among the files is sketched as the rows of its part of a slice that survive a merge.

pyarrow reads and decodes without Python's global lock, and requests to an object store overlap; the Python code of
sketches runs in one thread at a time. ``build.spark`` is for large tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluator.language.errors import UnsupportedError
from index_store.own.builder import FILE_ID, IndexedFile
from index_store.own.builders.aggregates import aggregate
from index_store.own.builders.sketching import SketchPlan, sketch_file, sketch_rows
from index_store.own.builders.surviving_rows import merge_slice
from index_store.own.definition import Definition
from index_store.own.store.merged_slices import MergedPart
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage
from index_store.table.row_precedence import RowPrecedence, row_precedence

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["LocalBuilder", "build_locally", "precedence_of"]

#: The rows of a record batch, and how many files at most are in progress for each thread.
FILES_PER_BATCH, AHEAD = 1000, 4
#: Files that are sketched in one go, each with what its name says of a merged slice.
_Together = tuple[tuple[IndexedFile, MergedPart | None], ...]


def build_locally(table: Table, definition: Definition) -> LocalBuilder:
    """The builder of a definition for a table. Raises UnsupportedError for a sketch that is not known."""
    return LocalBuilder(table.storage, SketchPlan.for_table(table, definition), precedence=precedence_of(table))


def precedence_of(table: Table) -> RowPrecedence | None:
    """Which rows of a table's merged slices hide others; None where that is not known."""
    try:
        return row_precedence(table) if table.table_type == "MERGE_ON_READ" else None
    except UnsupportedError:
        return None


class LocalBuilder:
    """Sketches files in threads. A file that cannot be read gets no row and is in ``failed``, with the reason."""

    def __init__(
        self,
        storage: Storage,
        plan: SketchPlan,
        threads: int | None = None,
        *,
        precedence: RowPrecedence | None = None,
    ) -> None:
        """``precedence``: which rows of merged slices hide others; without it these are not sketched."""
        self.failed: dict[str, str] = {}
        self._storage, self._plan, self._precedence = storage, plan, precedence
        self._threads = threads or storage.readers

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        """The rows of the files, in their order."""
        rows: list[dict[str, Any]] = []
        for row in self._rows(files):
            rows.append(row)
            if len(rows) == FILES_PER_BATCH:
                yield pa.RecordBatch.from_pylist(rows, self._plan.schema)
                rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, self._plan.schema)

    def aggregate(self, rows: pa.Table) -> pa.Table:
        """The aggregates of the partitions of these rows (``aggregates``)."""
        return aggregate(rows, self._plan)

    def _rows(self, files: Sequence[IndexedFile]) -> Iterator[dict[str, Any]]:
        waiting: deque[tuple[_Together, Future[list[dict[str, Any]]]]] = deque()
        with ThreadPoolExecutor(self._threads, "sargo-sketches") as pool:
            try:
                for together in _read_together(files):
                    waiting.append((together, pool.submit(self._sketch, together)))
                    if len(waiting) >= AHEAD * self._threads:
                        yield from self._finished(*waiting.popleft())
                while waiting:
                    yield from self._finished(*waiting.popleft())
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _sketch(self, together: _Together) -> list[dict[str, Any]]:
        (file, part), *_ = together
        if part is None:
            return [sketch_file(self._storage, file.path, self._plan)]
        if self._precedence is None:
            raise TableError(self._storage.absolute(file.path), "it is not known which rows are merged")
        names = list(dict.fromkeys(name for target in self._plan.targets for name in target.columns))
        merged = merge_slice(self._storage, part, names, self._precedence)
        return [
            dict(sketch_rows(merged.rows_of(one, listed.size), list(self._plan.targets)))
            for listed, one in together
            if one is not None
        ]

    def _finished(self, together: _Together, future: Future[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        try:
            rows = future.result()
        except TableError as error:
            self.failed.update({file.path: error.why for file, _ in together})
            return
        for (file, _), row in zip(together, rows, strict=True):
            yield {FILE_ID: file.file_id, **row}


def _read_together(files: Sequence[IndexedFile]) -> Iterator[_Together]:
    """Each file, and the parts of a merged slice that stand side by side, whose log files are then read once."""
    waiting: _Together = ()
    for file in files:
        part = MergedPart.named(file.path)
        before = waiting[-1][1] if waiting else None
        if part is None or before is None or (part.base, part.logs) != (before.base, before.logs):
            if waiting:
                yield waiting
            waiting = ()
        waiting = (*waiting, (file, part))
    if waiting:
        yield waiting
