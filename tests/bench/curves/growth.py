"""What filters over some number of files cost: cold, warm, after a commit, in memory, and by peers.

    warm       bound or planned filters on resident statistics, as ``peers`` times them
    commit     the same on two layers: one file in a thousand is replaced, and as many are new
    indexed    indexing the six columns, once; an opened table does so from 20,000 files on
    memory     indexed statistics of the six columns
    cold       a table on disk that nothing is known of: open it, read four columns, find the kept files. It has a
               metadata table of one log file and no data files; more than ``MAX_COLD`` files are not written

Every engine's kept files are compared with the flat scan's before anything is timed.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.evaluation.layered_evaluation import evaluate_layers
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index
from evaluator.statistics.layers import Layers
from handler import prune
from handler.sidecar.sizes import bytes_of
from tests.bench.column_stats_load import FILTER
from tests.bench.datasets import make_files
from tests.bench.engines import engines
from tests.bench.engines.base import NotOffered, Query
from tests.bench.engines.sargo import SCHEMA, SEMANTICS, Sargo, as_opened, statistics_of
from tests.bench.measurements import check_answers
from tests.bench.shapes import SHAPES
from tests.bench.timing import take_turns
from tests.index_store.synthetic import write_table

__all__ = ["COMMIT", "LAYOUTS", "MAX_COLD", "PEERS", "SIZES", "Growth", "measure"]

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LAYOUTS = ("random", "clustered", "wide")
PEERS = ("flat numpy scan", "Polars", "DataFusion", "DuckDB")
COMMIT = "Sargo, after a commit"
MAX_COLD = 100_000
_ROUNDS, _BUDGET_SECONDS, _COLD_ROUNDS = 7, 0.15, 3


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Figures of one layout and number of files.

    seconds       CPU seconds by shape and engine, ``COMMIT`` among the engines
    kept          files kept, by shape
    indexed       CPU seconds of indexing all columns
    index_bytes   bytes of the indexed statistics
    cold          CPU seconds, or None where it was not measured
    """

    layout: str
    files: int
    seconds: Mapping[str, Mapping[str, float]]
    kept: Mapping[str, int]
    indexed: float
    index_bytes: int
    cold: float | None


def measure(layout: str, n: int) -> Growth:
    """Time every shape over n files."""
    files = make_files("M", layout, n)
    ready = [engine(files) for engine in engines() if engine.name in (Sargo.name, *PEERS)]
    plain = {name: statistics_of(column, files) for name, column in files.columns.items()}
    start = time.process_time()
    columns = {name: with_index(column) for name, column in plain.items()}
    indexed = time.process_time() - start
    after_commit = _after_commit({name: as_opened(column) for name, column in plain.items()}, layout)
    seconds: dict[str, dict[str, float]] = {}
    kept: dict[str, int] = {}
    for shape in SHAPES:
        queries: dict[str, Query] = {}
        for engine in ready:
            try:
                queries[engine.name] = engine.prepare(shape)
            except NotOffered:
                continue
        kept[shape.name] = len(check_answers(ready, queries, files))
        calls: dict[str, Callable[[], object]] = {**queries, COMMIT: after_commit[shape.name]}
        seconds[shape.name] = take_turns(calls, _ROUNDS, _BUDGET_SECONDS)
    memory = bytes_of(columns)
    del ready, columns, after_commit
    gc.collect()
    return Growth(
        layout=layout,
        files=n,
        seconds=seconds,
        kept=kept,
        indexed=indexed,
        index_bytes=memory,
        cold=_cold(n) if layout == LAYOUTS[0] and n <= MAX_COLD else None,
    )


def _after_commit(base: Mapping[str, ColumnStatistics], layout: str) -> dict[str, Callable[[], object]]:
    """By shape: the filter on the base, of which files are replaced, and a delta."""
    n = len(next(iter(base.values())).null_count)
    changed = max(1, n // 1_000)
    new = make_files("M", layout, changed, seed=16)
    dead = np.sort(np.random.default_rng(17).choice(n, changed, replace=False))
    layers = Layers(n, dead, changed)
    delta = {name: statistics_of(column, new) for name, column in new.columns.items()}
    both = LayeredProvider.joined(
        layers, StatisticsProvider("column_stats", dict(base)), StatisticsProvider("column_stats", delta)
    )

    def call(bound: Any) -> Callable[[], object]:
        return lambda: evaluate_layers(bound, layers, [both]).kept_rows

    return {shape.name: call(bind(shape.expression, SCHEMA, SEMANTICS)) for shape in SHAPES}


def _cold(n: int) -> float:
    os.environ["SARGO_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "table"
        write_table(root, n)
        seconds = []
        for _ in range(_COLD_ROUNDS):
            start = time.process_time()
            kept = prune(root, FILTER, time_zone="UTC").kept
            seconds.append(time.process_time() - start)
            assert len(kept) <= n
        return min(seconds)
