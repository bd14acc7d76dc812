"""One round: a seed determines a table and its filters; the result has the coverage and the failures."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from evaluator.language import outcome
from evaluator.language.clock import Clock
from evaluator.language.semantics import ENGINES, Semantics
from tests.prove.coverage import Coverage
from tests.prove.grammar import Grammar
from tests.prove.laws import check
from tests.prove.shrink import described, smallest
from tests.prove.table import SLICES, Table

__all__ = ["CASES_PER_ROUND", "SEMANTICS", "Result", "run"]

FILTERS = 150
CASES_PER_ROUND = FILTERS * SLICES
ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kathmandu")
#: The filters are planned for queries that run from here on.
PLANNED = Clock.from_now_on(zone_known=True, now=1_578_052_800)  # 2020-01-03 12:00 UTC
SEMANTICS = {f"{engine}, {zone}": Semantics.named(engine, zone).at(PLANNED) for engine in ENGINES for zone in ZONES}


@dataclass(kw_only=True)
class Result:
    """The result of one round. ``skippable`` slices have no matching row; ``skipped`` of them were skipped."""

    seed: int
    cases: int = 0
    filters: set[int] = field(default_factory=set)
    skippable: int = 0
    skipped: int = 0
    rows: int = 0
    rows_without_value: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    fault_counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def run(seed: int, filters: int = FILTERS) -> Result:
    """Draw a table and so many filters from the seed, check them all, and shrink what fails."""
    rng = random.Random(seed)
    table = Table.drawn(rng)
    grammar = Grammar(rng, table.palettes)
    result = Result(seed=seed)
    for fault, count in table.fault_counts.items():
        result.coverage.cases["writer", fault] += count
    for number in range(filters):
        expression = grammar.filter()
        name = rng.choice(list(SEMANTICS))
        answer = check(expression, SEMANTICS[name], table, rng)
        result.cases += SLICES
        result.filters.add(hash((expression, name)))
        result.coverage.add(expression, name, SLICES, answer.values)
        result.coverage.add_answers(answer.evaluation)
        result.rows += len(answer.values)
        unknown = answer.values == outcome.EMPTY
        result.rows_without_value += int(np.count_nonzero(unknown))
        without = (answer.wanted & outcome.TRUE == 0) & ~table.holds[:, unknown].any(axis=1)
        result.skippable += int(np.count_nonzero(without))
        result.skipped += int(np.count_nonzero(without & ~answer.evaluation.keep))
        if answer.failures:
            failure = smallest(answer.failures[0], table)
            result.failures.append(f"seed {seed}, filter {number}\n{described(failure, table)}")
    return result
