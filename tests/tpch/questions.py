"""The questions: each scan with each set of parameters. Seed 0 is the qualification run of the specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.tpch.parameters import Value, parameters
from tests.tpch.scans import SCANS, Scan
from tests.tpch.spellings import LITERAL, SPECIFICATION, Spelling

SEEDS = range(6)


@dataclass(frozen=True)
class Question:
    scan: Scan
    seed: int

    @cached_property
    def values(self) -> Mapping[str, Value]:
        return parameters(self.seed)[self.scan.query]

    @property
    def name(self) -> str:
        return f"{self.scan.name}, seed {self.seed}"

    def spelled(self, spelling: Spelling) -> str:
        return spelling.write(self.scan.filter, self.values)

    @cached_property
    def literal(self) -> str:
        """The condition with each constant computed by hand."""
        return self.spelled(LITERAL)

    @cached_property
    def specification(self) -> str:
        return self.spelled(SPECIFICATION)


def questions(table: str) -> Iterator[Question]:
    """Each condition once: with fixed constants all seeds give the same."""
    seen = set()
    for scan in SCANS:
        if scan.table == table:
            for seed in SEEDS:
                question = Question(scan, seed)
                if (scan.query, question.literal) not in seen:
                    seen.add((scan.query, question.literal))
                    yield question
