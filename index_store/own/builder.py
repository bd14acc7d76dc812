"""The interface of builders: anything that turns files into rows of statistics, one row a file.

    input     files with ids                       file_id  path                        size    instant
                                                   0        city=a/f1_0-1-0_2026.parquet  43110   2026...
    output    record batches, in any order         file_id  city.min  city.max  city.bloom  ...
              of any columns beside ``file_id``    0        a         kk        <bytes>

The store keeps these rows and does not interpret them. A file that gets no row stays unknown to the index and is never
skipped: that is right for a file that vanished, cannot be read or is not understood. Batches may differ in their
columns and types, because a column's type may change from one file to the next: each row has the types of its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.definition import Definition

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["FILES", "FILE_ID", "Aggregating", "Builder", "IndexedFile", "MakeBuilder", "NewFiles", "Progress"]

FILE_ID = "file_id"
#: The columns of a list of files: ``path`` is relative to the table, ``size`` in bytes, ``instant`` of the file's name.
FILES = pa.schema(
    [
        pa.field(FILE_ID, pa.int32(), False),
        pa.field("path", pa.string(), False),
        pa.field("size", pa.int64(), False),
        pa.field("instant", pa.string(), False),
    ]
)


@frozen
class IndexedFile:
    """A base or log file of the table."""

    file_id: int
    path: str
    size: int
    instant: str


class NewFiles(Sequence[IndexedFile]):
    """Files to be built, as columns (``table``, of the schema FILES) or one by one."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __len__(self) -> int:
        count: int = self.table.num_rows
        return count

    @overload
    def __getitem__(self, index: int) -> IndexedFile: ...

    @overload
    def __getitem__(self, index: slice) -> NewFiles: ...

    def __getitem__(self, index: int | slice) -> IndexedFile | NewFiles:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return NewFiles(self.table.take(pa.array(range(start, stop, step), pa.int64())))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return IndexedFile(
            **{
                name: column[index].as_py()
                for name, column in zip(self.table.column_names, self.table.columns, strict=True)
            }
        )

    def __iter__(self) -> Iterator[IndexedFile]:
        for batch in self.table.to_batches(10_000):
            yield from map(IndexedFile, *(column.to_pylist() for column in batch.columns))


class Builder(Protocol):
    """Computes statistics of files."""

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        """At most one row for each file: its ``file_id`` (int32) and the columns of the sketches.

        ``files`` is a ``NewFiles``. Raises SargoError when nothing can be built at all.
        """
        ...


@runtime_checkable
class Aggregating(Protocol):
    """A builder that also aggregates statistics by partition; an index keeps these rows beside the statistics."""

    def aggregate(self, rows: pa.Table) -> pa.Table | None:
        """One row for each value of the column ``partition`` of ``rows``, which are statistics; None: nothing.

        An aggregate has to stay true when files are taken away from the partition.
        """
        ...


class MakeBuilder(Protocol):
    """Makes the builder of a definition for a table as it is now. Raises SargoError if it cannot be built."""

    def __call__(self, table: Table, definition: Definition) -> Builder: ...


#: Called with the unit of progress ("files", "rows", ...), how many are done, and how many there are.
Progress = Callable[[str, int, int], Any]
