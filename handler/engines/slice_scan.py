"""A scan: the rows of a plan's kept slices for which its filter is TRUE, in the table's columns, batch by batch.

    scan.to_batches()   Arrow batches, slice by slice; slices are read side by side
    scan.to_table()     all of them as one Arrow table

Rows are those that Hudi's reader returns (``handler.rows``): one reader for all engines, so that none of them makes its
own sense of evolved types, partition paths or log files. The filter decides as ``row_filter`` says. A slice of which
every row matches is not filtered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
from typing_extensions import Self

from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.records import frozen
from handler.engines.row_filter import RowFilter
from handler.rows.file_columns import nullable
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from index_store import FileSlice

__all__ = ["BATCH_ROWS", "ScanSlice", "SliceScan", "chosen_columns"]

BATCH_ROWS = 65_536
#: So many slices are read ahead of the one that is given out; each waits in memory until it is asked for.
SIDE_BY_SIDE = 4


@frozen
class ScanSlice:
    """A slice to read, and which of the scan's filters holds for it; None: every row matches."""

    item: FileSlice
    filter: int | None = None


@frozen(slots=False, eq=False, kw_only=True, shown=False)
class SliceScan:
    """What is read: small, and pickled to other processes.

    source           the table; its options of the file system, with their secrets, are pickled too
    schema           the table's columns at the instant of the plan
    columns          the columns of the result, in this order
    slices           the slices to read
    filters          the filters of which each slice has one or none
    whole            the filter of the plan; None when rows are not filtered
    read_optimized   base files alone are read
    sizes            bytes of files by path, where they are known; for tasks
    """

    source: SliceSource
    schema: pa.Schema
    columns: tuple[str, ...]
    slices: tuple[ScanSlice, ...]
    filters: tuple[RowFilter, ...] = ()
    whole: RowFilter | None = None
    read_optimized: bool = False
    sizes: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"<Scan of {self.source.storage().root}: {len(self.slices)} file slices, columns {list(self.columns)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "sizes": None}

    @property
    def result_schema(self) -> pa.Schema:
        """The columns of the result; each may be NULL."""
        return pa.schema([pa.field(name, nullable(self.schema.field(name).type)) for name in self.columns])

    def check(self) -> None:
        """Raise UnsupportedError when a slice cannot be read as Hudi reads it."""
        for one in self.slices:
            if one.item.log_files and not self.read_optimized and self.source.not_merged:
                raise UnsupportedError(
                    f"{one.item.log_files[0]}: {self.source.not_merged}. Read the base files alone "
                    '(query="read_optimized", without what was logged since), let Hudi compact the table, or read with '
                    "Spark and Hudi's bundle (handler.spark.read)"
                )

    def with_columns(self, columns: Sequence[str] | None) -> Self:
        """The same rows with other columns."""
        return self if columns is None else replace(self, columns=chosen_columns(columns, self.schema))

    def part(self, slices: Sequence[ScanSlice]) -> Self:
        """The scan of some of its slices."""
        return replace(self, slices=tuple(slices), sizes=None)

    def slice_batches(self, one: ScanSlice, batch_rows: int = BATCH_ROWS) -> Iterator[Any]:
        """The kept rows of one slice."""
        row_filter = None if one.filter is None else self.filters[one.filter]
        needed = () if row_filter is None else row_filter.columns
        names = list(dict.fromkeys((*self.columns, *needed)))
        for batch in slice_batches(
            self.source, one.item, self.schema, names, read_optimized=self.read_optimized, batch_rows=batch_rows
        ):
            kept = batch if row_filter is None else row_filter.apply(batch)
            if kept.num_rows:
                yield kept if len(names) == len(self.columns) else kept.select(list(self.columns))

    def to_batches(self, batch_rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Record batches of the rows, slice by slice, in the order of the slices. Raises as reading does.

        Some slices are read ahead in threads, and wait in memory.
        """
        self.check()
        if len(self.slices) < 2:
            for one in self.slices:
                yield from self.slice_batches(one, batch_rows)
            return
        with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(self.slices)), "sargo-slices") as pool:
            left = iter(self.slices)
            waiting: list[Future[list[Any]]] = [
                pool.submit(self._whole_slice, one, batch_rows) for one in islice(left, SIDE_BY_SIDE)
            ]
            try:
                while waiting:
                    batches = waiting.pop(0).result()
                    waiting += [pool.submit(self._whole_slice, one, batch_rows) for one in islice(left, 1)]
                    yield from batches
            finally:
                for future in waiting:
                    future.cancel()

    def _whole_slice(self, one: ScanSlice, batch_rows: int) -> list[Any]:
        return list(self.slice_batches(one, batch_rows))

    def to_reader(self) -> Any:
        """A ``pyarrow.RecordBatchReader`` over the rows, which are read while it is read."""
        return pa.RecordBatchReader.from_batches(self.result_schema, self.to_batches())

    def to_table(self) -> Any:
        """All rows as one Arrow table."""
        return pa.Table.from_batches(self.to_batches(), self.result_schema)


def chosen_columns(columns: Sequence[str] | None, schema: pa.Schema) -> tuple[str, ...]:
    """The columns that are asked for, all by default. Raises TypeError, ValueError and UnknownColumnError."""
    if columns is None:
        return tuple(schema.names)
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise TypeError("columns is a list of names")
    if not columns:
        raise ValueError("columns names no column")
    by_lower: dict[str, list[str]] = {}
    for name in schema.names:
        by_lower.setdefault(name.lower(), []).append(name)
    found = []
    for name in columns:
        alike = [name] if name in schema.names else by_lower.get(name.lower(), [])
        if len(alike) != 1:
            near = tuple(one for one in schema.names if one.lower().startswith(name.lower()[:3]))[:3]
            raise UnknownColumnError(name, f"column {name} is not in the table, or its name is ambiguous", near)
        found.append(alike[0])
    if len(set(found)) != len(found):
        raise ValueError(f"a column is asked for twice: {', '.join(found)}")
    return tuple(found)
