"""File slices as arrays: the fields of ``FileSlice``, without an object for each of millions.

file_ids           ``(n,)`` texts
bases              ``(n,)`` texts: what follows the file id in the name of the base file
baseless           ascending rows without a base file; their text in ``bases`` is arbitrary
logs, log_starts   what follows a dot and the file id in the names of log files, those of slice i from log_starts[i] on
partitions         ``(p,)`` texts, sorted

Slices by partition and file id, as a table lists them, whose file ids begin with a UUID:

partition_starts   ``(p + 1,)``: the slices of partition j are those from partition_starts[j] on

Others:

partition          ``(n,) int32``: which of the partitions
groups             ``(n,) uint64``, sorted: hashes of partition and file id        group_rows  ``(n,) int32``: whose

Names that do not begin with the file id are stored whole: ``whole_bases``, ``whole_logs``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt
import xxhash

from evaluator.language.arrow_arrays import to_arrow, to_binary
from evaluator.statistics.packed_texts import Identifier, PackedTexts, joined, to_identifiers
from evaluator.statistics.packing import pack_numbers, pack_texts
from index_store.snapshots.arrays_file import Stored, UnusableError
from index_store.table.file_slices import FileSlice
from index_store.table.slice_paths import PathPart

__all__ = ["ChangedSlices", "StoredSlices", "slice_arrays"]

Rows = npt.NDArray[np.int64]
_ARRAYS = (
    *("file_ids", "bases", "whole_bases", "baseless", "logs", "whole_logs", "log_starts"),
    *("partitions", "partition_starts", "partition", "groups", "group_rows"),
)
#: The numbers that are packed; others are searched.
_READ_BY_ROW = ("log_starts", "partition", "group_rows")
#: Fewer slices are stored as they are.
_PACKED_FROM = 20_000
#: Slices that an iteration makes at a time.
_AT_ONCE = 4096


def slice_arrays(slices: Sequence[FileSlice]) -> dict[str, Stored]:
    """The arrays of some slices."""
    partitions = sorted({one.partition for one in slices})
    code = {partition: i for i, partition in enumerate(partitions)}
    codes = np.fromiter((code[one.partition] for one in slices), np.int32, len(slices))
    ids = [_bytes(one.file_id) for one in slices]
    bases = [_bytes((one.base_file or "").rpartition("/")[2]) for one in slices]
    counts = [len(one.log_files) for one in slices]
    logs = [_bytes(name.rpartition("/")[2]) for one in slices for name in one.log_files]
    owners = ids if not logs else [one for one, count in zip(ids, counts, strict=True) for _ in range(count)]
    file_ids = _texts(ids)
    numbers: dict[str, npt.NDArray[Any]] = {
        "baseless": np.array([row for row, base in enumerate(bases) if not base], np.int32),
        "log_starts": np.cumsum([0, *counts], dtype=np.int64),
    }
    if _is_ordered(file_ids, codes, ids):
        numbers["partition_starts"] = codes.searchsorted(np.arange(len(partitions) + 1)).astype(np.int64)
    else:
        hashes = np.fromiter((_group_hash(one.partition, one.file_id) for one in slices), np.uint64, len(slices))
        order = np.argsort(hashes, kind="stable")
        numbers |= {"partition": codes, "groups": hashes[order], "group_rows": order.astype(np.int32)}
    return {
        **{name: _numbers(array) if name in _READ_BY_ROW else array for name, array in numbers.items()},
        "file_ids": file_ids,
        "partitions": PackedTexts.plain(to_binary([_bytes(partition) for partition in partitions])),
        **_names("bases", bases, ids, b""),
        **_names("logs", logs, owners, b"."),
    }


def _names(kind: str, names: Sequence[bytes], ids: Sequence[bytes], lead: bytes) -> dict[str, Stored]:
    """Names of files, of which empty ones are absent, by what follows ``lead`` and the file id."""
    begins = [lead + one for one in ids]
    if not all(name.startswith(begin) for name, begin in zip(names, begins, strict=False) if name):
        return {f"whole_{kind}": _texts(names)}
    tails = [name[len(begin) :] for name, begin in zip(names, begins, strict=False)]
    present = next((tail for tail in tails if tail), b"")
    return {kind: _texts([tail or present for tail in tails])}


def _numbers(array: npt.NDArray[Any]) -> Stored:
    return array if len(array) < _PACKED_FROM else pack_numbers(array)


def _texts(texts: Sequence[bytes]) -> PackedTexts:
    array = to_binary(texts)
    return PackedTexts.plain(array) if len(texts) < _PACKED_FROM else pack_texts(array)


def _is_ordered(file_ids: PackedTexts, codes: npt.NDArray[np.int32], ids: Sequence[bytes]) -> bool:
    """Whether slices are in the order of partition and file id, and are found by the bytes of a UUID."""
    if not (len(ids) and isinstance(file_ids.parts[0], Identifier) and (codes[1:] >= codes[:-1]).all()):
        return False
    same_partition = (codes[1:] == codes[:-1]).tolist()
    return all(not same or a < b for same, a, b in zip(same_partition, ids[:-1], ids[1:], strict=True))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _group_hash(partition: str, file_id: str) -> int:
    return xxhash.xxh3_64_intdigest(_bytes(f"{partition}\0{file_id}"))


class _Slices(Sequence[FileSlice], ABC):
    """Slices that are made when they are used."""

    @abstractmethod
    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows, all at once."""

    @overload
    def __getitem__(self, index: int) -> FileSlice: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FileSlice]: ...

    def __getitem__(self, index: int | slice) -> FileSlice | Sequence[FileSlice]:
        rows = range(len(self))[index]  # raises IndexError
        return self.some(np.array([rows]))[0] if isinstance(rows, int) else self.some(np.array(rows, np.int64))

    def __iter__(self) -> Iterator[FileSlice]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.some(np.arange(start, min(start + _AT_ONCE, len(self))))


