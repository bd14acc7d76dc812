"""The statistics provider: the contract between an index kind and the evaluator.

A provider holds what one index kind knows of the n slices of a table, in any of four forms. The evaluator intersects
it, leaf by leaf, with every other provider (contract C6). No provider knows another.

    field                knowledge                              for a leaf like         an index kind that has it
    ==================   ====================================   =====================   ==========================
    statistics           bounds and NULL counts of a column     ``fare > 50``           column_stats, partition values
    expressions          the same of a function's result        ``lower(s) = 'x'``      expression index
    might_contain        whether a slice might contain a key    ``id IN (7, 9)``        bloom filters, record index
    filter_might_match   whether one row might make the whole   ``a = 1 AND b = 2``     index of rows
                         filter TRUE
    ==================   ====================================   =====================   ==========================

All arrays are in the order of the slices. What a provider does not know it leaves out: a column without statistics, a
masked bound, a count of ``UNKNOWN_COUNT``, None for a look-up. Each of these widens the outcome and never skips a row:

    known of a slice                                    outcome of ``fare > 50``    the slice is
    =================================================   =========================   ============
    3 <= fare <= 17, no NULL                            {false}                     skipped
    20 <= fare <= 80, no NULL                           {true, false}               kept
    fare <= 80, the lower bound is not known, no NULL   {true, false}               kept
    3 <= fare <= 17, the NULL count is not known        {false, null}               skipped
    nothing                                             {true, false, null}         kept

>>> from evaluator.binding.bind import bind
>>> from evaluator.evaluation.evaluate import evaluate
>>> from evaluator.language.expression import Column, Compare, Literal
>>> from evaluator.language.outcome import describe
>>> from evaluator.language.schema import Field, Schema
>>> from evaluator.language.semantics import Semantics
>>> from evaluator.language.types import BIGINT
>>> from evaluator.statistics.columns import from_values
>>> fare = from_values(BIGINT, [3, 20, None, 3, None], [17, 80, 80, 17, None], [0, 0, 0, None, None])
>>> schema, spark = Schema([Field("fare", BIGINT)]), Semantics.named("spark", "UTC")
>>> over_50 = bind(Compare(">", Column(("fare",)), Literal(50, BIGINT)), schema, spark)
>>> column_stats = StatisticsProvider("column_stats", {"fare": fare})
>>> [describe(outcome) for outcome in evaluate(over_50, 5, [column_stats]).outcomes.tolist()]
['{false}', '{true, false}', '{true, false}', '{false, null}', '{true, false, null}']

**Look-ups.** ``might_contain(lookup, candidates)`` gets the keys of a leaf that is sought to be TRUE, and the slices
that the statistics of all providers keep. It returns ``(n,) bool``: False where no row of the slice has any of the
keys. True claims nothing, so a bloom filter ("no" or "perhaps") and a value list ("no" or "yes") both fit. Here a
provider knows the fares of the slices 1 and 2:

>>> fares = {1: {20, 55, 80}, 2: {30, 31}}
>>> def might_contain(lookup, candidates):
...     return np.array([
...         not candidates[index] or index not in fares or not fares[index].isdisjoint(lookup.values)
...         for index in range(len(candidates))
...     ])
>>> is_55 = bind(Compare("=", Column(("fare",)), Literal(55, BIGINT)), schema, spark)
>>> evaluate(is_55, 5, [column_stats]).kept_rows.tolist()
[1, 2, 4]
>>> evaluate(is_55, 5, [column_stats, StatisticsProvider("value_list", {}, might_contain)]).kept_rows.tolist()
[1, 4]

Slice 4 stays: no provider knows anything about it.

A provider that would have to read too much returns ``Declined(why)``. That rules out nothing but what it names, and a
plan says so.

**Matches.** ``filter_might_match(bound, candidates)`` is asked once for a whole filter, for the slices that statistics
and look-ups leave. An index of rows knows which values stand together in one row, which no single leaf shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.language.records import frozen, record
from evaluator.statistics.columns import ColumnStatistics

__all__ = ["Declined", "FilterMightMatch", "Match", "MightContain", "StatisticsProvider"]

Mask = npt.NDArray[np.bool_]
#: From a look-up and the candidates, ``(n,) bool``, to where a slice might contain a key; None: nothing is known.
MightContain = Callable[[Lookup, Mask], "Mask | Declined | None"]
#: From a whole filter and the candidates, ``(n,) bool``, to where a slice might match; None: nothing is known.
FilterMightMatch = Callable[[BoundExpression, Mask], "Match | None"]


@record
class Declined:
    """No answer from a provider that has such keys, or one of some slices only, because it would cost too much.

    why             for people
    might_contain   ``(n,) bool``: False for the slices that are ruled out nevertheless; None where there are none
    """

    why: str
    might_contain: Mask | None = field(default=None, compare=False)


@frozen(eq=False)
class Match:
    """Where a filter as a whole might match, as far as a provider knows.

    filter_might_match   ``(n,) bool``: False where no row of the slice makes the filter TRUE
    leaves               the numbers of the leaves that no row there makes TRUE together, for people
    """

    filter_might_match: Mask
    leaves: tuple[int, ...]


@frozen
class StatisticsProvider:
    """What one index kind knows of the slices of a table: arrays in slice order.

    name                 the index kind, for people
    statistics           bounds and NULL counts, by column name
    might_contain        looks up keys; only the candidates need be looked at
    expressions          statistics of a function's result: of ``lower(s)`` by the names of both, of any expression by
                         its key (``evaluator.binding.canonical_keys``) and the column that goes with it
    filter_might_match   matches a whole filter; asked once, for the slices that everything else leaves
    """

    name: str
    statistics: Mapping[str, ColumnStatistics]
    might_contain: MightContain | None = None
    expressions: Mapping[tuple[str, str], ColumnStatistics] = field(default_factory=dict)
    filter_might_match: FilterMightMatch | None = None

    def take(self, rows: npt.NDArray[Any], columns: Sequence[str]) -> StatisticsProvider:
        """The statistics of some columns, and of functions of them, in some slices."""
        return StatisticsProvider(
            self.name,
            {name: self.statistics[name].take(rows) for name in columns if name in self.statistics},
            None,
            {key: self.expressions[key].take(rows) for key in self.expressions if key[1] in columns},
        )
