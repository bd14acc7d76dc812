"""The steps from a filter to an outcome for every file slice, shared by plans, advice and what-if layouts.

    HudiExpression ─ bind_filter ─► BoundFilter ─ provide_statistics ─► TableStatistics ─ evaluate_filter ─► Evaluation

1. ``bind_filter`` binds the expression to the table's schema and lists the statistics that its conditions require.
2. ``provide_statistics`` reads these statistics from the index kinds of a table at an instant, and
   ``provide_from_kinds`` reads them from kinds that belong to no opened table (a sample, a simulated layout). A kind
   that cannot be read is reported to ``on_failure`` and left out (contract C4).
3. ``evaluate_filter`` evaluates the filter in all slices of a table, by layer where the table has layers;
   ``kept_mask`` does so in any set of slices.

Each step takes the result of the one before it; no step goes back (contract C6: the kinds intersect in step 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import bind
from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.required_statistics import RequiredStatistics, required_statistics_of
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider, evaluate
from evaluator.language.expression import HudiExpression
from evaluator.language.records import frozen
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from handler.planning.formatted_columns import without_formatted_columns
from handler.planning.implied_keys import with_record_keys
from index_store import FileSlices, IndexKind
from index_store.indexed_table import IndexedTable
from index_store.kinds.record_keys.key_witness import contradicted
from index_store.kinds.record_keys.record_keys import composite_key
from index_store.opened_table import TableAtInstant, TableStatistics

__all__ = [
    "BoundFilter",
    "OnKindFailure",
    "bind_filter",
    "evaluate_filter",
    "ignore_failure",
    "kept_mask",
    "provide_from_kinds",
    "provide_statistics",
    "schema_as_read",
]

#: Takes the name of the index kind that failed, and the error.
OnKindFailure = Callable[[str, Exception], None]


@frozen(slots=False, eq=False)
class BoundFilter:
    """A filter bound to a table's schema. ``doubt``: why the record keys that it implies are not looked up, or ""."""

    bound: BoundExpression
    doubt: str = ""

    @cached_property
    def required(self) -> RequiredStatistics:
        """The statistics that the conditions of the filter can use."""
        return required_statistics_of(self.bound.leaves)


def bind_filter(
    expression: HudiExpression,
    schema: Schema,
    semantics: Semantics,
    table: IndexedTable | None,
    slices: FileSlices | None = None,
) -> BoundFilter:
    """Bind a filter to a schema; of a ``table`` with a composite record key, with the keys that the filter implies.

    What cannot be decided becomes an unknown leaf with its reason. Keys are left out when files among the ``slices``
    show that the key is of other columns (``key_witness``).
    """
    if table is not None:
        schema = schema_as_read(schema, semantics, table, slices)
        if semantics.values_from_paths:
            expression = without_formatted_columns(expression, schema, semantics, table)
    key = None if table is None else composite_key(table)
    doubts: set[str] = set()

    def is_certain() -> bool:
        if table is not None and slices is not None:
            doubts.add(contradicted(table, slices))
        return not any(doubts)

    whole = expression if key is None else with_record_keys(expression, key, schema, semantics, is_certain)
    return BoundFilter(bind(whole, schema, semantics), "".join(doubts))


def schema_as_read(schema: Schema, semantics: Semantics, table: IndexedTable, slices: FileSlices | None) -> Schema:
    """The schema in which a partition column is what the engine's reader takes from paths, where it does (C11)."""
    if slices is None or not semantics.values_from_paths or not table.partition_fields:
        return schema
    return schema.seen_as(table.columns_read_from_paths(slices))


def provide_statistics(required: RequiredStatistics, at: TableAtInstant, on_failure: OnKindFailure) -> TableStatistics:
    """The required statistics of all slices of a table at an instant, from each of its index kinds."""
    return at.provide(required, on_failure)


def provide_from_kinds(required: RequiredStatistics, kinds: Iterable[IndexKind | None]) -> list[StatisticsProvider]:
    """The statistics of each kind that has some of those required. Raises what a kind raises."""
    providers = []
    for kind in kinds:
        narrowed = None if kind is None else kind.requires(required)
        if kind is not None and narrowed:
            providers.append(kind.provide(narrowed))
    return providers


def evaluate_filter(filter_: BoundFilter, answers: TableStatistics, n: int) -> Evaluation:
    """The outcome of the filter in each of the table's n slices."""
    return answers.evaluate(filter_.bound, n)


def kept_mask(filter_: BoundFilter, n: int, providers: Iterable[StatisticsProvider]) -> npt.NDArray[np.bool_]:
    """``(n,) bool``: the slices that the filter keeps by the statistics of these providers, of n slices each."""
    return evaluate(filter_.bound, n, list(providers)).keep


def ignore_failure(kind: str, error: Exception) -> None:
    """An ``OnKindFailure`` for statistics that are asked for beside an answer: what cannot be read is left out (C4)."""
    del kind, error