class Arrays(Protocol):
    """Where slices take their arrays from: an ``ArraysFile``, or memory after they were pickled."""

    @property
    def names(self) -> list[str]: ...

    def get(self, name: str) -> Any: ...


class _InMemory:
    """Arrays of slices that are not in a file."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays

    @property
    def names(self) -> list[str]:
        return list(self._arrays)

    def get(self, name: str) -> Any:
        return self._arrays[name]


class StoredSlices(_Slices):
    """The slices of an open file.

    Raises UnusableError when its arrays do not fit together, or the file is damaged.
    """

    def __init__(self, stored: Arrays) -> None:
        self._stored = stored
        names = set(stored.names)
        self._file_ids: PackedTexts = stored.get("file_ids")
        self._has_whole_bases, self._has_whole_logs = "whole_bases" in names, "whole_logs" in names
        self._bases: PackedTexts = stored.get("whole_bases" if self._has_whole_bases else "bases")
        self._logs: PackedTexts = stored.get("whole_logs" if self._has_whole_logs else "logs")
        self._baseless, self._log_starts = stored.get("baseless"), stored.get("log_starts")
        self._partition_starts: Rows | None = None
        if "partition_starts" in names:
            starts: Rows = stored.get("partition_starts")
            self._partition_starts, sizes = starts, {int(starts[-1])}
        else:
            self._partition, self._groups, self._group_rows = map(stored.get, ("partition", "groups", "group_rows"))
            sizes = {len(self._partition), len(self._groups), len(self._group_rows)}
        if sizes | {len(self._bases), len(self._log_starts) - 1} != {len(self._file_ids)}:
            raise UnusableError("slices whose arrays do not fit together")

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        """The paths of all partitions, sorted."""
        return tuple(map(_text, self._stored.get("partitions").arrow().to_pylist()))

    def __len__(self) -> int:
        return len(self._file_ids)

    def _partitions_of(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._partition_starts is None:
            codes: npt.NDArray[Any] = self._partition[rows]
            return codes
        return self._partition_starts.searchsorted(rows, "right") - 1

    def _has_base(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        if not len(self._baseless):
            return np.ones(len(rows), np.bool_)
        at = np.minimum(self._baseless.searchsorted(rows), len(self._baseless) - 1)
        has_base: npt.NDArray[np.bool_] = self._baseless[at] != rows
        return has_base

    def files_before(self, rows: npt.NDArray[Any]) -> Rows:
        """How many files the slices before each of these rows have; a row may be the number of slices."""
        files: Rows = self._log_starts[rows] + rows - self._baseless.searchsorted(rows)
        return files

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows, all at once."""
        ids, bases = self._file_ids.at(rows), self._bases.at(rows)
        starts, ends = self._log_starts[rows], self._log_starts[rows + 1]
        with_logs = np.flatnonzero(starts < ends)
        logs = {
            position: self._log_names(ids[position], starts[position], ends[position])
            for position in with_logs.tolist()
        }
        found = []
        columns = (self._partitions_of(rows).tolist(), self._has_base(rows).tolist(), ids, bases)
        for position, (code, has_base, file_id, base) in enumerate(zip(*columns, strict=True)):
            partition = self.partitions[code]
            prefix = f"{partition}/" if partition else ""
            identity, tail = _text(file_id), _text(base) if has_base else ""
            name = prefix + (tail if self._has_whole_bases else identity + tail)
            log_names = tuple(prefix + log for log in logs[position]) if position in logs else ()
            found.append(FileSlice(partition, identity, name if has_base else None, log_names))
        return found

    def _log_names(self, file_id: bytes | memoryview, start: int, end: int) -> list[str]:
        begin = "" if self._has_whole_logs else f".{_text(file_id)}"
        return [begin + _text(tail) for tail in self._logs.at(np.arange(start, end))]

    def path_parts(self, rows: npt.NDArray[Any], root: str, log_files: bool) -> list[PathPart]:
        """Paths of base files, then of log files, each with the position of its slice (``table.slice_paths``)."""
        folders = to_binary([_bytes(f"{root}{one}/" if one else root) for one in self.partitions])
        codes, has_base = self._partitions_of(rows), self._has_base(rows)
        positions = np.flatnonzero(has_base)
        chosen: npt.NDArray[Any] | None = rows[positions]
        if len(positions) == len(self) and (rows[1:] > rows[:-1]).all():
            chosen = None
        ids = [] if self._has_whole_bases else self._file_ids.pieces(chosen)
        paths = joined(folders.take(to_arrow(codes[positions])), *ids, *self._bases.pieces(chosen))
        parts: list[PathPart] = [(paths, positions)]
        if not (log_files and len(self._logs)):
            return parts
        starts = self._log_starts[rows]
        counts = self._log_starts[rows + 1] - starts
        if counts.any():
            positions = np.repeat(np.arange(len(rows)), counts)
            places = np.arange(len(positions)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
            ids = [] if self._has_whole_logs else [to_binary([b"."])[0], *self._file_ids.pieces(rows[positions])]
            paths = joined(folders.take(to_arrow(codes[positions])), *ids, *self._logs.pieces(places))
            parts.append((paths, positions))
        return parts

    def __reduce__(self) -> tuple[Any, ...]:
        names = set(self._stored.names)
        return StoredSlices, (_InMemory({name: self._stored.get(name) for name in _ARRAYS if name in names}),)

    def rows_of(self, groups: Sequence[tuple[str, str]]) -> Rows:
        """``(k,) int64``: which slice each (partition, file id) is, or -1."""
        wanted = [(partition, _bytes(file_id)) for partition, file_id in groups]
        if self._partition_starts is None:
            hashes = np.fromiter((_group_hash(*group) for group in groups), np.uint64, len(groups))
            first, last = self._groups.searchsorted(hashes, "left"), self._groups.searchsorted(hashes, "right")
        else:
            first, last = self._among_identifiers(wanted, self._partition_starts)
        counts = last - first
        asked = np.repeat(np.arange(len(groups)), counts)
        rows = np.arange(len(asked)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        if self._partition_starts is None:
            rows = self._group_rows[rows].astype(np.int64)
        found = np.full(len(groups), -1, np.int64)
        columns = (asked.tolist(), rows.tolist(), self._partitions_of(rows).tolist(), self._file_ids.at(rows))
        for number, row, code, file_id in zip(*columns, strict=True):
            if wanted[number] == (self.partitions[code], bytes(file_id)):
                found[number] = row
        return found

    def _among_identifiers(self, wanted: Sequence[tuple[str, bytes]], starts: Rows) -> tuple[Rows, Rows]:
        """For each partition and file id, the first row and the last (exclusive) of an equal half of a UUID."""
        number_of = {partition: number for number, partition in enumerate(self.partitions)}
        codes = np.fromiter((number_of.get(partition, -1) for partition, _ in wanted), np.int64, len(wanted))
        keys, is_identifier = _halves_of_identifiers([file_id for _, file_id in wanted])
        known = (codes >= 0) & is_identifier
        low, high = np.where(known, starts[codes], 0), np.where(known, starts[codes + 1], 0)
        identifiers = self._file_ids.parts[0]
        assert isinstance(identifiers, Identifier)
        stored = identifiers.identifiers.view(">u8")[:, 0]
        return _bisected(stored, keys, low, high, np.less), _bisected(stored, keys, low, high, np.less_equal)


def _halves_of_identifiers(file_ids: Sequence[bytes]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """``(k,)``: the first eight bytes of the UUIDs that file ids begin with, and whether they begin with one."""
    whole = b"".join([one[:36] if len(one) >= 36 else bytes(36) for one in file_ids])
    identifiers, is_identifier = to_identifiers(np.frombuffer(whole, np.uint8).reshape(-1, 36))
    return identifiers.view(">u8")[:, 0].astype(np.uint64), is_identifier


def _bisected(stored: npt.NDArray[Any], keys: npt.NDArray[np.uint64], low: Rows, high: Rows, below: np.ufunc) -> Rows:
    """For each key, the first row from ``low`` on, or ``high``, whose stored key is not ``below`` it; between, they
    ascend.
    """
    while (is_open := low < high).any():
        middle = (low + high) // 2
        goes_up = is_open & below(stored[np.where(is_open, middle, 0)], keys)
        low, high = np.where(goes_up, middle + 1, low), np.where(is_open & ~goes_up, middle, high)
    return low


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
