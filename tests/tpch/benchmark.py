"""TPC-H as ``tests/tpc`` measures it."""

from __future__ import annotations

from tests.tpc.benchmark import Benchmark
from tests.tpc.spellings import SPECIFICATION
from tests.tpch.layouts import LAYOUTS
from tests.tpch.parameters import parameters
from tests.tpch.scans import SCANS

BENCHMARK = Benchmark(
    title="TPC-H",
    generator="tpch",
    scans=SCANS,
    parameters=parameters,
    seeds=6,
    layouts=LAYOUTS,
    specification=SPECIFICATION,
    small=0.1,
)
