"""The valid records of one column after all layers of the metadata table; later records are merged onto earlier ones.

``HoodieTableMetadataUtil.mergeColumnStatsRecords``, for the records of one key, oldest first:

    a removed key                    removes earlier records
    a record marked as deleted       removes earlier records, and the file has no statistics
    a record of tight bounds         replaces earlier records
    any other record                 widens earlier records: both are valid

Most keys have one record, which stays in columns; only records that widen each other are merged one by one.

Facts: docs/facts/hudi-metadata-table.md#merging-records-of-the-metadata-table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow, to_binary, to_numpy
from evaluator.language.records import entity
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.stats_columns import StatsColumns
from index_store.formats.stats_reader import Single

__all__ = ["Latest", "Versions"]


class Latest(NamedTuple):
    """The valid records: in columns, or single ones by key; and the keys and files that are marked as deleted."""

    columns: tuple[StatsColumns, ...]
    records: tuple[tuple[bytes, StatsRecord], ...]
    deleted: tuple[tuple[bytes, bytes], ...]


@dataclass(slots=True)
class Versions:
    """The records of one column, oldest first."""

    found: list[StatsColumns | Single] = field(default_factory=list)

    def add(self, part: StatsColumns | Single) -> None:
        """Add newer records."""
        self.found.append(part)

    def remove(self, key: bytes) -> None:
        """Remove the earlier records of a key."""
        self.found.append(Single(key, None))

    def latest(self) -> Latest:
        """The records that are valid after all that was added and removed."""
        if not any(isinstance(part, StatsColumns) for part in self.found):
            return _one_by_one(part for part in self.found if isinstance(part, Single))
        if len(self.found) == 1 and isinstance(part := self.found[0], StatsColumns) and _is_plain(part):
            return Latest((part,), (), ())
        return _merged(self.found)


def _one_by_one(found: Iterator[Single]) -> Latest:
    records: dict[bytes, list[StatsRecord]] = {}
    deleted: dict[bytes, bytes] = {}
    for key, record in found:
        if record is None:
            records.pop(key, None)
        elif record.deleted:
            records.pop(key, None)
            deleted[key] = record.file_name
        else:
            deleted.pop(key, None)
            there = records.get(key)
            if there is None or record.tight:
                records[key] = [record]
            elif record not in there:
                there.append(record)
    return Latest((), tuple((key, record) for key, some in records.items() for record in some), tuple(deleted.items()))


def _is_plain(part: StatsColumns) -> bool:
    """No record is marked as deleted, and the keys ascend, so that none comes twice."""
    if part.deleted.any():
        return False
    size = part.keys.shape[1]
    keys = np.ascontiguousarray(part.keys).view(f"S{size}").ravel()
    return bool((keys[1:] > keys[:-1]).all())


def _merged(found: Sequence[StatsColumns | Single]) -> Latest:
    parts = list(_runs(found))
    keys = _codes(parts)
    count = int(keys.max(initial=-1)) + 1
    deleted = np.concatenate([part.deleted for part in parts])
    removed = np.concatenate([part.removed for part in parts])
    tight = np.concatenate([part.tight for part in parts])
    position = np.arange(len(keys))
    since = _last(keys, position, deleted | removed | tight, count)
    counting = (position >= since[keys]) & ~deleted & ~removed
    several = (np.bincount(keys[counting], minlength=count) > 1)[keys]
    gone = deleted & (_last(keys, position, ~removed, count)[keys] == position)
    columns: list[StatsColumns] = []
    records: list[tuple[bytes, StatsRecord]] = []
    marked: list[tuple[bytes, bytes]] = []
    widening: list[Single] = []
    start = 0
    for part in parts:
        chosen = slice(start, start + len(part.deleted))
        start = chosen.stop
        one, more = counting[chosen] & ~several[chosen], counting[chosen] & several[chosen]
        marked.extend(part.names(np.flatnonzero(gone[chosen])))
        widening.extend(part.singles(np.flatnonzero(more)))
        if isinstance(part.stored, StatsColumns):
            if one.any():
                columns.append(part.stored if one.all() else part.stored.take(np.flatnonzero(one)))
        else:
            records.extend((key, record) for key, record in part.singles(np.flatnonzero(one)) if record is not None)
    return Latest(tuple(columns), (*records, *_one_by_one(iter(widening)).records), tuple(marked))


@entity
class _Run:
    """Columns, or single records in a row, with what decides about them."""

    stored: StatsColumns | list[Single]
    deleted: npt.NDArray[np.bool_]
    removed: npt.NDArray[np.bool_]
    tight: npt.NDArray[np.bool_]

    def singles(self, rows: npt.NDArray[np.intp]) -> list[Single]:
        stored = self.stored
        if isinstance(stored, StatsColumns):
            return [Single(stored.key(row), stored.record(row)) for row in rows.tolist()]
        return [stored[row] for row in rows.tolist()]

    def names(self, rows: npt.NDArray[np.intp]) -> list[tuple[bytes, bytes]]:
        """Keys and file names."""
        stored = self.stored
        if isinstance(stored, StatsColumns):
            names = stored.names.take(to_arrow(rows)).to_pylist() if len(rows) else []
            return list(zip((stored.key(row) for row in rows.tolist()), names, strict=True))
        return [(key, record.file_name) for key, record in (stored[row] for row in rows.tolist()) if record is not None]

    def keys(self) -> Any:
        if isinstance(self.stored, StatsColumns):
            fixed = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(self.stored.keys.shape[1]),
                len(self.stored),
                [None, pa.py_buffer(np.ascontiguousarray(self.stored.keys))],
            )
            return fixed.cast(pa.binary())
        return to_binary([single.key for single in self.stored]).cast(pa.binary())


def _runs(found: Sequence[StatsColumns | Single]) -> Iterator[_Run]:
    singles: list[Single] = []
    for part in found:
        if isinstance(part, Single):
            singles.append(part)
            continue
        if singles:
            yield _run_of(singles)
            singles = []
        yield _Run(part, part.deleted, np.zeros(len(part), np.bool_), part.tight)
    if singles:
        yield _run_of(singles)


def _run_of(singles: list[Single]) -> _Run:
    records = [single.record for single in singles]
    return _Run(
        singles,
        np.array([one is not None and one.deleted for one in records], np.bool_),
        np.array([one is None for one in records], np.bool_),
        np.array([one is not None and one.tight for one in records], np.bool_),
    )


def _codes(parts: Sequence[_Run]) -> npt.NDArray[np.int64]:
    """A number for each record's key, equal for equal keys."""
    codes = pa.chunked_array([part.keys() for part in parts], pa.binary()).combine_chunks().dictionary_encode().indices
    found: npt.NDArray[np.int64] = to_numpy(codes).astype(np.int64)
    return found


def _last(
    keys: npt.NDArray[np.int64], position: npt.NDArray[np.int64], which: npt.NDArray[np.bool_], count: int
) -> npt.NDArray[np.int64]:
    """For each key, the last position of the chosen records, or -1."""
    found = np.full(count, -1)
    np.maximum.at(found, keys[which], position[which])
    return found
