"""What is measured: the scans of a benchmark, their parameters and the tables they read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.tpc.constants import Parameters
from tests.tpc.layout import Layout
from tests.tpc.questions import Question
from tests.tpc.scan import Scan
from tests.tpc.spellings import Spelling

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """``parameters(0)`` are those of the qualification run, ``parameters(seed)`` others, for the seeds below ``seeds``.

    ``generator`` is the command of ``tpcgen-cli``. ``small``: scale factors below it make small tables.
    """

    title: str
    generator: str
    scans: tuple[Scan, ...]
    parameters: Callable[[int], Parameters]
    seeds: int
    layouts: Mapping[str, Layout]
    specification: Spelling
    small: float

    @property
    def archive(self) -> Path:
        """The small tables of the repository."""
        return ROOT / "data" / self.generator / "tables.tar.xz"

    @property
    def results(self) -> Path:
        return ROOT / self.generator / "results"

    def questions(self, table: str) -> Iterator[Question]:
        """Each condition once: with fixed constants all seeds give the same."""
        seen = set()
        for scan in self.scans:
            for seed in range(self.seeds) if scan.table == table else ():
                question = Question(scan, seed, self.parameters(seed).get(scan.query, {}), self.specification)
                if (scan.label, question.literal) not in seen:
                    seen.add((scan.label, question.literal))
                    yield question


@cache
def benchmark(name: str) -> Benchmark:
    """``tpch`` or ``tpcds``."""
    found = importlib.import_module(f"tests.{name}.benchmark").BENCHMARK
    assert isinstance(found, Benchmark)
    return found
