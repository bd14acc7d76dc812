"""The rows of a slice with log files that a reader may show: those of its files that no record in a log file hides.

    base file      its rows, without those that ``logged_versions`` finds hidden. A key that stands in two of its rows
                   hides none: readers merge a record with the first of them only
    log files      the records of their data blocks, without those that a later record hides. Deletions add no row

Every merged row is among them, whichever reader merges, and each is one stored version of its row. So statistics of
these rows hold for merged rows, and lack what updates and deletions took away. A number of rows is an upper limit.

Nothing is said (TableError, with the reason) of a slice with partial updates, rollbacks, blocks of instants that are
not known to be committed, ordering values of several types, or other bytes than were listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.types import Kind
from index_store.formats.log_file import CDC, COMMAND, DELETE, LogBlock, deleted_records, read_log_blocks
from index_store.own.builders.file_rows import ColumnRows, RowBatch, block_rows, parquet_rows
from index_store.own.builders.logged_versions import (
    LoggedRecords,
    LoggedVersions,
    Orderings,
    orderings_of,
    versions_of,
)
from index_store.own.store.merged_slices import MergedSlice
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.storage.storage import Storage
from index_store.table.file_slices import parse_log_name
from index_store.table.file_types import FileType
from index_store.table.row_precedence import RowPrecedence
from index_store.table.table_schema import RECORD_KEY

__all__ = ["surviving_rows"]

Mask = npt.NDArray[np.bool_]
#: The ordering value of a deletion that belongs to a column of each kind.
_KINDS = {
    Kind.INT: "int",
    Kind.BIGINT: "long",
    Kind.STRING: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.TIMESTAMP_LTZ: "timestamp",
}
_COMPARED = frozenset({*_KINDS, Kind.TINYINT, Kind.SMALLINT, Kind.DECIMAL})


def surviving_rows(
    storage: Storage, item: MergedSlice, size: int, names: Sequence[str], precedence: RowPrecedence
) -> Iterator[RowBatch]:
    """The rows of a slice, in batches. ``size``: the bytes of its files together. Raises TableError."""
    ordering = precedence.ordering
    wanted = list(dict.fromkeys([*names, RECORD_KEY, *([ordering] if ordering else [])]))
    logs, left = _read_logs(storage, item, wanted, precedence, size)
    types = {batch.columns[ordering].type for batch in logs.rows} if ordering else set()
    with naming_table(storage.absolute(item.path)):
        keeps_type = _OneType(ordering, types)
        versions = versions_of(
            [logs.records(block, keeps_type) for block in range(len(logs.blocks))],
            by_commit=precedence.by_commit,
            has_ordering=bool(ordering),
        )
    for batch, hidden in logs.with_rows(versions):
        yield _without(batch, hidden)
    if item.base_file is None:
        _check_size(storage, item, left)
        return
    try:
        with storage.input_file(item.base_file) as stream:
            _check_size(storage, item, left - stream.size())
            single = _single(stream, versions)
            for batch in parquet_rows(stream, wanted):
                if batch.rows:
                    yield _without(batch, _hidden(batch, versions, single, keeps_type))
    except (FormatError, OSError, pa.ArrowException) as error:
        raise TableError(storage.absolute(item.base_file), f"cannot be read: {error}") from error


def _check_size(storage: Storage, item: MergedSlice, left: int) -> None:
    if left:
        raise TableError(storage.absolute(item.path), f"its files have {-left:+,} bytes than were listed")


@dataclass(frozen=True, eq=False)
class _Logs:
    """The blocks of the log files of a slice that have records, and the rows of those with data, None for deletions."""

    blocks: tuple[LogBlock, ...]
    batches: tuple[RowBatch | None, ...]
    ordering: str

    @property
    def rows(self) -> list[RowBatch]:
        """The batches of the data blocks that have rows."""
        return [batch for batch in self.batches if batch is not None and batch.rows]

    def records(self, number: int, keeps_type: _OneType) -> LoggedRecords:
        """The records of a block. Raises FormatError."""
        block, batch = self.blocks[number], self.batches[number]
        if batch is None:
            return _deletions(block, keeps_type)
        if not batch.rows:
            return LoggedRecords(pa.array([], pa.large_binary()), Orderings.none(0), block.instant)
        return LoggedRecords(_keys(batch), keeps_type.orderings(batch), block.instant)

    def with_rows(self, versions: LoggedVersions) -> Iterator[tuple[RowBatch, Mask]]:
        """The batches that have rows, and which of them are hidden."""
        for batch, hidden in zip(self.batches, versions.hidden, strict=True):
            if batch is not None and batch.rows:
                yield batch, hidden


def _read_logs(
    storage: Storage, item: MergedSlice, names: Sequence[str], precedence: RowPrecedence, size: int
) -> tuple[_Logs, int]:
    """The blocks of the log files, and how many bytes are left for the base file."""
    blocks: list[LogBlock] = []
    batches: list[RowBatch | None] = []
    for path in item.log_files:
        data = storage.read(path)
        size -= len(data)
        with naming_table(storage.absolute(path)):
            for block in read_log_blocks(data):
                if block.type == CDC:
                    continue
                _check_block(block, path, precedence)
                blocks.append(block)
                batches.append(None if block.type == DELETE else block_rows(block, names))
    return _Logs(tuple(blocks), tuple(batches), precedence.ordering), size


def _check_block(block: LogBlock, path: str, precedence: RowPrecedence) -> None:
    """Raises FormatError for a block that a reader may pass over, or whose records are parts of rows."""
    if block.type == COMMAND:
        raise FormatError("a rollback is among its blocks")
    if block.is_partial:
        raise FormatError("partial updates")
    name = parse_log_name(path.rpartition("/")[2])
    if precedence.completed is None:
        if name is None or block.instant != name.instant:
            raise FormatError(f"a block of {block.instant} in a log file of another instant")
    elif block.instant not in precedence.completed:
        raise FormatError(f"a block of {block.instant}, which the timeline does not list as completed")


class _OneType:
    """The ordering values of batches, which all have to be of the type that those before had."""

    def __init__(self, ordering: str, types: set[FileType]) -> None:
        """Raises FormatError for several types, and for one whose values are not compared."""
        self._ordering = ordering
        self._type = types.pop() if types else None
        if types:
            raise FormatError(f"ordering field {ordering} has several types in the log files")
        if self._type is not None:
            self._check(self._type)

    def _check(self, of: FileType) -> None:
        if not of.is_known or of.unit == "nanos" or of.type.kind not in _COMPARED:
            raise FormatError(f"ordering field {self._ordering}: {of.why or of.text}")
        if of.type.kind is Kind.DECIMAL and of.type.precision > 18:
            raise FormatError(f"ordering field {self._ordering}: {of.text}")

    def orderings(self, batch: RowBatch) -> Orderings:
        """The ordering values of a batch with rows. Raises FormatError."""
        if not self._ordering:
            return Orderings.none(batch.rows)
        column = batch.columns[self._ordering]
        if self._type is None:
            self._check(column.type)
            self._type = column.type
        if column.type != self._type or column.values is None:
            raise FormatError(f"ordering field {self._ordering}: {column.type.text} beside {self._type.text}")
        return orderings_of(column.values)

    @property
    def deletion_kind(self) -> str:
        """The kind of the ordering values that deletions have, "" if it is not known."""
        return "" if self._type is None else _KINDS.get(self._type.type.kind, "")


def _deletions(block: LogBlock, keeps_type: _OneType) -> LoggedRecords:
    """The records of a DELETE block. One without an ordering value has the integer 0."""
    deleted = deleted_records(block.content)
    kind = keeps_type.deletion_kind
    values: list[Any] = [one.value if kind and one.kind == kind else None for one in deleted]
    plain = pa.array(
        [one.encode() if isinstance(one, str) else one for one in values],
        pa.large_binary() if kind == "string" else pa.int64(),
    )
    return LoggedRecords(
        pa.array([one.key.encode() for one in deleted], pa.large_binary()),
        orderings_of(plain),
        block.instant,
        final=np.array([one.kind == "int" and one.value == 0 for one in deleted], np.bool_),
    )


def _keys(batch: RowBatch) -> pa.Array:
    """The record keys of a batch with rows. Raises FormatError."""
    column = batch.columns[RECORD_KEY]
    if column.values is None or column.values.null_count or column.type.type.kind is not Kind.STRING:
        raise FormatError(f"a row without a record key: {column.type.why or column.type.text}")
    return column.values.cast(pa.large_binary())


def _single(stream: Any, versions: LoggedVersions) -> Mask:
    """``(k,)``: the logged keys that no two rows of an open base file have."""
    counts = np.zeros(len(versions.keys), np.int64)
    for batch in parquet_rows(stream, [RECORD_KEY]):
        if batch.rows:
            numbers = versions.indices(_keys(batch))
            counts += np.bincount(numbers[numbers >= 0], minlength=len(counts))
    return counts <= 1


def _hidden(batch: RowBatch, versions: LoggedVersions, single: Mask, keeps_type: _OneType) -> Mask:
    numbers = versions.indices(_keys(batch))
    numbers[numbers >= 0] = np.where(single[numbers[numbers >= 0]], numbers[numbers >= 0], -1)
    return versions.hides(numbers, keeps_type.orderings(batch))


def _without(batch: RowBatch, hidden: Mask) -> RowBatch:
    if not hidden.any():
        return batch
    kept = pa.array(~hidden)
    columns = {
        name: ColumnRows(one.type, None if one.values is None else one.values.filter(kept))
        for name, one in batch.columns.items()
    }
    return RowBatch(int((~hidden).sum()), columns)
