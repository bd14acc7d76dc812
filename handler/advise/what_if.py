"""``--what-if "sort by (city, ts)"``: how many file slices filters would keep by bounds if rows were laid out that way.

    filter           kept now   by bounds   after
    --------------   --------   ---------   -----
    city = 'oslo'          14          14       3

``by bounds`` and ``after`` use bounds and partition values alone, before and after the simulated layout, because
nothing else changes with the order of rows. Without a workload, the scores of each column's bounds are compared.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.explain.file_ranges import FileRanges, file_ranges
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from handler.advise.advisor import Advisor, WorkloadFilter
from handler.indexes.entries import IndexWorkError
from handler.planning.pipeline import kept_mask, provide_from_kinds
from index_store import FileSlices, Table
from index_store.kinds.partition_values import make as partition_values
from index_store.own.advice.layout_simulation import (
    SimulatedLayout,
    SortOrder,
    parse_sort_order,
    sampled_rows,
    simulate_layout,
)
from index_store.own.advice.selectivity_score import SelectivityScore, score_of_statistics
from index_store.own.builders.sketching import ROWS
from index_store.own.definition import Entry
from index_store.own.provider.kind import OwnSketches

__all__ = ["WhatIf", "WhatIfColumn", "WhatIfFilter", "arrangement_of", "kept_by_bounds", "what_if"]


@frozen
class WhatIfFilter:
    """The slices that a filter keeps, which was asked ``count`` times.

    now      by all indexes of the table
    before   by bounds in today's layout
    after    by bounds in the simulated layout
    """

    text: str
    count: int
    now: int
    before: float
    after: float


@frozen
class WhatIfColumn:
    """How well the bounds of a column tell slices apart, in today's layout and in the simulated one; and the ranges."""

    name: str
    before: SelectivityScore
    after: SelectivityScore
    ranges_before: FileRanges | None = None
    ranges_after: FileRanges | None = None


@frozen(kw_only=True)
class WhatIf:
    """The effect of a layout.

    arrangement   the layout as text: ``sort by (city, ts)``
    rows          sampled rows that were laid out, and the number of ``pieces`` (files) that they were cut into
    exact         whether every row of the table was read
    left_out      files that could not be used, and why
    partitioned   whether rows stay in their partitions
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
        """Slices kept by bounds today, over all filters as often as they were asked."""
        return sum(one.count * one.before for one in self.filters)

    @property
    def after(self) -> float:
        """The same in the simulated layout."""
        return sum(one.count * one.after for one in self.filters)


def arrangement_of(text: str, table: Table) -> tuple[SortOrder, tuple[Field, ...]]:
    """Parse a layout and resolve its columns in the table. Raises IndexWorkError, which says what would be valid."""
    try:
        written = parse_sort_order(text)
    except ValueError as error:
        raise IndexWorkError(str(error)) from error
    columns = []
    for name in written.columns:
        column = table.schema.resolve(name, case_sensitive=False)
        if column is None:
            near = difflib.get_close_matches(name, [field.name for field in table.schema], 1)
            raise IndexWorkError(f"{table.path} has no column {name}" + (f": do you mean {near[0]}?" if near else ""))
        if column.type.kind is Kind.OTHER:
            raise IndexWorkError(f"rows cannot be sorted by {column.name}: values of type {column.type} have no order")
        columns.append(column)
    return SortOrder(tuple(column.name for column in columns), written.curve), tuple(columns)


def what_if(
    advisor: Advisor, arrangement: SortOrder, sorted_by: Sequence[Field], beside: Sequence[Field] = ()
) -> WhatIf:
    """Lay the sample's rows out and evaluate the filters on it.

    ``beside``: further columns to report. The advisor's sample has bounds of ``sorted_by`` and of these.
    """
    sample = advisor.sample
    reported = tuple(dict.fromkeys((*sorted_by, *beside)))
    columns = tuple(dict.fromkeys((*reported, *(advisor.columns if advisor.workload is not None else ()))))
    counts = sample.rows[ROWS].to_numpy() if ROWS in sample.rows.column_names else np.zeros(0, np.int64)
    rows = sampled_rows(sample, columns, int(counts[counts > 0].sum()))
    slices_by_partition = Counter(item.partition for item in advisor.at.slices)
    layout = simulate_layout(sample, rows, arrangement, slices_by_partition)
    today = sample.kind(*(Entry(column.name, "min_max") for column in columns))
    return WhatIf(
        arrangement=arrangement.text,
        filters=tuple(_compare_filter(advisor, one, today, layout) for one in advisor.filters),
        columns=tuple(_compare_column(column, today, layout.kind, advisor.n) for column in reported),
        rows=rows.rows,
        pieces=len(layout.slices),
        exact=rows.stride == 1 and len(sample.slices) == advisor.n and not rows.left_out,
        left_out=rows.left_out,
        partitioned=len(slices_by_partition) > 1,
    )


def _compare_filter(advisor: Advisor, one: WorkloadFilter, today: OwnSketches, layout: SimulatedLayout) -> WhatIfFilter:
    sampled = advisor.sample.slices
    before = kept_by_bounds(advisor.table, one, today, sampled)
    after = kept_by_bounds(advisor.table, one, layout.kind, layout.slices)
    return WhatIfFilter(
        one.filter.text,
        one.filter.count,
        len(one.kept),
        float(before.sum()) * advisor.n / max(len(sampled), 1),
        float(layout.weight[after].sum()),
    )


def kept_by_bounds(table: Table, one: WorkloadFilter, bounds: OwnSketches, slices: FileSlices) -> npt.NDArray[np.bool_]:
    """``(k,) bool``: the slices that a filter keeps by bounds and partition values."""
    required = RequiredStatistics(one.required.bounds, one.required.nulls)
    return kept_mask(one.bound, len(slices), provide_from_kinds(required, (partition_values(table, slices), bounds)))


def _compare_column(column: Field, today: OwnSketches, layout: OwnSketches, slices: int) -> WhatIfColumn:
    before, after = today.statistics(column), layout.statistics(column)
    assert before is not None
    assert after is not None
    return WhatIfColumn(
        column.name,
        score_of_statistics(before).scaled(slices),
        score_of_statistics(after).scaled(slices),
        file_ranges(column.name, before),
        file_ranges(column.name, after),
    )
