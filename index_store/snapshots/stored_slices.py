"""File slices as arrays: the fields of ``FileSlice``, without an object for each of millions.

partitions  (p,) Arrow, sorted       partition  (n,) int32: which of them
file_ids    (n,) Arrow               bases      (n,) Arrow: the base file's name, empty if there is none
log_starts  (n + 1,) int64           logs       Arrow: names of log files, those of slice i from log_starts[i] on
groups      (n,) uint64, sorted: hashes of partition and file id        group_rows  (n,) int32: whose they are
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import binary_at, to_arrow, to_binary, to_numpy
from index_store.snapshots.arrays_file import Stored, UnusableError
from index_store.table.file_slices import FileSlice
from index_store.table.slice_paths import PathPart, joined_paths

__all__ = ["ChangedSlices", "StoredSlices", "slice_arrays"]

Rows = npt.NDArray[np.int64]
_NAMES = ("partitions", "file_ids", "bases", "logs")
_NUMBERS = {"partition": np.int32, "log_starts": np.int64, "groups": np.uint64, "group_rows": np.int32}


def slice_arrays(slices: Sequence[FileSlice]) -> dict[str, Stored]:
    """The arrays of some slices."""
    partitions = sorted({one.partition for one in slices})
    code = {partition: i for i, partition in enumerate(partitions)}
    logs = [name.rpartition("/")[2] for one in slices for name in one.log_files]
    hashes = np.fromiter((_group_hash(one.partition, one.file_id) for one in slices), np.uint64, len(slices))
    order = np.argsort(hashes, kind="stable")
    return {
        "partitions": _binary(partitions),
        "partition": np.array([code[one.partition] for one in slices], np.int32),
        "file_ids": _binary([one.file_id for one in slices]),
        "bases": _binary([(one.base_file or "").rpartition("/")[2] for one in slices]),
        "log_starts": np.cumsum([0, *(len(one.log_files) for one in slices)], dtype=np.int64),
        "logs": _binary(logs),
        "groups": hashes[order],
        "group_rows": order.astype(np.int32),
    }


def _binary(texts: Sequence[str]) -> pa.Array:
    return to_binary([text.encode("utf-8", "surrogatepass") for text in texts])


def _group_hash(partition: str, file_id: str) -> int:
    return xxhash.xxh3_64_intdigest(f"{partition}\0{file_id}".encode("utf-8", "surrogatepass"))


class _Slices(Sequence[FileSlice], ABC):
    """Slices that are made one by one, when they are used."""

    @abstractmethod
    def _slice(self, row: int) -> FileSlice:
        """The slice at a row, which exists."""

    @overload
    def __getitem__(self, index: int) -> FileSlice: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FileSlice]: ...

    def __getitem__(self, index: int | slice) -> FileSlice | Sequence[FileSlice]:
        rows = range(len(self))[index]  # raises IndexError
        return self._slice(rows) if isinstance(rows, int) else [self._slice(row) for row in rows]


class Arrays(Protocol):
    """Where slices take their arrays from: an ``ArraysFile``, or memory after they were pickled."""

    def array(self, name: str) -> npt.NDArray[Any]: ...

    def arrow(self, name: str) -> pa.Array: ...


class _InMemory:
    """The arrays of slices that another process pickled."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays

    def array(self, name: str) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = self._arrays[name]
        return found

    def arrow(self, name: str) -> pa.Array:
        return self._arrays[name]


