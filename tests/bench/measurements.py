"""One data set in one layout, all engines in one process: the files that each keeps, and its CPU time.

Before anything is timed, every engine's answer is compared with the flat scan's, file by file (for an engine that looks
at a sample, on the sample).
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tests.bench.bound_tests import bounds_read, question
from tests.bench.datasets import Files, make_files
from tests.bench.engines import engines
from tests.bench.engines.base import Engine, FileNumbers, NotOffered, Query
from tests.bench.engines.numpy_scan import NumpyScan
from tests.bench.engines.sargo import Sargo
from tests.bench.shapes import SHAPES, TINY, Shape
from tests.bench.timing import Bandwidth, take_turns

__all__ = ["TINY_SLICES", "Measurement", "check_answers", "measure", "measure_tiny"]

TINY_SLICES = 20

_ROUNDS, _BUDGET_SECONDS = 9, 1.5
_TINY_ROUNDS = 15


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """CPU seconds by shape and engine.

    kept          files kept, by shape
    extrapolated  engines that looked at a sample of the files
    not_offered   why an engine has no time, by shape and engine
    streaming     seconds to stream the bounds that a flat scan reads, 8 bytes each, by "copy" or "read" and shape
    build         seconds to index a column for Sargo, by column
    """

    data: str
    layout: str
    files: int
    seconds: Mapping[str, Mapping[str, float]]
    kept: Mapping[str, int]
    extrapolated: frozenset[str] = frozenset()
    not_offered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    streaming: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    build: Mapping[str, float] = field(default_factory=dict)


def measure(data: str, layout: str, bandwidth: Bandwidth) -> Measurement:
    """Time every shape with prepared filters."""
    files = make_files(data, layout)
    ready = [engine(files) for engine in engines()]
    seconds, kept, not_offered = {}, {}, {}
    for shape in SHAPES:
        queries, not_offered[shape.name] = _prepared(ready, shape)
        kept[shape.name] = len(check_answers(ready, queries, files))
        medians = take_turns(queries, _ROUNDS, _BUDGET_SECONDS)
        seconds[shape.name] = {
            engine.name: medians[engine.name] * _share(engine, files) for engine in ready if engine.name in medians
        }
    read = {shape.name: 8 * len(files) * len(bounds_read(question(shape.expression))) for shape in SHAPES}
    streaming = {
        how: {shape: size / speed for shape, size in read.items()}
        for how, speed in (("copy", bandwidth.copy), ("read", bandwidth.read))
    }
    extrapolated = frozenset(engine.name for engine in ready if engine.sample is not None)
    build = next(engine.build_seconds for engine in ready if isinstance(engine, Sargo))
    del ready
    gc.collect()
    return Measurement(
        data=data,
        layout=layout,
        files=len(files),
        seconds=seconds,
        kept=kept,
        extrapolated=extrapolated,
        not_offered=not_offered,
        streaming=streaming,
        build=build,
    )


def measure_tiny() -> Measurement:
    """Time 20 slices and 5 leaves from the filter's own form to the answer: binding or planning in every call."""
    files = make_files("C", "random", TINY_SLICES)
    ready = [engine(files) for engine in engines()]
    queries = {engine.name: engine.unprepared(TINY) for engine in ready}
    kept = len(check_answers(ready, queries, files))
    medians = take_turns(queries, _TINY_ROUNDS, _BUDGET_SECONDS)
    return Measurement(
        data="20", layout="random", files=len(files), seconds={TINY.name: medians}, kept={TINY.name: kept}
    )


def check_answers(ready: list[Engine], queries: Mapping[str, Query], files: Files) -> FileNumbers:
    """The kept files, sorted; raises AssertionError when an engine keeps others."""
    expected = np.sort(queries[NumpyScan.name]())
    for engine in ready:
        if engine.name in queries:
            wanted = expected if engine.sample is None else np.intersect1d(expected, engine.sample)
            answer = np.sort(queries[engine.name]())
            assert np.array_equal(answer, wanted), (
                f"{engine.name} on {files.name} {files.layout}: {len(answer)} files, not {len(wanted)}"
            )
    return expected


def _prepared(ready: list[Engine], shape: Shape) -> tuple[dict[str, Query], dict[str, str]]:
    queries, not_offered = {}, {}
    for engine in ready:
        try:
            queries[engine.name] = engine.prepare(shape)
        except NotOffered as why:
            not_offered[engine.name] = str(why)
    return queries, not_offered


def _share(engine: Engine, files: Files) -> float:
    return 1.0 if engine.sample is None else len(files) / len(engine.sample)
