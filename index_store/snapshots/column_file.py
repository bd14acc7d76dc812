"""Statistics of one column as stored arrays, and back: bounds, counts, trust, parts, and the index for searching.

    lo, hi, lo_known, hi_known, nulls, rows, trust      of each slice
    part.*, part_of                                     of each file of slices of several files
    index                                               the arrays of ``ColumnIndex.to_arrays``, packed into bytes
    file.*                                              of each file, for uniting slices anew in a later state

Bounds that are Python objects in memory (text, binary, wide decimals) are stored as Arrow arrays and read as
``StoredBounds``. A column without statistics is stored as such, so that it is not read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from evaluator.language.schema import Field
from evaluator.language.types import Type
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, array_dtype
from evaluator.statistics.stored_bounds import StoredBounds, is_storable
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.snapshots.arrays_file import ArraysFile, Stored, UnusableError, write_arrays
from index_store.snapshots.private_folder import PrivateFile

__all__ = ["StoredColumn", "column_file_name", "open_column", "write_column"]

_COUNTS = ("nulls", "rows")
_FLAGS = ("lo_known", "hi_known")
_FILE_FLAGS = (*_FLAGS, "empty", "null_only")
_INDEX = "index"
#: Whether NULL, and a value, may occur, where that is the same in all slices; a file of an older release has it not.
_SAME = "same"
#: The array of ``FileStatistics.file_index``.
_FILE_INDEX = "file.place"
_ALIGNMENT = 64


@dataclass(frozen=True, slots=True, eq=False)
class StoredColumn:
    """The stored statistics of one column (None: the kind has none), and those of its files."""

    statistics: ColumnStatistics | None
    files: FileStatistics | None


def column_file_name(kind: str, column: str) -> str:
    """The name of the file of a column."""
    return f"{kind}-{xxhash.xxh3_64_hexdigest(column.encode('utf-8', 'surrogatepass'))}.arrow"


def write_column(
    file: PrivateFile,
    kind: str,
    column: Field,
    n: int,
    statistics: ColumnStatistics | None,
    files: FileStatistics | None,
) -> None:
    """Write the statistics of a column in n slices. Raises OSError."""
    arrays: dict[str, Stored] = {}
    about = {**_about(kind, column, n), "known": statistics is not None}
    if statistics is not None:
        arrays.update(_of_statistics(statistics, ""))
        if statistics.parts is not None:
            arrays.update(_of_statistics(statistics.parts.statistics, "part."))
            arrays["part_of"] = statistics.parts.slice_of
        if statistics.index is not None:
            parts = statistics.index.to_arrays()
            arrays[_INDEX], about[_INDEX] = _packed(parts)
        flags = {"null": statistics.any_null, "value": statistics.any_value}
        about[_SAME] = {name: flag for name, flag in flags.items() if isinstance(flag, bool)}
    if files is not None:
        arrays.update(_of_files(files))
    write_arrays(file, arrays, about)


def open_column(file: PrivateFile, kind: str, column: Field, n: int) -> StoredColumn:
    """Read the statistics of a column. Raises UnusableError for a missing, damaged or wrong file."""
    stored = ArraysFile.open(file, _about(kind, column, n))
    if stored.about.get("known") is not True:
        return StoredColumn(None, None)
    try:
        names = set(stored.names)
        statistics = _read_statistics(stored, "", column.type, n)
        if "part_of" in names:
            part_of = stored.array("part_of")
            statistics = replace(
                statistics, parts=PartStatistics(_read_statistics(stored, "part.", column.type, len(part_of)), part_of)
            )
        if _INDEX in stored.about:
            statistics = replace(statistics, index=ColumnIndex.from_arrays(column.type, _read_index(stored)))
        same = stored.about.get(_SAME, {})
        statistics = statistics.knowing(same.get("null"), same.get("value"))
        files = _read_files(stored, column.type) if _FILE_INDEX in names else None
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableError(f"{file}: {error}") from error
    return StoredColumn(statistics, files)


def _packed(parts: Mapping[str, Any]) -> tuple[npt.NDArray[np.uint8], dict[str, Any]]:
    """The arrays of an index packed into one, and their types, offsets and lengths, for the file's metadata."""
    places: dict[str, tuple[str, int, int]] = {}
    end = 0
    for name, part in parts.items():
        if isinstance(part, np.ndarray):
            start = -(-end // _ALIGNMENT) * _ALIGNMENT
            places[name], end = (part.dtype.str, start, len(part)), start + part.nbytes
    packed = np.zeros(end, np.uint8)
    for name, (_, start, _) in places.items():
        packed[start : start + parts[name].nbytes] = parts[name].view(np.uint8)
    return packed, {
        "prefix": parts["prefix"].hex(),
        "key_bytes": parts["key_bytes"],
        "blocks.size": parts["blocks.size"],
        "arrays": places,
    }


def _read_index(stored: ArraysFile) -> dict[str, Any]:
    about, packed = stored.about[_INDEX], stored.array(_INDEX)
    found: dict[str, Any] = {
        name: np.ndarray((length,), dtype, packed.data, start)
        for name, (dtype, start, length) in about["arrays"].items()
    }
    return {
        **found,
        "prefix": bytes.fromhex(about["prefix"]),
        "key_bytes": int(about["key_bytes"]),
        "blocks.size": int(about["blocks.size"]),
    }


def _about(kind: str, column: Field, n: int) -> Mapping[str, Any]:
    return {"what": "column", "kind": kind, "column": column.name, "type": str(column.type), "slices": n}


def _bound(values: Any, column_type: Type) -> Stored:
    if isinstance(values, StoredBounds):
        return values.array
    return StoredBounds.of(values, column_type).array if is_storable(column_type) else values


def _read_bound(stored: ArraysFile, name: str, column_type: Type, n: int) -> Any:
    if is_storable(column_type):
        return _checked(StoredBounds(stored.arrow(name), column_type), n)
    return _checked(stored.array(name), n, array_dtype(column_type))


def _checked(values: Any, n: int, dtype: Any = None) -> Any:
    if len(values) != n or (dtype is not None and values.dtype != dtype):
        raise ValueError("arrays do not fit together")
    return values


def _of_statistics(one: ColumnStatistics, prefix: str) -> dict[str, Stored]:
    return {
        prefix + "lo": _bound(one.lo, one.type),
        prefix + "hi": _bound(one.hi, one.type),
        prefix + "lo_known": one.lo_known,
        prefix + "hi_known": one.hi_known,
        prefix + "nulls": one.null_count,
        prefix + "rows": one.row_count,
        prefix + "trust": one.trust,
    }


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
        trust=_checked(stored.array(prefix + "trust"), n, np.uint8),
    )


