"""A table of 2,000,000 slices of which commits have replaced 1,000: the cost of the second layer, and of text.

The base is indexed and in the form of a file that is mapped into memory (text in Arrow, read-only arrays); 1,000 of its
slices are dead and the delta holds 1,000. Every filter's kept slices are compared with those of the joined table first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from evaluator.binding.bind import bind
from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.evaluation.layered_evaluation import evaluate_layers
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index
from evaluator.statistics.layers import Layers
from tests.bench.datasets import make_files
from tests.bench.engines.sargo import SCHEMA, SEMANTICS, statistics_of
from tests.bench.shapes import SHAPES
from tests.bench.timing import take_turns
from tests.evaluator.arrow_form import mapped, stored

BASE, DEAD, DELTA = 2_000_000, 1_000, 1_000
_ROUNDS, _BUDGET_SECONDS = 9, 1.5
_COLUMNS = ("id", "user", "amount", "day", "score", "region")


def run() -> Iterator[tuple[str, str, str]]:
    """CPU milliseconds of ``kept_rows`` over both layers; the ratio is to the base alone."""
    base, delta = (_columns(n, seed) for n, seed in ((BASE, 15), (DELTA, 16)))
    yield from _indexing(base["user"])
    base = {name: _as_mapped(column) for name, column in base.items()}
    dead = np.sort(np.random.default_rng(17).choice(BASE, DEAD, replace=False))
    layers = Layers(BASE, dead, DELTA)
    old, new = (
        StatisticsProvider("column_stats", base),
        StatisticsProvider("column_stats", {name: stored(column) for name, column in delta.items()}),
    )
    both = LayeredProvider.joined(layers, old, new)
    start = time.process_time()
    whole = [StatisticsProvider("column_stats", dict(both.whole.statistics))]
    joining = (time.process_time() - start) / len(base)
    calls: dict[str, Callable[[], object]] = {}
    for shape in SHAPES:
        bound = bind(shape.expression, SCHEMA, SEMANTICS)
        layered = evaluate_layers(bound, layers, [both])
        assert np.array_equal(layered.kept_rows, evaluate(bound, layers.n, whole).kept_rows), shape.name
        calls |= {f"base: {shape.name}": _kept(bound, old), f"both: {shape.name}": _kept_by_layers(bound, layers, both)}
    seconds = take_turns(calls, _ROUNDS, _BUDGET_SECONDS)
    for shape in SHAPES:
        alone, together = seconds[f"base: {shape.name}"], seconds[f"both: {shape.name}"]
        yield (
            f"{shape.name}, {BASE:,} slices, {DEAD:,} dead, {DELTA:,} new",
            f"{together * 1e3:.3f} ms",
            f"{together / alone:.2f} x the base alone ({alone * 1e3:.3f} ms)",
        )
    yield "joining a column of both layers, when somebody asks about it", f"{joining * 1e3:.0f} ms", ""


def _columns(n: int, seed: int) -> dict[str, ColumnStatistics]:
    files = make_files("E", "random", n, seed=seed)
    return {name: statistics_of(files.columns[name], files) for name in _COLUMNS}


def _as_mapped(statistics: ColumnStatistics) -> ColumnStatistics:
    index = with_index(statistics).index
    assert index is not None
    return replace(stored(statistics), index=mapped(index, statistics.type))


def _indexing(text: ColumnStatistics) -> Iterator[tuple[str, str, str]]:
    held = stored(text)
    seconds = take_turns({"objects": lambda: with_index(text), "Arrow": lambda: with_index(held)}, 3, 10)
    yield (
        f"indexing a text column of {BASE:,} slices in Arrow form",
        f"{seconds['Arrow']:.2f} s",
        f"{seconds['Arrow'] / seconds['objects']:.2f} x of objects",
    )


def _kept(bound: BoundExpression, source: StatisticsProvider) -> Callable[[], object]:
    return lambda: evaluate(bound, BASE, [source]).kept_rows


def _kept_by_layers(bound: BoundExpression, layers: Layers, source: LayeredProvider) -> Callable[[], object]:
    return lambda: evaluate_layers(bound, layers, [source]).kept_rows
