"""Matches records of column statistics with the files of the slices.

A record is matched by its file's name, and by the key's partition where a name occurs in several partitions, as file
ids of buckets do. Records of other files (replaced, or not committed) and of other columns are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_arrow, to_binary, to_numpy
from evaluator.language.records import entity
from evaluator.language.types import Type
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.stats_columns import StatsColumns
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.stats_versions import Latest

__all__ = ["MatchedRecords", "RecordMatcher"]

#: The bytes of a key that name the partition.
_PARTITION = slice(12, 24)


@entity
class MatchedRecords:
    """Records of one column, and the indices of their files."""

    columns: tuple[tuple[StatsColumns, npt.NDArray[np.intp]], ...]
    records: tuple[tuple[bytes, StatsRecord], ...]
    file_indices: npt.NDArray[np.intp]

    @property
    def count(self) -> int:
        return len(self.records) + sum(len(part) for part, _ in self.columns)

    def statistics(self, column_type: Type, unit: str, version: int) -> FileStatistics:
        """The records in the column's type, converted together."""
        if self.columns:
            try:
                columns, file_indices = self._joined()
                return FileStatistics.of_columns(columns, file_indices, column_type, unit, version)
            except (TypeError, ValueError, OverflowError):
                pass  # a record that fits no row: all of them one by one
        records = [part.record(row) for part, _ in self.columns for row in range(len(part))]
        records.extend(record for _, record in self.records)
        file_indices = np.concatenate([*(file_indices for _, file_indices in self.columns), self.file_indices])
        return FileStatistics.of(records, file_indices, column_type, unit, version)

    def _joined(self) -> tuple[StatsColumns, npt.NDArray[np.intp]]:
        parts, file_indices = [part for part, _ in self.columns], [file_indices for _, file_indices in self.columns]
        wrappers = parts[0].wrappers
        if any(part.wrappers != wrappers or part.keys.shape[1] != parts[0].keys.shape[1] for part in parts):
            raise ValueError("records of several schemas")
        if self.records:
            keys, records = zip(*self.records, strict=True)
            parts.append(StatsColumns.of(keys, records, wrappers))
            file_indices.append(self.file_indices)
        return StatsColumns.joined(parts), np.concatenate(file_indices)


class RecordMatcher:
    """Finds the file of each record among the files of the slices."""

    def __init__(self, files: SliceFiles) -> None:
        self.files = files
        self._last: tuple[Any, npt.NDArray[np.intp]] | None = None

    @cached_property
    def _names(self) -> tuple[Any, npt.NDArray[np.intp]]:
        """The distinct names of files, and the index of each (AMBIGUOUS for several)."""
        found = self.files.by_name
        return to_binary(list(found)).cast(pa.binary()), np.array([*found.values(), -1], np.intp)

    def of(self, latest: Latest, column: bytes) -> MatchedRecords:
        """The records of this column that describe a file of the slices."""
        columns: list[tuple[StatsColumns, npt.NDArray[np.intp]]] = []
        for part in latest.columns:
            if part.column == column:
                file_indices = self._of_columns(part)
                known = file_indices >= 0
                if known.all():
                    columns.append((part, file_indices))
                elif known.any():
                    columns.append((part.take(np.flatnonzero(known)), file_indices[known]))
        other = {key for key, record in latest.records if record.column != column}
        matched = [
            ((key, record), file_index)
            for key, record in latest.records
            if key not in other and (file_index := self._file_index(record.file_name, key)) >= 0
        ]
        return MatchedRecords(
            tuple(columns), tuple(one for one, _ in matched), np.array([at for _, at in matched], np.intp)
        )

    def of_names(self, named: Sequence[tuple[bytes, bytes]]) -> npt.NDArray[np.intp]:
        """The indices of files, given by key and name; those of no slice are left out."""
        file_indices = (self._file_index(name, key) for key, name in named)
        return np.array([file_index for file_index in file_indices if file_index >= 0], np.intp)

    def _of_columns(self, part: StatsColumns) -> npt.NDArray[np.intp]:
        if self._last is not None and self._last[0].equals(part.names):
            return self._last[1]  # columns have the same files in the same order
        names, file_indices = self._names
        index = pc.index_in(part.names, value_set=names)
        found: npt.NDArray[np.intp] = file_indices[to_numpy(index, null=-1)]
        ambiguous = np.flatnonzero(found == SliceFiles.AMBIGUOUS)
        if len(ambiguous):
            texts = part.names.take(to_arrow(ambiguous)).to_pylist()
            found[ambiguous] = [
                self._file_index(name, part.key(row)) for name, row in zip(texts, ambiguous.tolist(), strict=True)
            ]
        else:
            self._last = part.names, found
        return found

    def _file_index(self, name: bytes, key: bytes) -> int:
        file_index = self.files.by_name.get(name, -1)
        if file_index == SliceFiles.AMBIGUOUS:
            return self.files.by_partition.get((key[_PARTITION], name), -1)
        return file_index