def _flags(stored: ArraysFile, name: str, n: int) -> Any:
    return _checked(stored.array(name), n, np.uint8).view(np.bool_)


def _of_files(files: FileStatistics) -> dict[str, Stored]:
    order = np.argsort(files.file_index, kind="stable")
    arrays: dict[str, Stored] = {
        _FILE_INDEX: files.file_index[order],
        "file.lo": _bound(files.lo[order], files.type),
        "file.hi": _bound(files.hi[order], files.type),
    }
    for name in (*_FILE_FLAGS, *_COUNTS, "trust", "size"):
        arrays[f"file.{name}"] = getattr(files, name)[order]
    return arrays


def _read_files(stored: ArraysFile, column_type: Type) -> FileStatistics:
    file_index = stored.array(_FILE_INDEX)
    m = len(file_index)
    lo, hi = (_read_bound(stored, f"file.{side}", column_type, m) for side in ("lo", "hi"))
    flags = {name: _flags(stored, f"file.{name}", m) for name in _FILE_FLAGS}
    counts = {name: _checked(stored.array(f"file.{name}"), m, np.int64) for name in (*_COUNTS, "size")}
    return FileStatistics(
        type=column_type,
        file_index=file_index,
        lo=lo,
        hi=hi,
        trust=_checked(stored.array("file.trust"), m, np.uint8),
        **flags,
        **counts,
    )
