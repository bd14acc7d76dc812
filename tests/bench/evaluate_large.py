"""Evaluation of all slices at once: 200,000 slices, beside pyarrow's compute kernels on the same bounds in the same
run.

The peer answers less: which slices to keep, with every bound known. Sargo answers TRUE, FALSE and NULL of each slice,
with any bound unknown. Times are CPU time, the median of interleaved rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.bind import bind
from evaluator.columns import ColumnStatistics
from evaluator.evaluate import Source, evaluate
from evaluator.schema import Field, Schema
from evaluator.semantics import Semantics
from evaluator.types import BIGINT, DOUBLE, STRING, Type
from handler.sql import parse

SLICES, ROUNDS = 200_000, 7
_MEMBERS = range(0, 100_000, 100)

Keep = Callable[[dict[str, Any]], Any]

CASES: list[tuple[str, str, Keep]] = [
    ("i = 500000", "i = 500000",
     lambda b: pc.and_(pc.less_equal(b["i_lo"], 500_000), pc.greater_equal(b["i_hi"], 500_000))),
    ("NOT (i > 1000 OR d < 90.5)", "NOT (i > 1000 OR d < 90.5)",
     lambda b: pc.and_(pc.less_equal(b["i_lo"], 1000), pc.greater_equal(b["d_hi"], 90.5))),
    ("s LIKE 'user-0000%'", "s LIKE 'user-0000%'",
     lambda b: pc.and_(pc.less(b["s_lo"], "user-0001"), pc.greater_equal(b["s_hi"], "user-0000"))),
    ("5 conditions", "i BETWEEN 1000 AND 9000 AND d > 400.0 AND s >= 'user-0000' AND s < 'user-0009'",
     lambda b: pc.and_(pc.and_(pc.and_(pc.less_equal(b["i_lo"], 9000), pc.greater_equal(b["i_hi"], 1000)),
                               pc.and_(pc.greater(b["d_hi"], 400.0), pc.greater_equal(b["s_hi"], "user-0000"))),
                       pc.less(b["s_lo"], "user-0009"))),
]


def run() -> list[tuple[str, str, str]]:
    """Median CPU milliseconds of Sargo; the ratio is to pyarrow's."""
    source, bounds = _statistics()
    schema = Schema([Field("i", BIGINT), Field("d", DOUBLE), Field("s", STRING)])
    rows = []
    for name, condition, peer in CASES:
        bound = bind(parse(condition, "spark"), schema, Semantics.named("spark", "UTC"))
        assert evaluate(bound, SLICES, [source]).keep.sum() == pc.sum(peer(bounds)).as_py()
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(_cpu(lambda bound=bound: evaluate(bound, SLICES, [source])))
            theirs.append(_cpu(lambda peer=peer: peer(bounds)))
        mine, other = statistics.median(ours), statistics.median(theirs)
        rows.append((f"{name}, {SLICES:,} slices", f"{mine * 1000:.1f} ms",
                     f"{mine / other:.2f} x pyarrow {pa.__version__}"))
    members = f"i IN ({', '.join(map(str, _MEMBERS))})"
    bound = bind(parse(members, "spark"), schema, Semantics.named("spark", "UTC"))
    seconds = statistics.median(_cpu(lambda: evaluate(bound, SLICES, [source])) for _ in range(ROUNDS))
    rows.append((f"i IN (1,000 members), {SLICES:,} slices", f"{seconds * 1000:.1f} ms", ""))
    return rows


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _statistics() -> tuple[Source, dict[str, Any]]:
    random = np.random.default_rng(7)
    lo = random.integers(0, 1_000_000, SLICES)
    hi = lo + random.integers(0, 200, SLICES)
    texts = {end: np.array([f"user-{value:08d}" for value in values], object)
             for end, values in (("lo", lo), ("hi", hi))}
    statistics_of = {"i": _column(BIGINT, lo, hi), "d": _column(DOUBLE, lo / 11, hi / 11),
                     "s": _column(STRING, texts["lo"], texts["hi"])}
    bounds = {f"{name}_{end}": pa.array(getattr(column, end)) for name, column in statistics_of.items()
              for end in ("lo", "hi")}
    return Source("column_stats", statistics_of), bounds


def _column(of: Type, lo: Any, hi: Any) -> ColumnStatistics:
    known = np.ones(SLICES, np.bool_)
    return ColumnStatistics(of, lo, hi, known, known, np.zeros(SLICES, np.int64), np.full(SLICES, 100, np.int64),
                            np.zeros(SLICES, np.uint8))
