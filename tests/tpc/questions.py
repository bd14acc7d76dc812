"""A question: one scan with one set of parameters. Seed 0 is the qualification run of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.tpc.constants import Value
from tests.tpc.scan import Scan
from tests.tpc.spellings import LITERAL, Spelling


@dataclass(frozen=True)
class Question:
    scan: Scan
    seed: int
    values: Mapping[str, Value]
    spelling: Spelling

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
        return self.spelled(self.spelling)
