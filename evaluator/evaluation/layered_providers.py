"""The statistics provider of a table in two layers (``evaluator.statistics.layers``), by layer and as a whole.

Some of the three views are given. The others are made of them, each column when it is first used:

    given          made when asked for
    -------------  ------------------------------------------------------
    base, delta    whole: joined, for people who ask about single slices
    whole          base, delta: split, to be evaluated by themselves

A column without statistics in one layer is unknown there in every view, so that all views lead to the same outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from evaluator.binding.statistics_provider import FilterMightMatch, MightContain, StatisticsProvider
from evaluator.language.records import record
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.layers import Layers

__all__ = ["LayeredProvider"]

K = TypeVar("K", bound=Hashable)
#: Makes the statistics of a view from those of the base and of the delta, at least one of which is there.
Make = Callable[["ColumnStatistics | None", "ColumnStatistics | None"], ColumnStatistics]


@record
class LayeredProvider:
    """The provider of one index kind by layer and as a whole. Keys and whole filters are looked up in ``whole`` only.

    It is worth keeping for the next filter: statistics that were joined or split stay with it, and with the copies that
    ``answering`` makes.
    """

    base: StatisticsProvider
    delta: StatisticsProvider
    whole: StatisticsProvider

    @classmethod
    def joined(
        cls,
        layers: Layers,
        base: StatisticsProvider,
        delta: StatisticsProvider,
        might_contain: MightContain | None = None,
    ) -> LayeredProvider:
        """A kind that has statistics of each layer in its own numbers; ``might_contain`` is in those of the whole.

        Look-ups that ``base`` and ``delta`` offer are not used. Raises ValueError when they are of different kinds.
        """
        if base.name != delta.name:
            raise ValueError(f"{base.name} and {delta.name} are not layers of one index kind")

        def of_base(statistics: ColumnStatistics | None, other: ColumnStatistics | None) -> ColumnStatistics:
            return statistics if statistics is not None else _unknown_like(other, layers.base)

        def of_delta(other: ColumnStatistics | None, statistics: ColumnStatistics | None) -> ColumnStatistics:
            return statistics if statistics is not None else _unknown_like(other, layers.delta)

        def of_whole(first: ColumnStatistics | None, second: ColumnStatistics | None) -> ColumnStatistics:
            return layers.join_statistics(of_base(first, second), of_delta(first, second))

        def view(make: Make, asked: MightContain | None = None) -> StatisticsProvider:
            return StatisticsProvider(
                base.name,
                _View(base.statistics, delta.statistics, make),
                asked,
                _View(base.expressions, delta.expressions, make),
            )

        return cls(view(of_base), view(of_delta), view(of_whole, might_contain))

    @classmethod
    def split(cls, layers: Layers, whole: StatisticsProvider) -> LayeredProvider:
        """A kind that has statistics in the numbers of the whole."""

        def of_base(statistics: ColumnStatistics | None, _: ColumnStatistics | None) -> ColumnStatistics:
            assert statistics is not None
            return layers.base_statistics(statistics)

        def of_delta(statistics: ColumnStatistics | None, _: ColumnStatistics | None) -> ColumnStatistics:
            assert statistics is not None
            return layers.delta_statistics(statistics)

        def view(make: Make) -> StatisticsProvider:
            return StatisticsProvider(
                whole.name, _View(whole.statistics, {}, make), None, _View(whole.expressions, {}, make)
            )

        return cls(view(of_base), view(of_delta), whole)

    def answering(
        self, might_contain: MightContain | None, filter_might_match: FilterMightMatch | None = None
    ) -> LayeredProvider:
        """The same, with another way to look up keys and to match filters, in the numbers of the whole."""
        return replace(
            self, whole=replace(self.whole, might_contain=might_contain, filter_might_match=filter_might_match)
        )


def _unknown_like(other: ColumnStatistics | None, n: int) -> ColumnStatistics:
    assert other is not None
    return ColumnStatistics.unknown(other.type, n)


class _View(Mapping[K, ColumnStatistics]):
    """Statistics that are made once, of those of the layers; anew when a layer has others by now."""

    def __init__(self, base: Mapping[K, ColumnStatistics], delta: Mapping[K, ColumnStatistics], make: Make) -> None:
        self._base, self._delta, self._make = base, delta, make
        self._made: dict[K, tuple[ColumnStatistics | None, ColumnStatistics | None, ColumnStatistics]] = {}

    def __getitem__(self, name: K) -> ColumnStatistics:
        first, second = self._base.get(name), self._delta.get(name)
        if first is None and second is None:
            raise KeyError(name)
        made = self._made.get(name)
        if made is None or made[0] is not first or made[1] is not second:
            made = first, second, self._make(first, second)
            self._made[name] = made
        return made[2]

    def __contains__(self, name: object) -> bool:
        return name in self._base or name in self._delta

    def __iter__(self) -> Iterator[K]:
        return iter({**dict.fromkeys(self._base), **dict.fromkeys(self._delta)})

    def __len__(self) -> int:
        return len(set(self._base) | set(self._delta))
