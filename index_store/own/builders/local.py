"""The builder without Spark: files are sketched in parallel, in threads of this process.

A name of ``store.merged_slices`` among the files is sketched as the rows of its slice that survive a merge.

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
from index_store.own.builders.surviving_rows import surviving_rows
from index_store.own.definition import Definition
from index_store.own.store.merged_slices import MergedSlice
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage
from index_store.table.row_precedence import RowPrecedence, row_precedence

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["LocalBuilder", "build_locally", "precedence_of"]

#: The rows of a record batch, and how many files at most are in progress for each thread.
FILES_PER_BATCH, AHEAD = 1000, 4


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
        waiting: deque[tuple[IndexedFile, Future[dict[str, Any]]]] = deque()
        with ThreadPoolExecutor(self._threads, "sargo-sketches") as pool:
            try:
                for file in files:
                    waiting.append((file, pool.submit(self._sketch, file)))
                    if len(waiting) >= AHEAD * self._threads:
                        yield from self._finished(*waiting.popleft())
                while waiting:
                    yield from self._finished(*waiting.popleft())
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _sketch(self, file: IndexedFile) -> dict[str, Any]:
        item = MergedSlice.named(file.path)
        if item is None:
            return sketch_file(self._storage, file.path, self._plan)
        if self._precedence is None:
            raise TableError(self._storage.absolute(file.path), "it is not known which rows are merged")
        names = list(dict.fromkeys(name for target in self._plan.targets for name in target.columns))
        rows = surviving_rows(self._storage, item, file.size, names, self._precedence)
        return dict(sketch_rows(rows, list(self._plan.targets)))

    def _finished(self, file: IndexedFile, future: Future[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        try:
            row = future.result()
        except TableError as error:
            self.failed[file.path] = error.why
            return
        yield {FILE_ID: file.file_id, **row}
