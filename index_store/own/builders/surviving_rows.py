"""The rows of a slice with log files that a reader may show: those of its files that no record in a log file hides.

    base file      its rows, without those that ``logged_versions`` finds hidden. A key that stands in two of its rows
                   hides none: readers merge a record with the first of them only
    log files      the records of their data blocks, without those that a later record hides. Deletions add no row

Every merged row is among them, whichever reader merges, and each is one stored version of its row. So statistics of
these rows hold for merged rows, and lack what updates and deletions took away. A number of rows is an upper limit. The
two parts are kept apart, because a filter that falls between their values skips the slice.

Nothing is said (TableError, with the reason) of a slice with partial updates, rollbacks, blocks of instants that are
not known to be committed, ordering values of several types, or other bytes than were listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from evaluator.language.types import Kind
from index_store.formats.log_file import CDC, COMMAND, DELETE, LogBlock, deleted_records, read_log_blocks
from index_store.own.builders.logged_versions import (
    LoggedRecords,
    LoggedVersions,
    Orderings,
    orderings_of,
    versions_of,
)
from index_store.own.store.merged_slices import MergedPart
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.storage.storage import Storage
from index_store.table.file_rows import ColumnRows, RowBatch, block_rows, parquet_rows
from index_store.table.file_slices import parse_log_name
from index_store.table.file_types import FileType
from index_store.table.row_precedence import RowPrecedence
from index_store.table.table_schema import RECORD_KEY

__all__ = ["MergedSlice", "merge_slice"]

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


@frozen(slots=False, eq=False)
class MergedSlice:
    """The log files of a slice, read and compared. ``log_bytes`` is their size."""

    storage: Storage
    part: MergedPart
    names: tuple[str, ...]
    log_bytes: int
    batches: tuple[RowBatch | None, ...]
    versions: LoggedVersions
    ordering: _OneType

    def rows_of(self, part: MergedPart, size: int) -> Iterator[RowBatch]:
        """The rows of a part that are left, in batches; ``size``: the bytes of its files, as they were listed.

        Raises TableError, also for files of another size.
        """
        if not part.of_base:
            self._check_size(self.log_bytes, size)
            for batch, hidden in zip(self.batches, self.versions.hidden, strict=True):
                if batch is not None and batch.rows:
                    yield _without(batch, hidden)
            return
        assert part.base is not None
        try:
            with self.storage.input_file(part.base) as stream:
                self._check_size(self.log_bytes + stream.size(), size)
                single = _single(stream, self.versions)
                for batch in parquet_rows(stream, self.names):
                    if batch.rows:
                        yield _without(batch, _hidden(batch, self.versions, single, self.ordering))
        except (FormatError, OSError, pa.ArrowException) as error:
            raise TableError(self.storage.absolute(part.base), f"cannot be read: {error}") from error

    def _check_size(self, found: int, listed: int) -> None:
        if found != listed:
            raise TableError(
                self.storage.absolute(self.part.path), f"its files have {found:,} bytes, and {listed:,} were listed"
            )


def merge_slice(storage: Storage, part: MergedPart, names: Sequence[str], precedence: RowPrecedence) -> MergedSlice:
    """Read the log files of a slice, with these columns. Raises TableError."""
    ordering = precedence.ordering
    wanted = tuple(dict.fromkeys([*names, RECORD_KEY, *([ordering] if ordering else [])]))
    blocks: list[LogBlock] = []
    batches: list[RowBatch | None] = []
    log_bytes = 0
    for path in part.logs:
        data = storage.read(path)
        log_bytes += len(data)
        with naming_table(storage.absolute(path)):
            for block in read_log_blocks(data):
                if block.type == CDC:
                    continue
                _check_block(block, path, precedence)
                blocks.append(block)
                batches.append(None if block.type == DELETE else block_rows(block, wanted))
    with naming_table(storage.absolute(part.path)):
        of_rows = [batch.columns[ordering].type for batch in batches if ordering and batch is not None and batch.rows]
        one_type = _OneType(ordering, set(of_rows))
        records = [
            _deletions(block, one_type) if batch is None else _records(block, batch, one_type)
            for block, batch in zip(blocks, batches, strict=True)
        ]
    versions = versions_of(records, by_commit=precedence.by_commit, has_ordering=bool(ordering))
    return MergedSlice(storage, part, wanted, log_bytes, tuple(batches), versions, one_type)


def _records(block: LogBlock, batch: RowBatch, ordering: _OneType) -> LoggedRecords:
    """The records of a data block. Raises FormatError."""
    if not batch.rows:
        return LoggedRecords(pa.array([], pa.large_binary()), Orderings.none(0), block.instant)
    return LoggedRecords(_keys(batch), ordering.orderings(batch), block.instant)


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


def _deletions(block: LogBlock, ordering: _OneType) -> LoggedRecords:
    """The records of a DELETE block. One without an ordering value has the integer 0."""
    deleted = deleted_records(block.content)
    kind = ordering.deletion_kind
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


def _hidden(batch: RowBatch, versions: LoggedVersions, single: Mask, ordering: _OneType) -> Mask:
    numbers = versions.indices(_keys(batch))
    numbers[numbers >= 0] = np.where(single[numbers[numbers >= 0]], numbers[numbers >= 0], -1)
    return versions.hides(numbers, ordering.orderings(batch))


def _without(batch: RowBatch, hidden: Mask) -> RowBatch:
    if not hidden.any():
        return batch
    kept = pa.array(~hidden)
    columns = {
        name: ColumnRows(one.type, None if one.values is None else one.values.filter(kept))
        for name, one in batch.columns.items()
    }
    return RowBatch(int((~hidden).sum()), columns)
