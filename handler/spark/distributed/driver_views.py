"""Slices and statistics that executors stored, as the driver sees them: each is read when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.statistics.columns import ColumnStatistics
from handler.spark.distributed.shared_folder import SharedFolder
from handler.spark.distributed.stored_statistics import StoredProviders, StoredSlices, StoredStatistics
from index_store import FileSlice

__all__ = ["SlicesFromRuns", "lazy_providers"]


class SlicesFromRuns(Sequence[FileSlice]):
    """All slices. Those that the last filter kept are in memory; the others are read from the shared folder."""

    def __init__(self, stored: StoredSlices) -> None:
        self._stored = stored
        self._rows: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._kept: list[FileSlice] = []

    def __len__(self) -> int:
        return self._stored.n

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        """The paths of the slices' partitions, each once."""
        return self._stored.partitions()

    def remember(self, rows: npt.NDArray[np.int64], kept: list[FileSlice]) -> None:
        """Hold the slices that the last filter kept."""
        self._rows, self._kept = rows, kept

    @overload
    def __getitem__(self, index: int) -> FileSlice: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FileSlice]: ...

    def __getitem__(self, index: int | slice) -> FileSlice | Sequence[FileSlice]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return self.some(np.array([rows]))[0]
        return self.some(np.array(rows, np.int64))

    def __iter__(self) -> Iterator[FileSlice]:
        for number in range(len(self._stored.files)):
            yield from self._stored.read(number)

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows, all at once."""
        slices: list[FileSlice | None] = [None] * len(rows)
        in_kept = np.searchsorted(self._rows, rows)
        missing: dict[int, list[int]] = {}
        for position, (row, kept) in enumerate(zip(rows.tolist(), in_kept.tolist(), strict=True)):
            if kept < len(self._rows) and self._rows[kept] == row:
                slices[position] = self._kept[kept]
            else:
                missing.setdefault(row // self._stored.run, []).append(position)
        for number, positions in missing.items():
            run = self._stored.read(number)
            for position in positions:
                slices[position] = run[int(rows[position]) - number * self._stored.run]
        return [one for one in slices if one is not None]


class _LazyStatistics(Mapping[Any, ColumnStatistics]):
    """Statistics of columns, each read when it is first used."""

    def __init__(self, readers: Mapping[Any, Callable[[], ColumnStatistics]]) -> None:
        self._readers = readers
        self._read: dict[Any, ColumnStatistics] = {}

    def __getitem__(self, key: Any) -> ColumnStatistics:
        if key not in self._read:
            self._read[key] = self._readers[key]()
        return self._read[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._readers)

    def __contains__(self, key: object) -> bool:
        return key in self._readers

    def __len__(self) -> int:
        return len(self._readers)


def lazy_providers(providers: StoredProviders) -> list[StatisticsProvider]:
    """A provider for each kind, in the order of the kinds, whose statistics are read when they are first used."""
    kinds: dict[tuple[int, str], tuple[dict[Any, Any], dict[Any, Any]]] = {}
    for stored in providers.stored:
        statistics, expressions = kinds.setdefault((stored.order, stored.kind), ({}, {}))
        for position, (function, name, _) in enumerate(stored.columns):
            if function:
                expressions[function, name] = _reader(stored, providers.folder, position)
            else:
                statistics[name] = _reader(stored, providers.folder, position)
    return [
        StatisticsProvider(kind, _LazyStatistics(kinds[order, kind][0]), None, _LazyStatistics(kinds[order, kind][1]))
        for order, kind in sorted(kinds)
    ]


def _reader(stored: StoredStatistics, folder: SharedFolder, position: int) -> Callable[[], ColumnStatistics]:
    return lambda: stored.read_all(folder)[position]
