"""Statistics of one column as stored arrays, and back: bounds, counts, trust, parts, and the index for searching.

    lo, hi, lo_known, hi_known, nulls, rows, trust      of each slice
    part.*, part_of                                     of each file of slices of several files
    index.*                                             the arrays of ``ColumnIndex.to_arrays``
    file.*                                              of each file, for uniting slices anew in a later state

Bounds that are Python objects in memory (text, binary, wide decimals) are read as ``StoredBounds``. A column of many
slices is packed (``evaluator.statistics.packing``): upper bounds beside the lower ones. The arrays of the index are
not: a search reads all of them. A column without statistics is stored as such, so that it is not read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xxhash

from evaluator.language.records import entity
from evaluator.language.schema import Field
from evaluator.language.types import Type
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, array_dtype
from evaluator.statistics.packed_texts import PackedDecimals
from evaluator.statistics.packing import pack_decimals, pack_numbers, pack_texts
from evaluator.statistics.stored_bounds import StoredBounds, is_bytes, is_storable, taken
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.snapshots.arrays_file import ArraysFile, Stored, UnusableError, write_arrays
from index_store.snapshots.private_folder import PrivateFile

__all__ = ["StoredColumn", "column_file_name", "open_column", "write_column"]

_COUNTS = ("nulls", "rows")
_FLAGS = ("lo_known", "hi_known")
_FILE_FLAGS = (*_FLAGS, "empty", "null_only")
_INDEX = "index"
#: What is the same in all slices.
_SAME = "same"
#: The array of ``FileStatistics.file_index``.
_FILE_INDEX = "file.place"
#: Arrays of fewer values are stored as they are.
_PACKED_FROM = 20_000
_BESIDE = {"hi": "lo", "hi_known": "lo_known", "nulls": "rows"}


@entity
class StoredColumn:
    """The stored statistics of one column (None: the kind has none), and those of its files."""

    statistics: ColumnStatistics | None
    files: FileStatistics | None


def column_file_name(kind: str, column: str) -> str:
    """The name of the file of a column."""
    return f"{kind}-{xxhash.xxh3_64_hexdigest(column.encode('utf-8', 'surrogatepass'))}.arrays"


def write_column(
    file: PrivateFile,
    kind: str,
    column: Field,
    n: int,
    statistics: ColumnStatistics | None,
    files: FileStatistics | None,
    version: str = "",
) -> None:
    """Write the statistics of a column in n slices, by a ``version`` of its index. Raises OSError."""
    arrays: dict[str, Stored] = {}
    about: dict[str, Any] = {**_about(kind, column, n, version), "known": statistics is not None}
    if statistics is not None:
        if statistics.index is not None:
            parts = statistics.index.to_arrays()
            plain = {name: part for name, part in parts.items() if not isinstance(part, np.ndarray)}
            about[_INDEX] = {name: part.hex() if isinstance(part, bytes) else part for name, part in plain.items()}
            tables = [(f"{_INDEX}.{name}", part) for name, part in parts.items() if isinstance(part, np.ndarray)]
            arrays.update(sorted(tables, key=lambda one: one[1].nbytes))  # what is checked when opened lies together
        arrays.update(_of_statistics(statistics, ""))
        if statistics.parts is not None:
            arrays.update(_of_statistics(statistics.parts.statistics, "part."))
            arrays["part_of"] = statistics.parts.slice_of
        about[_SAME] = statistics.uniform_flags
    if files is not None:
        arrays.update(_of_files(files))
    write_arrays(file, arrays, about)


def open_column(file: PrivateFile, kind: str, column: Field, n: int, version: str = "") -> StoredColumn:
    """Read the statistics of a column. Raises UnusableError for a missing, damaged or wrong file."""
    stored = ArraysFile.open(file, _about(kind, column, n, version))
    if stored.about.get("known") is not True:
        return StoredColumn(None, None)
    try:
        names = set(stored.names)
        statistics = _read_statistics(stored, "", column.type, n)
        if "part_of" in names:
            part_of = np.asarray(stored.array("part_of"))
            statistics = replace(
                statistics, parts=PartStatistics(_read_statistics(stored, "part.", column.type, len(part_of)), part_of)
            )
        if _INDEX in stored.about:
            statistics = replace(statistics, index=ColumnIndex.from_arrays(column.type, _read_index(stored)))
        statistics = statistics.knowing(stored.about[_SAME])
        files = _read_files(stored, column.type) if _FILE_INDEX in names else None
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableError(f"{file}: {error}") from error
    return StoredColumn(statistics, files)


def _read_index(stored: ArraysFile) -> dict[str, Any]:
    prefix = f"{_INDEX}."
    arrays = {name[len(prefix) :]: stored.array(name) for name in stored.names if name.startswith(prefix)}
    plain = stored.about[_INDEX]
    return {**arrays, **plain, "prefix": bytes.fromhex(plain["prefix"])}


def _about(kind: str, column: Field, n: int, version: str) -> Mapping[str, Any]:
    about = {"what": "column", "kind": kind, "column": column.name, "type": str(column.type), "slices": n}
    return {**about, "version": version} if version else about


def _of_statistics(one: ColumnStatistics, prefix: str) -> dict[str, Stored]:
    arrays = {name: getattr(one, name) for name in ("lo", "hi", *_FLAGS, "trust")}
    return _packed({**arrays, "rows": one.row_count, "nulls": one.null_count}, prefix, one.type)


def _packed(arrays: Mapping[str, Any], prefix: str, column_type: Type) -> dict[str, Stored]:
    """Arrays of equal length, each beside the one that it resembles."""
    found: dict[str, Stored] = {}
    for name, array in arrays.items():
        beside = found.get(prefix + _BESIDE.get(name, ""))
        found[prefix + name] = _stored(array, column_type, beside)
    return found


def _stored(values: Any, column_type: Type, beside: Stored | None) -> Stored:
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = StoredBounds.of(values, column_type)
    if isinstance(values, StoredBounds):
        if len(values) < _PACKED_FROM:
            return values.array if is_bytes(column_type) else PackedDecimals.plain(values.array)
        return (pack_texts if is_bytes(column_type) else pack_decimals)(values.array, beside)
    numbers = np.asarray(values)
    numbers = numbers.view(np.uint8) if numbers.dtype == np.bool_ else numbers
    return numbers if len(numbers) < _PACKED_FROM else pack_numbers(numbers, beside)


def _read_bound(stored: ArraysFile, name: str, column_type: Type, n: int) -> Any:
    if is_storable(column_type):
        return _checked(StoredBounds(stored.get(name), column_type), n)
    return _checked(stored.array(name), n, array_dtype(column_type))


def _checked(values: Any, n: int, dtype: Any = None) -> Any:
    if len(values) != n or (dtype is not None and values.dtype != dtype):
        raise ValueError("arrays do not fit together")
    return values


def _read_statistics(stored: ArraysFile, prefix: str, column_type: Type, n: int) -> ColumnStatistics:
    lo, hi = (_read_bound(stored, prefix + side, column_type, n) for side in ("lo", "hi"))
    lo_known, hi_known = (_flags(stored, prefix + name, n) for name in _FLAGS)
    nulls, rows = (_checked(stored.array(prefix + name), n, np.int64) for name in _COUNTS)
    return ColumnStatistics(
        column_type,
        lo,
        hi,
        lo_known=lo_known,
        hi_known=hi_known,
        null_count=nulls,
        row_count=rows,
        trust=np.asarray(_checked(stored.array(prefix + "trust"), n, np.uint8)),
    )


def _flags(stored: ArraysFile, name: str, n: int) -> Any:
    return np.asarray(_checked(stored.array(name), n, np.uint8)).view(np.bool_)


def _of_files(files: FileStatistics) -> dict[str, Stored]:
    order = np.argsort(files.file_index, kind="stable")
    names = ("lo", "hi", *_FILE_FLAGS, "rows", "nulls", "trust", "size")
    arrays = {name: taken(getattr(files, name), order) for name in names}
    return _packed({"place": files.file_index[order], **arrays}, "file.", files.type)


def _read_files(stored: ArraysFile, column_type: Type) -> FileStatistics:
    file_index = stored.array(_FILE_INDEX)
    m = len(file_index)
    lo, hi = (_read_bound(stored, f"file.{side}", column_type, m) for side in ("lo", "hi"))
    flags = {name: _flags(stored, f"file.{name}", m) for name in _FILE_FLAGS}
    counts: dict[str, Any] = {name: _checked(stored.array(f"file.{name}"), m, np.int64) for name in (*_COUNTS, "size")}
    return FileStatistics(
        type=column_type,
        file_index=np.asarray(file_index),
        lo=lo,
        hi=hi,
        trust=np.asarray(_checked(stored.array("file.trust"), m, np.uint8)),
        **flags,
        **counts,
    )
