"""Where an index kind leaves the statistics that it has made of its stored records, and finds them again.

    with a snapshot    they were made before, by any process: they are mapped (``snapshots.kept_statistics``)
    without            they are made anew (``NoMemory``)

What is kept is of the slices of one state of a table, and of one ``version``: a text that differs wherever what the
kind reads may differ although the state does not, such as a definition in ``index.json`` or a version of an own index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from evaluator.language.records import entity
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from index_store.kinds.base import IndexKind

__all__ = ["KeptArrays", "MakeArrays", "MakeStatistics", "NoMemory", "RemembersStatistics", "StatisticsMemory"]

#: Makes statistics of all slices; None: the kind has none. Raises StatsError or TableError.
MakeStatistics = Callable[[], "ColumnStatistics | None"]


@entity
class KeptArrays:
    """Arrays of a form of the kind's own: numbers, flags (kept as uint8) and large binary without NULL.

    ``about``: what else belongs to them, as values of JSON.
    """

    arrays: Mapping[str, Any]
    about: Mapping[str, Any]


#: Makes arrays of all slices; None: the kind has none. Raises StatsError or TableError.
MakeArrays = Callable[[], "KeptArrays | None"]


class StatisticsMemory(Protocol):
    """The statistics that one kind keeps. Only what ``make`` raises is raised, and then nothing is kept."""

    def statistics(self, of: Field, version: str, make: MakeStatistics) -> ColumnStatistics | None:
        """The kept statistics of this name, type and version; those that ``make`` gives where there are none."""
        ...

    def arrays(self, of: Field, version: str, make: MakeArrays) -> KeptArrays | None:
        """The same of arrays."""
        ...

    def in_front_of(self, kind: IndexKind) -> IndexKind:
        """Another kind, whose columns are kept likewise."""
        ...


class NoMemory:
    """Nothing is kept."""

    def statistics(self, of: Field, version: str, make: MakeStatistics) -> ColumnStatistics | None:
        """What ``make`` gives."""
        del of, version
        return make()

    def arrays(self, of: Field, version: str, make: MakeArrays) -> KeptArrays | None:
        """What ``make`` gives."""
        del of, version
        return make()

    def in_front_of(self, kind: IndexKind) -> IndexKind:
        """The kind itself."""
        return kind


@runtime_checkable
class RemembersStatistics(Protocol):
    """An index kind that takes a memory, before it is asked for anything."""

    name: str

    def remember_statistics(self, memory: StatisticsMemory) -> None: ...
