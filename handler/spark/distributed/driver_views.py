"""What the driver sees of slices and statistics that executors wrote down: each is read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.statistics.columns import ColumnStatistics
from handler.spark.distributed.shared_folder import SharedFolder
from handler.spark.distributed.stored_answers import Answer, Answers, StoredSlices
from index_store import FileSlice

__all__ = ["SlicesFromRuns", "lazy_sources"]


class SlicesFromRuns(Sequence[FileSlice]):
    """All slices, of which those are here that were kept; any others are read when they are asked for."""

    def __init__(self, stored: StoredSlices) -> None:
        self._stored = stored
        self._rows: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._kept: list[FileSlice] = []

    def __len__(self) -> int:
        return self._stored.n

    def remember(self, rows: npt.NDArray[np.int64], kept: list[FileSlice]) -> None:
        """The slices that the last filter kept."""
        self._rows, self._kept = rows, kept

    @overload
    def __getitem__(self, index: int) -> FileSlice: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FileSlice]: ...

    def __getitem__(self, index: int | slice) -> FileSlice | Sequence[FileSlice]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self.some(np.array([places]))[0]
        return self.some(np.array(places, np.int64))

    def __iter__(self) -> Iterator[FileSlice]:
        for number in range(len(self._stored.files)):
            yield from self._stored.read(number)

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows, all at once."""
        found: list[FileSlice | None] = [None] * len(rows)
        places = np.searchsorted(self._rows, rows)
        missing: dict[int, list[int]] = {}
        for place, (row, at) in enumerate(zip(rows.tolist(), places.tolist(), strict=True)):
            if at < len(self._rows) and self._rows[at] == row:
                found[place] = self._kept[at]
            else:
                missing.setdefault(row // self._stored.run, []).append(place)
        for number, wanted in missing.items():
            run = self._stored.read(number)
            for place in wanted:
                found[place] = run[int(rows[place]) - number * self._stored.run]
        return [one for one in found if one is not None]


class _LazyStatistics(Mapping[Any, ColumnStatistics]):
    """Statistics of columns, each read when it is asked for."""

    def __init__(self, places: Mapping[Any, Callable[[], ColumnStatistics]]) -> None:
        self._places = places
        self._read: dict[Any, ColumnStatistics] = {}

    def __getitem__(self, key: Any) -> ColumnStatistics:
        if key not in self._read:
            self._read[key] = self._places[key]()
        return self._read[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)


def lazy_sources(answers: Answers) -> list[StatisticsProvider]:
    """What every kind says, as a source each, in the order of the kinds."""
    kinds: dict[tuple[int, str], tuple[dict[Any, Any], dict[Any, Any]]] = {}
    for answer in answers.answers:
        statistics, expressions = kinds.setdefault((answer.order, answer.kind), ({}, {}))
        for place, (function, name, _) in enumerate(answer.columns):
            if function:
                expressions[function, name] = _reading(answer, answers.folder, place)
            else:
                statistics[name] = _reading(answer, answers.folder, place)
    return [
        StatisticsProvider(kind, _LazyStatistics(kinds[order, kind][0]), None, _LazyStatistics(kinds[order, kind][1]))
        for order, kind in sorted(kinds)
    ]


def _reading(answer: Answer, folder: SharedFolder, place: int) -> Callable[[], ColumnStatistics]:
    return lambda: answer.read_all(folder)[place]
