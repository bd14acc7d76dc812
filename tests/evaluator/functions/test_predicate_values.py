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
from evaluator.statistics.columns import ColumnStatistics, from_values
from handler.sql.parsing import Engine, parse
from tests.evaluator import predicate_grid as grid
from tests.sampling import share

KNOWN = (("lo", "hi", "nulls"), ("lo",), ("hi",), ("lo", "hi"))
VALUE = {"T": True, "F": False, "N": None}


def slices() -> list[tuple[int, ...]]:
    """Each row alone, random sets of rows, and all rows."""
    draw = random.Random(5)
    some = [tuple(sorted(draw.sample(range(grid.ROWS), size))) for size in (2,) * 20 + (3,) * 10 + (6,) * 4]
    return [*((row,) for row in range(grid.ROWS)), *some, tuple(range(grid.ROWS))]


SLICES = slices()


def statistics(name: str, known: tuple[str, ...]) -> ColumnStatistics:
    values = grid.values(name)
    lows, highs, nulls = [], [], []
    for members in SLICES:
        present = [values[row] for row in members if values[row] is not None]
        lows.append(min(present) if present and "lo" in known else None)
        highs.append(max(present) if present and "hi" in known else None)
        nulls.append(len(members) - len(present) if "nulls" in known else None)
    return from_values(grid.schema().resolve(name).type, lows, highs, nulls, [len(members) for members in SLICES])


@pytest.mark.parametrize("engine", ["hive3", "hive3 batch", "hive4", "hive4 batch"])
def test_every_answer_is_among_the_outcomes(engine: str) -> None:
    dialect: Engine = "hive3" if engine.startswith("hive3") else "hive4"
    semantics = Semantics.named(dialect, "UTC")
    providers = {
        "+".join(known): StatisticsProvider("rows", {name: statistics(name, known) for name in grid.TABLE})
        for known in KNOWN
    }
    decided, wrong = 0, []
    for condition, letters in share(grid.answers()[engine].items(), 4):
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
    assert decided > 10_000


def compares_a_bigint(condition: str) -> bool:
    """The answer is a value, for which Hive 3 subtracts. As a filter the condition compares the numbers right."""
    return condition.startswith(("l ", "not (l ")) and not condition.endswith(("true", "false"))