class StoredSlices(_Slices):
    """The slices of an open file.

    Raises UnusableError when its arrays do not fit together, or the file is damaged.
    """

    def __init__(self, stored: Arrays) -> None:
        self._stored = stored
        numbers = {name: stored.array(name) for name in _NUMBERS}
        self.partition_codes: npt.NDArray[np.int32] = numbers["partition"]
        self._log_starts, self._groups, self._group_rows = (
            numbers[name] for name in ("log_starts", "groups", "group_rows")
        )
        n = len(self.partition_codes)
        sizes = {len(self._groups), len(self._group_rows), len(self._log_starts) - 1}
        if sizes != {n} or any(numbers[name].dtype != dtype for name, dtype in _NUMBERS.items()):
            raise UnusableError("slices whose arrays do not fit together")

    @cached_property
    def _names(self) -> dict[str, Any]:
        found = {name: self._stored.arrow(name) for name in _NAMES}
        if {len(found["file_ids"]), len(found["bases"])} != {len(self)}:
            raise UnusableError("slices whose arrays do not fit together")
        return found

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        """The paths of all partitions, sorted."""
        return tuple(map(_text, self._names["partitions"].to_pylist()))

    @property
    def base_names(self) -> pa.Array:
        """``(n,)`` Arrow binary: names of base files, empty where there is none."""
        return self._names["bases"]

    @cached_property
    def file_starts(self) -> Rows:
        """``(n + 1,)``: how many files the slices before each have."""
        has_base = np.diff(np.frombuffer(self.base_names.buffers()[1], np.int64)[: len(self) + 1]) > 0
        found: Rows = self._log_starts + np.concatenate(([0], np.cumsum(has_base)))
        return found

    def __len__(self) -> int:
        return len(self.partition_codes)

    def _slice(self, row: int) -> FileSlice:
        partition = self.partitions[self.partition_codes[row]]
        prefix = f"{partition}/" if partition else ""
        base = _text(self._names["bases"][row].as_py())
        logs = self._names["logs"][int(self._log_starts[row]) : int(self._log_starts[row + 1])].to_pylist()
        return FileSlice(
            partition,
            _text(self._names["file_ids"][row].as_py()),
            prefix + base if base else None,
            tuple(prefix + _text(name) for name in logs),
        )

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows, all at once."""
        file_ids, bases = (binary_at(self._names[name], rows) for name in ("file_ids", "bases"))
        logged = self._log_starts[rows] < self._log_starts[rows + 1]
        found = []
        for number, (row, code, file_id, base) in enumerate(
            zip(rows.tolist(), self.partition_codes[rows].tolist(), file_ids, bases, strict=True)
        ):
            if logged[number]:
                found.append(self._slice(row))
                continue
            partition = self.partitions[code]
            prefix = f"{partition}/" if partition else ""
            found.append(FileSlice(partition, _text(file_id), prefix + _text(base)))
        return found

    def path_parts(self, rows: npt.NDArray[Any], root: str, log_files: bool) -> list[PathPart]:
        """Paths of base files, then of log files, each with the position of its slice (``table.slice_paths``)."""
        folders = _binary([f"{root}{one}/" if one else root for one in self.partitions])
        codes, positions = self.partition_codes[rows], np.arange(len(rows))
        names = self.base_names if len(rows) == len(self) else self.base_names.take(to_arrow(rows))
        has_base = to_numpy(pc.greater(pc.binary_length(names), 0))
        if not has_base.all():
            names, codes, positions = names.filter(to_arrow(has_base)), codes[has_base], positions[has_base]
        parts: list[PathPart] = [(joined_paths(folders, codes, names), positions)]
        starts = self._log_starts[rows]
        counts = self._log_starts[rows + 1] - starts
        if log_files and counts.any():
            positions = np.repeat(np.arange(len(rows)), counts)
            places = np.arange(len(positions)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
            logs = self._names["logs"].take(to_arrow(places))
            parts.append((joined_paths(folders, self.partition_codes[rows][positions], logs), positions))
        return parts

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {name: self._stored.array(name) for name in _NUMBERS} | self._names
        return StoredSlices, (_InMemory(arrays),)

    def rows_of(self, groups: Sequence[tuple[str, str]]) -> Rows:
        """``(k,) int64``: which slice each (partition, file id) is, or -1."""
        wanted = np.fromiter((_group_hash(*group) for group in groups), np.uint64, len(groups))
        positions = self._groups.searchsorted(wanted, "left")
        found = np.full(len(groups), -1, np.int64)
        inside = np.flatnonzero(positions < len(self._groups))
        inside = inside[self._groups[positions[inside]] == wanted[inside]]
        rows = self._group_rows[positions[inside]].astype(np.int64)
        file_ids = binary_at(self._names["file_ids"], rows)
        for i, row, code, file_id in zip(
            inside.tolist(), rows.tolist(), self.partition_codes[rows].tolist(), file_ids, strict=True
        ):
            if (self.partitions[code], _text(file_id)) == groups[i]:
                found[i] = row
            else:
                raise UnusableError("two file groups of one hash")
        return found


class ChangedSlices(_Slices):
    """The live slices of a base, and behind them those of a delta."""

    def __init__(self, base: StoredSlices, tombstoned: Rows, delta: Sequence[FileSlice]) -> None:
        """``tombstoned``: rows of the base that are gone, ascending."""
        self.base = base
        self.tombstoned = tombstoned
        self.delta = delta
        #: The number of live rows of the base before each tombstoned one.
        self._live_before = tombstoned - np.arange(len(tombstoned))

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        """The paths of all partitions of the base and the delta."""
        return tuple(dict.fromkeys((*self.base.partitions, *(one.partition for one in self.delta))))

    def __len__(self) -> int:
        return len(self.base) - len(self.tombstoned) + len(self.delta)

    def _slice(self, row: int) -> FileSlice:
        live = len(self.base) - len(self.tombstoned)
        if row >= live:
            return self.delta[row - live]
        return self.base[row + int(np.searchsorted(self._live_before, row, "right"))]

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows, all at once."""
        live = len(self.base) - len(self.tombstoned)
        in_base = rows < live
        live_rows = rows[in_base]
        base = iter(self.base.some(live_rows + np.searchsorted(self._live_before, live_rows, "right")))
        delta = iter([self.delta[row] for row in (rows[~in_base] - live).tolist()])
        return [next(base if is_base else delta) for is_base in in_base.tolist()]

    def path_parts(self, rows: npt.NDArray[Any], root: str, log_files: bool) -> list[PathPart]:
        """As ``StoredSlices.path_parts``."""
        live = len(self.base) - len(self.tombstoned)
        in_base = rows < live
        live_rows = rows[in_base]
        of_base = self.base.path_parts(
            live_rows + np.searchsorted(self._live_before, live_rows, "right"), root, log_files
        )
        delta = self.delta if isinstance(self.delta, StoredSlices) else _as_stored(self.delta)
        of_delta = delta.path_parts(rows[~in_base] - live, root, log_files)
        places, delta_places = np.flatnonzero(in_base), np.flatnonzero(~in_base)
        return [
            *((paths, places[positions]) for paths, positions in of_base),
            *((paths, delta_places[positions]) for paths, positions in of_delta),
        ]


def _as_stored(slices: Sequence[FileSlice]) -> StoredSlices:
    return StoredSlices(_InMemory(slice_arrays(slices)))


def _text(data: Any) -> str:
    return str(data, "utf-8", "surrogatepass")
