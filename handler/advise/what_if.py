"""``--what-if "sort by (city, ts)"``: how many file slices filters keep by bounds, as the rows lie and after arranging.

    filter             kept now   bounds   bounds after      before and after are compared by bounds alone, and by the
    -----------------  ---------  -------  ------------      partition values: arranging rows changes nothing else
    city = 'oslo'      14         14       3

Without filters, the score of each column's bounds before and after says the same of equalities.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from handler.advise.advisor import Advisor, Asked
from handler.indexes.entries import IndexWorkError
from index_store import FileSlices, Table
from index_store.kinds.partition_values import make as partition_values
from index_store.own.advice.layout_simulation import (
    Arrangement,
    Rearranged,
    parse_arrangement,
    rearranged,
    sampled_rows,
)
from index_store.own.advice.selectivity_score import Effectiveness, of_statistics
from index_store.own.build.sketching import ROWS
from index_store.own.definition import Entry
from index_store.own.provider.kind import OwnSketches

__all__ = ["WhatIf", "WhatIfColumn", "WhatIfFilter", "arrangement_of", "what_if"]


@dataclass(frozen=True, slots=True)
class WhatIfFilter:
    """Slices that a filter keeps: with all that the table has, by bounds as rows lie, by bounds after arranging."""

    text: str
    count: int
    now: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class WhatIfColumn:
    """How well the bounds of a column tell slices apart, before and after."""

    name: str
    before: Effectiveness
    after: Effectiveness


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What arranging the rows would change. ``pieces``: files that the sampled rows were cut into.

    exact       every row of the table was read
    left_out    files that could not be used, and why
    partitioned rows stay in their partitions
    """

    arrangement: str
    filters: tuple[WhatIfFilter, ...]
    columns: tuple[WhatIfColumn, ...]
    rows: int
    pieces: int
    exact: bool
    left_out: Mapping[str, str]
    partitioned: bool

    @property
    def before(self) -> float:
        """Slices kept, over all filters that were asked."""
        return sum(one.count * one.before for one in self.filters)

    @property
    def after(self) -> float:
        return sum(one.count * one.after for one in self.filters)


def arrangement_of(text: str, table: Table) -> tuple[Arrangement, tuple[Field, ...]]:
    """The arrangement over the table's columns. Raises IndexWorkError with what would do."""
    try:
        written = parse_arrangement(text)
    except ValueError as error:
        raise IndexWorkError(str(error)) from error
    found = []
    for name in written.columns:
        column = table.schema.resolve(name, case_sensitive=False)
        if column is None:
            near = difflib.get_close_matches(name, [one.name for one in table.schema], 1)
            raise IndexWorkError(f"{table.path} has no column {name}" + (f": do you mean {near[0]}?" if near else ""))
        if column.type.kind is Kind.OTHER:
            raise IndexWorkError(f"rows cannot be sorted by {column.name}: values of type {column.type} have no order")
        found.append(column)
    return Arrangement(tuple(one.name for one in found), written.curve), tuple(found)


def what_if(advisor: Advisor, arrangement: Arrangement, sorted_by: Sequence[Field]) -> WhatIf:
    """Arrange a sample's rows and ask again. The advisor's sample has bounds of ``sorted_by``."""
    sample, at = advisor.sample, advisor.at
    columns = tuple(dict.fromkeys((*sorted_by, *(one for one in advisor.columns if advisor.workload is not None))))
    counts = sample.rows[ROWS].to_numpy() if ROWS in sample.rows.column_names else np.zeros(0, np.int64)
    rows = sampled_rows(sample, columns, int(counts[counts > 0].sum()))
    slices_of: dict[str, int] = {}
    for one in at.slices:
        slices_of[one.partition] = slices_of.get(one.partition, 0) + 1
    made = rearranged(sample, rows, arrangement, slices_of)
    now = sample.kind(*(Entry(one.name, "min_max") for one in columns))
    filters = tuple(_filter(advisor, one, now, made) for one in advisor.asked)
    scores = tuple(
        WhatIfColumn(one.name, _score(now, one, advisor.n), _score(made.kind, one, advisor.n)) for one in sorted_by
    )
    exact = rows.stride == 1 and len(sample.slices) == advisor.n and not rows.left_out
    return WhatIf(
        arrangement.text, filters, scores, rows.rows, len(made.slices), exact, rows.left_out, len(slices_of) > 1
    )


def _filter(advisor: Advisor, asked: Asked, now: OwnSketches, made: Rearranged) -> WhatIfFilter:
    k = len(advisor.sample.slices)
    before = _kept(advisor.table, asked, now, advisor.sample.slices)
    after = _kept(advisor.table, asked, made.kind, made.slices)
    return WhatIfFilter(
        asked.filter.text,
        asked.filter.count,
        len(asked.kept),
        float(before.sum()) * advisor.n / max(k, 1),
        float(made.weight[after].sum()),
    )


def _kept(
    table: Table, asked: Asked, bounds: OwnSketches, slices: FileSlices
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    sources: list[StatisticsProvider] = []
    for kind in (partition_values(table, slices), bounds):
        if kind is not None:
            needs = kind.requires(RequiredStatistics(asked.needs.bounds, asked.needs.nulls))
            sources += [kind.provide(needs)] if needs else []
    return evaluate(asked.bound, len(slices), sources).keep


def _score(kind: OwnSketches, column: Field, slices: int) -> Effectiveness:
    statistics = kind.statistics(column)
    assert statistics is not None
    return of_statistics(statistics).scaled(slices)
