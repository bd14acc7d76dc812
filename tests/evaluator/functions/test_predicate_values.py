"""C7, C8: what real Hive makes of conditions over functions that are NULL of some values is among the outcomes.

See ``tests/evaluator/predicate_grid.py``. Each row is a slice, so are some sets of rows, also with unknown statistics.
"""

from __future__ import annotations

import random

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.errors import SargoError
from evaluator.language.outcome import describe, of_value
from evaluator.language.semantics import Semantics
from handler.sql.parsing import Engine, parse
from tests.evaluator import predicate_grid as grid
from tests.evaluator.row_statistics import KNOWN, statistics_of_rows
from tests.sampling import examples, share

VALUE = {"T": True, "F": False, "N": None}


def slices() -> list[tuple[int, ...]]:
    """Each row alone, random sets of rows, and all rows."""
    draw = random.Random(5)
    some = [tuple(sorted(draw.sample(range(grid.ROWS), size))) for size in (2,) * 20 + (3,) * 10 + (6,) * 4]
    return [*((row,) for row in range(grid.ROWS)), *some, tuple(range(grid.ROWS))]


SLICES = slices()


@pytest.mark.parametrize("engine", ["hive3", "hive3 batch", "hive4", "hive4 batch"])
def test_every_answer_is_among_the_outcomes(engine: str) -> None:
    dialect: Engine = "hive3" if engine.startswith("hive3") else "hive4"
    semantics = Semantics.named(dialect, "UTC")
    providers = {
        "+".join(known): StatisticsProvider(
            "rows", {f.name: statistics_of_rows(f.type, grid.values(f.name), SLICES, known) for f in grid.schema()}
        )
        for known in KNOWN
    }
    decided, wrong = 0, []
    for condition, letters in share(grid.answers()[engine].items(), 20):
        if engine == "hive3 batch" and compares_a_bigint(condition):
            continue
        try:
            tree = parse(condition, dialect)
        except SargoError:
            continue
        bound = bind(tree, grid.schema(), semantics)
        for known, provider in providers.items():
            outcomes = evaluate(bound, len(SLICES), [provider]).outcomes.tolist()
            decided += sum(outcome != 7 for outcome in outcomes)
            wrong += [
                f"{condition} is {letters[row]} on row {row} of {members} ({known}), not {describe(outcome)}"
                for members, outcome in zip(SLICES, outcomes, strict=True)
                for row in members
                if not outcome & of_value(VALUE[letters[row]])
            ]
    assert wrong == []
    assert decided > examples(3_900, at_night=10_000)


def compares_a_bigint(condition: str) -> bool:
    """The answer is a value, for which Hive 3 subtracts. As a filter the condition compares the numbers right."""
    return condition.startswith(("l ", "not (l ")) and not condition.endswith(("true", "false"))
