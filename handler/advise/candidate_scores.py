"""The score of a sketch of a sample, each by what tells it best (``index_store.own.advice.selectivity_score``).

min_max, expressions         the ranges of the sample's slices
value_list, partition        the listed values
null_count                   the slices without NULL
bloom_filter, prefix_set     values of some files, each asked for as ``column = value`` of the real evaluator
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.binding.bind import bind
from evaluator.binding.required_statistics import required_statistics_of
from evaluator.evaluation.evaluate import evaluate
from evaluator.language.errors import SargoError
from evaluator.language.expression import Column, Compare, Literal
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from index_store import TableError
from index_store.own.advice.sample import Sample
from index_store.own.advice.selectivity_score import Effectiveness, of_look_ups, of_nulls, of_statistics
from index_store.own.build.file_rows import read_rows
from index_store.own.definition import Entry
from index_store.own.provider.kind import OwnSketches
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.values import python_values

__all__ = ["score_of", "values_of"]

#: Values are taken from so many slices, so many of each.
SLICES, VALUES = 16, 4
_ASKED = ("bloom_filter", "prefix_set")


def values_of(sample: Sample, columns: Sequence[Field]) -> Mapping[str, Sequence[tuple[int, object]]]:
    """By column some values with the slice of the sample that each is from; from the first rows of its files."""
    n = len(sample.slices)
    found: dict[str, list[tuple[int, object]]] = {one.name: [] for one in columns}
    if not n or not columns:
        return found
    types = {one.name: one.type for one in columns}
    for place in np.unique(np.linspace(0, n - 1, min(n, SLICES)).astype(np.intp)).tolist():
        left = set(types)
        for path in sample.slices[place].files:
            if not left:
                break
            try:
                batch = next(iter(read_rows(sample.table.storage, path, sorted(left))), None)
            except TableError:
                continue
            for name in sorted(left) if batch is not None else ():
                column = batch.columns[name] if batch is not None else None
                if column is None or column.values is None or column.type.type != types[name]:
                    continue
                values = _some(column.values, types[name])
                found[name] += [(place, value) for value in values]
                left -= {name} if values else set()
    return found


def _some(values: pa.Array, of: Type) -> list[Any]:
    """Some distinct values in the form of constants."""
    distinct = pc.unique(values.drop_null())
    if of.kind.is_fractional:
        distinct = distinct.filter(pc.invert(pc.is_nan(distinct)))
    if not len(distinct):
        return []
    chosen = np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), VALUES)).astype(np.intp))
    plain = list(python_values(distinct.take(pa.array(chosen)), of))
    match of.kind:
        case Kind.DECIMAL:
            return [Decimal(value).scaleb(-of.scale) for value in plain]
        case Kind.BOOLEAN:
            return [bool(value) for value in plain]
        case _:
            return plain


def score_of(
    sample: Sample, entry: Entry, schema: Schema, values: Mapping[str, Sequence[tuple[int, object]]]
) -> Effectiveness | None:
    """The score of one sketch in the sample; None when nothing tells it."""
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


def _of_expression(kind: OwnSketches) -> Effectiveness | None:
    found = [kind.expression_statistics(form) for form in kind.forms]
    return of_statistics(found[0]) if found and found[0] is not None else None


def _of_column(
    kind: OwnSketches, sketch: str, column: Field, n: int, values: Sequence[tuple[int, object]]
) -> Effectiveness | None:
    if sketch in _ASKED:
        return _of_values(kind, column, n, values)
    statistics = kind.statistics(column)
    if statistics is None:
        return None
    return of_nulls(statistics.null_count) if sketch == "null_count" else of_statistics(statistics)


def _of_values(kind: OwnSketches, column: Field, n: int, values: Sequence[tuple[int, object]]) -> Effectiveness | None:
    semantics, schema = Semantics.named("spark"), Schema((column,))
    held, home = [], []
    for place, value in values:
        bound = bind(
            Compare("=", Column(tuple(column.name.split("."))), Literal(value, column.type)), schema, semantics
        )
        asked = kind.requires(required_statistics_of(bound.leaves))
        if asked:
            held.append(evaluate(bound, n, [kind.provide(asked)]).keep)
            home.append(place)
    return of_look_ups(np.array(held), np.array(home, np.intp)) if held else None
