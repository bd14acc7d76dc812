"""Whether files of a slice with log files hold a value: from the values themselves, as a reader finds them.

A merged row has each of its values from one of the files of its slice, or NULL, where the table merges by a rule of
Hudi's (``merge_rule``, C3). Which one, an index need not know:

    row of the slice                                its value of the column is
    ----------------------------------------------  ----------------------------------------------------------
    its key is in no log file                       that of the base file
    updated, by whatever ordering                   that of the base file or of one of the log records
    updated in other columns only                   the same: a block without the column adds no value
    deleted, or the deletion has no effect          none, or one of the above
    in a block that was rolled back                 one of the above

So a slice has no row with a value that neither its base file nor any data block of its log files holds. Blocks count
whether they are valid or not. This needs no proof of an index, and no bytes but those that readers take the values
from. A file is unknown, and its slice is kept, where a reader may find another value than is stored: a column of
another type or unit, none where a reader fills in a default, text that is not UTF-8, a block that is not read.

Files are read for the slices that everything else leaves open, up to ``MAX_BYTES`` and ``MAX_FILES`` for one look-up,
and their values are kept for the next one, up to ``KEPT_BYTES``. Log files are read first: the base file of a slice
that must be kept is not. Tests: ``test_stored_values.py``, ``test_merged_values.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_arrow, to_binary
from evaluator.language.epoch import DAY, REBASED_DAYS
from evaluator.language.records import entity, record
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from index_store.kinds.column_stats.absent_columns import reads_as_null
from index_store.storage.errors import FormatError
from index_store.table.file_rows import ColumnRows, log_batches, parquet_rows
from index_store.table.file_types import ABSENT, fit_of
from index_store.table.plain_values import plain_type
from index_store.table.schema_history import read_name_history
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["Held", "StoredValues"]

#: Bytes of log files, and of the column in base files before compression, that one look-up reads.
MAX_BYTES = 64 << 20
#: Bytes of values that are kept for the next look-up.
KEPT_BYTES = 64 << 20
#: Files that one look-up reads.
MAX_FILES = 512
#: Slices whose files are read together, where each costs a round trip side by side.
SLICES_AT_ONCE = 16
#: Beside integers, the types of which equal values are equal bytes.
_KINDS = frozenset({Kind.STRING, Kind.VARCHAR, Kind.DATE, Kind.TIMESTAMP_LTZ})
#: What readers make of an ancient value is below this.
_LEAST = {Kind.DATE: ANCIENT_DAY + REBASED_DAYS, Kind.TIMESTAMP_LTZ: ANCIENT_MICROS + REBASED_DAYS * DAY}


@record
class Held:
    """The slices that may hold one of the values, and why some of them are among these unread; "" if none is."""

    slices: frozenset[int]
    why: str = ""


@entity
class _Values:
    """The distinct values of a column in a file that are not NULL, in plain form; ``why`` they are unknown."""

    distinct: pa.Array | None
    why: str = ""


@dataclass(slots=True)
class _LookUp:
    """What is left of the limits of one look-up, and why files were not looked into."""

    bytes_left: int
    files_left: int
    beyond: int = 0
    unknown: dict[str, None] = field(default_factory=dict)

    def takes(self, size: int | None) -> bool:
        """Whether a file of this size is read."""
        if size is None or size > self.bytes_left or not self.files_left:
            self.beyond += 1
            return False
        self.bytes_left -= size
        self.files_left -= 1
        return True

    @property
    def why(self) -> str:
        whys = list(self.unknown)[:1]
        if self.beyond:
            whys.append(
                f"of the files to look into {self.beyond:,} are beyond the {MAX_FILES} files and {MAX_BYTES >> 20} MiB "
                "that are read"
            )
        return "; ".join(whys)


class StoredValues:
    """Looks values up in the files of slices; each file of a column is read once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._read: dict[tuple[str, str], _Values] = {}
        self._room = KEPT_BYTES

    def look_up(self, column: Field, values: Sequence[object], files: Mapping[int, Sequence[str]]) -> Held:
        """Which slices may hold one of the non-null values of a column. Raises TableError for an unreadable file.

        ``files``: by slice the files to look into, base file or log files; a slice without any holds nothing.
        """
        wanted = _plain(column, values)
        if wanted is None or not self._is_stored(column):
            return Held(frozenset(files), f"the values of {column.name} are not those of the files" if files else "")
        held: set[int] = set()
        look_up = _LookUp(MAX_BYTES, MAX_FILES)
        self._begin(column, [path for paths in files.values() for path in paths])
        slice_indices = list(files)
        for start in range(0, len(slice_indices), SLICES_AT_ONCE):  # so that the last ones are beyond the limits
            some = slice_indices[start : start + SLICES_AT_ONCE]
            for is_wanted in (_is_log, _is_base):
                chosen = {one: [path for path in files[one] if is_wanted(path)] for one in some if one not in held}
                known = self._values(column, [path for paths in chosen.values() for path in paths], look_up)
                held.update(
                    slice_index
                    for slice_index, paths in chosen.items()
                    if any(_may_hold(known.get(path), wanted) for path in paths)
                )
        return Held(frozenset(held), look_up.why)

    def _is_stored(self, column: Field) -> bool:
        """Whether files have the values that readers compare: not what they take from a path, and of one column."""
        if column.name == RECORD_KEY:
            return True
        names = self._names
        return (
            column.name not in names.reused | names.renamed
            and reads_as_null(column, self._table, names.renamed)
            and (column.type.kind.is_integer or column.type.kind in _KINDS)
        )

    @cached_property
    def _names(self) -> Any:
        return read_name_history(self._table.storage)

    def _values(self, column: Field, paths: Sequence[str], look_up: _LookUp) -> Mapping[str, _Values]:
        """The values of a column in files, as far as they are read; each path once."""
        found = {path: self._read[path, column.name] for path in paths if (path, column.name) in self._read}
        missing = [path for path in dict.fromkeys(paths) if path not in found]
        read = {path: self._of_log_file(path, column, look_up) for path in missing if _is_log(path)}
        bases = [path for path in missing if _is_base(path)]
        self._table.footers.expect(bases)
        bases = [path for path in bases if look_up.takes(self._size(path, column.name))]
        read |= zip(bases, self._of_base_files(bases, column), strict=True)
        for path, values in read.items():
            if values is not None:
                found[path] = values
                self._keep(path, column.name, values)
        look_up.unknown.update(dict.fromkeys(one.why for one in found.values() if one.why))
        return found

    def _begin(self, column: Field, paths: Sequence[str]) -> None:
        """Start to read log files, as many as may be, where each costs a round trip."""
        logs = [path for path in paths if _is_log(path) and (path, column.name) not in self._read]
        self._table.storage.begin(logs[:MAX_FILES])

    def _size(self, path: str, name: str) -> int | None:
        """The bytes of the column in a base file before compression; None where the footer is not known."""
        footer = self._table.footers.read(path)
        if footer is None:
            return None
        places = [place for place in range(footer.num_columns) if footer.schema.column(place).path == name]
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        return sum(int(group.column(place).total_uncompressed_size) for group in groups for place in places)

    def _of_log_file(self, path: str, column: Field, look_up: _LookUp) -> _Values | None:
        """None where the file is beyond the limits."""
        with self._table.storage.open(path) as source:
            if not look_up.takes(source.size):
                return None
            data = source.read_at(0, source.size)
        return self._joined(path, column, lambda: _of_log(data, column.name))

    def _of_base_files(self, paths: Sequence[str], column: Field) -> Iterable[_Values]:
        """The values in base files, in their order; side by side where each costs a round trip."""

        def of_file(path: str) -> _Values:
            if not path.endswith(".parquet"):
                return _Values(None, f"{path} is not a Parquet file")
            read = partial(_of_base, name=column.name)
            return self._joined(path, column, lambda: self._table.storage.apply(path, read))

        if self._table.storage.is_local:
            return [of_file(path) for path in paths]
        with ThreadPoolExecutor(SLICES_AT_ONCE, "sargo-values") as pool:  # which starts no thread without a file
            return list(pool.map(of_file, paths))

    def _keep(self, path: str, name: str, values: _Values) -> None:
        size = 0 if values.distinct is None else values.distinct.nbytes
        if size > self._room:
            self._read.clear()
            self._room = KEPT_BYTES
        if size <= self._room:
            self._room -= size
            self._read[path, name] = values

    def _joined(self, path: str, column: Field, read: Callable[[], Iterable[ColumnRows]]) -> _Values:
        """The distinct values of all parts of a file."""
        try:
            return _Values(_distinct(read(), column, self._table.columns.units.get(column.name, "")))
        except (FormatError, _UnknownValuesError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            return _Values(None, f"{path}: {error}")


class _UnknownValuesError(Exception):
    """Why a reader may find other values of a column than a file holds."""


def _is_log(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


def _is_base(path: str) -> bool:
    return not _is_log(path)


def _of_log(data: bytes, name: str) -> list[ColumnRows]:
    parts = []
    for block, batch in log_batches(data, [name]):
        if batch is None:
            raise _UnknownValuesError(f"the rows of a block of type {block.type} are not read")
        parts.append(batch.columns[name])
    return parts


def _of_base(stream: Any, name: str) -> list[ColumnRows]:
    """The distinct values of each batch."""
    return [
        part if part.values is None else ColumnRows(part.type, part.values.unique())
        for batch in parquet_rows(stream, [name])
        for part in (batch.columns[name],)
    ]


def _distinct(parts: Iterable[ColumnRows], column: Field, unit: str) -> pa.Array:
    """The distinct values of all parts of a file that are not NULL. Raises _UnknownValuesError."""
    arrays = []
    for part in parts:
        if part.type == ABSENT and column.name != RECORD_KEY:
            continue  # NULL, or the value of another file: see ``_is_stored``
        if part.values is None:
            raise _UnknownValuesError(part.type.why or f"the column {column.name} is not there")
        if fit_of(part.type, column.type, unit) is not True:
            raise _UnknownValuesError(f"{column.name} is of type {part.type.text}")
        if column.name == RECORD_KEY and part.values.null_count:
            raise _UnknownValuesError("a row without a record key")
        arrays.append(part.values)
    return pc.drop_null(pa.chunked_array(arrays, plain_type(column.type)).unique())


def _plain(column: Field, values: Sequence[object]) -> pa.Array | None:
    """The values in plain form; None for one that has none, or is so old that readers may see another one."""
    plain = plain_type(column.type)
    least = _LEAST.get(column.type.kind, -math.inf)
    try:
        if pa.types.is_large_binary(plain) and all(isinstance(value, str) for value in values):
            return to_binary([str(value).encode("utf-8") for value in values])
        if pa.types.is_int64(plain) and all(type(value) is int and value >= least for value in values):
            return to_arrow(np.array(values, np.int64))
    except (UnicodeEncodeError, pa.ArrowInvalid, OverflowError):
        pass
    return None


def _may_hold(known: _Values | None, wanted: pa.Array) -> bool:
    if known is None or known.distinct is None:
        return True
    return bool(pc.any(pc.is_in(known.distinct, value_set=wanted)).as_py())
