"""Which file of the slices each record of column statistics describes.

By the file's name; with the key's partition where that is not enough, since file ids of buckets repeat in every
partition. Records of other files (replaced, or not committed) and of other columns are of no use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.language.types import Type
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.stats_columns import StatsColumns
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.stats_versions import Latest

__all__ = ["Placed", "Places"]

#: The bytes of a key that name the partition.
_PARTITION = slice(12, 24)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Records of one column and the places of their files."""

    columns: tuple[tuple[StatsColumns, npt.NDArray[np.intp]], ...]
    records: tuple[tuple[bytes, StatsRecord], ...]
    places: npt.NDArray[np.intp]

    @property
    def count(self) -> int:
        return len(self.records) + sum(len(part) for part, _ in self.columns)

    def statistics(self, column_type: Type, unit: str, version: int) -> FileStatistics:
        """The records in the column's type, all at once: what speaks against one of them speaks against its like."""
        if self.columns:
            try:
                columns, places = self._joined()
                return FileStatistics.of_columns(columns, places, column_type, unit, version)
            except (TypeError, ValueError, OverflowError):
                pass  # a record that fits no row: all of them one by one
        records = [part.record(row) for part, _ in self.columns for row in range(len(part))]
        records.extend(record for _, record in self.records)
        places = np.concatenate([*(places for _, places in self.columns), self.places])
        return FileStatistics.of(records, places, column_type, unit, version)

    def _joined(self) -> tuple[StatsColumns, npt.NDArray[np.intp]]:
        parts, places = [part for part, _ in self.columns], [places for _, places in self.columns]
        wrappers = parts[0].wrappers
        if any(part.wrappers != wrappers or part.keys.shape[1] != parts[0].keys.shape[1] for part in parts):
            raise ValueError("records of several schemas")
        if self.records:
            keys, records = zip(*self.records, strict=True)
            parts.append(StatsColumns.of(keys, records, wrappers))
            places.append(self.places)
        return StatsColumns.joined(parts), np.concatenate(places)


class Places:
    """Finds the places of records among the files of the slices."""

    def __init__(self, files: SliceFiles) -> None:
        self.files = files
        self._last: tuple[Any, npt.NDArray[np.intp]] | None = None

    @cached_property
    def _names(self) -> tuple[Any, npt.NDArray[np.intp]]:
        """The distinct names of files, and the place of each (AMBIGUOUS for several)."""
        found = self.files.by_name
        return pa.array(list(found), pa.binary()), np.array([*found.values(), -1], np.intp)

    def of(self, latest: Latest, column: bytes) -> Placed:
        """The records of this column that describe a file of the slices."""
        columns: list[tuple[StatsColumns, npt.NDArray[np.intp]]] = []
        for part in latest.columns:
            if part.column == column:
                places = self._of_columns(part)
                known = places >= 0
                if known.all():
                    columns.append((part, places))
                elif known.any():
                    columns.append((part.take(np.flatnonzero(known)), places[known]))
        other = {key for key, record in latest.records if record.column != column}
        placed = [
            ((key, record), place)
            for key, record in latest.records
            if key not in other and (place := self._place(record.file_name, key)) >= 0
        ]
        return Placed(tuple(columns), tuple(one for one, _ in placed), np.array([at for _, at in placed], np.intp))

    def of_names(self, named: Sequence[tuple[bytes, bytes]]) -> npt.NDArray[np.intp]:
        """The places of files by key and name, without those that are in no slice."""
        places = (self._place(name, key) for key, name in named)
        return np.array([place for place in places if place >= 0], np.intp)

    def _of_columns(self, part: StatsColumns) -> npt.NDArray[np.intp]:
        if self._last is not None and self._last[0].equals(part.names):
            return self._last[1]  # columns have the same files in the same order
        names, places = self._names
        index = pc.index_in(part.names, value_set=names)
        found: npt.NDArray[np.intp] = places[pc.fill_null(index, -1).to_numpy()]
        ambiguous = np.flatnonzero(found == SliceFiles.AMBIGUOUS)
        if len(ambiguous):
            texts = part.names.take(pa.array(ambiguous)).to_pylist()
            found[ambiguous] = [
                self._place(name, part.key(row)) for name, row in zip(texts, ambiguous.tolist(), strict=True)
            ]
        else:
            self._last = part.names, found
        return found

    def _place(self, name: bytes, key: bytes) -> int:
        place = self.files.by_name.get(name, -1)
        return place if place != SliceFiles.AMBIGUOUS else self.files.by_partition.get((key[_PARTITION], name), -1)
