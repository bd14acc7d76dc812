"""The score of one candidate on the sample, computed from what shows best how well its sketch tells slices apart.

    sketch                       computed from
    --------------------------   -----------------------------------------------------------------------
    min_max, expressions         the ranges of the sample's slices
    value_list, partition        the listed values
    null_count                   the slices without NULL
    bloom_filter, prefix_set     values of some files, each looked up as ``column = value`` by the pipeline

``index_store.own.advice.selectivity_score`` defines the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import SargoError
from evaluator.language.expression import Column, Compare, Literal
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from handler.planning.pipeline import bind_filter, kept_mask, provide_from_kinds
from index_store import TableError
from index_store.own.advice.sample import Sample
from index_store.own.advice.selectivity_score import (
    SelectivityScore,
    score_of_counts,
    score_of_lookups,
    score_of_statistics,
)
from index_store.own.definition import Entry
from index_store.own.provider.kind import OwnSketches
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.values import python_values
from index_store.table.file_rows import read_rows

__all__ = ["score_of", "values_of"]

#: Values are taken from at most so many slices, and at most so many from each.
MAX_SLICES, MAX_VALUES = 16, 4
#: Sketches that are scored by looking values up.
_LOOKED_UP = ("bloom_filter", "prefix_set")


def values_of(sample: Sample, columns: Sequence[Field]) -> Mapping[str, Sequence[tuple[int, object]]]:
    """By column some values from the first rows of the sample's files, each with the index of its slice."""
    n = len(sample.slices)
    values: dict[str, list[tuple[int, object]]] = {column.name: [] for column in columns}
    if not n or not columns:
        return values
    types = {column.name: column.type for column in columns}
    for index in np.unique(np.linspace(0, n - 1, min(n, MAX_SLICES)).astype(np.intp)).tolist():
        missing = set(types)
        for path in sample.slices[index].files:
            if not missing:
                break
            try:
                batch = next(iter(read_rows(sample.table.storage, path, sorted(missing))), None)
            except TableError:
                continue
            for name in sorted(missing) if batch is not None else ():
                column = batch.columns[name] if batch is not None else None
                if column is None or column.values is None or column.type.type != types[name]:
                    continue
                constants = _constants(column.values, types[name])
                values[name] += [(index, value) for value in constants]
                missing -= {name} if constants else set()
    return values


def _constants(values: pa.Array, column_type: Type) -> list[Any]:
    """Some distinct values in the form of constants of a filter."""
    distinct = pc.unique(values.drop_null())
    if column_type.kind.is_fractional:
        distinct = distinct.filter(pc.invert(pc.is_nan(distinct)))
    if not len(distinct):
        return []
    chosen = np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_VALUES)).astype(np.intp))
    plain = list(python_values(distinct.take(pa.array(chosen)), column_type))
    match column_type.kind:
        case Kind.DECIMAL:
            return [Decimal(value).scaleb(-column_type.scale) for value in plain]
        case Kind.BOOLEAN:
            return [bool(value) for value in plain]
        case _:
            return plain


def score_of(
    sample: Sample, entry: Entry, schema: Schema, values: Mapping[str, Sequence[tuple[int, object]]]
) -> SelectivityScore | None:
    """The score of one entry on the sample; None when it cannot be computed. ``values``: from ``values_of``."""
    kind = sample.kind(entry)
    column = schema.resolve(entry.on, case_sensitive=True)
    try:
        return (
            _of_column(kind, parse_sketch(entry.sketch).name, column, len(sample.slices), values.get(entry.on, ()))
            if column is not None
            else _of_expression(kind)
        )
    except SargoError:
        return None


def _of_expression(kind: OwnSketches) -> SelectivityScore | None:
    statistics = [kind.expression_statistics(key) for key in kind.expression_keys]
    return score_of_statistics(statistics[0]) if statistics and statistics[0] is not None else None


def _of_column(
    kind: OwnSketches, sketch: str, column: Field, n: int, values: Sequence[tuple[int, object]]
) -> SelectivityScore | None:
    if sketch in _LOOKED_UP:
        return _of_look_ups(kind, column, n, values)
    statistics = kind.statistics(column)
    if statistics is None:
        return None
    return score_of_counts(statistics.null_count) if sketch == "null_count" else score_of_statistics(statistics)


def _of_look_ups(
    kind: OwnSketches, column: Field, n: int, values: Sequence[tuple[int, object]]
) -> SelectivityScore | None:
    semantics, schema = Semantics.named("spark"), Schema((column,))
    kept_masks, home_slices = [], []
    for index, value in values:
        equality = Compare("=", Column(tuple(column.name.split("."))), Literal(value, column.type))
        bound = bind_filter(equality, schema, semantics, None)
        providers = provide_from_kinds(bound.required, [kind])
        if providers:
            kept_masks.append(kept_mask(bound, n, providers))
            home_slices.append(index)
    return score_of_lookups(np.array(kept_masks), np.array(home_slices, np.intp)) if kept_masks else None
