"""TPC-DS as ``tests/tpc`` measures it."""

from __future__ import annotations

from tests.tpc.benchmark import Benchmark
from tests.tpc.spellings import CASTS
from tests.tpcds.layouts import LAYOUTS
from tests.tpcds.parameters import parameters
from tests.tpcds.scans import SCANS

BENCHMARK = Benchmark(
    title="TPC-DS",
    generator="tpcds",
    scans=SCANS,
    parameters=parameters,
    seeds=3,
    layouts=LAYOUTS,
    specification=CASTS,
    small=0.01,
)
