"""The conversion grid from Hive's own bytes: casts and folded constants stand where Hive put them.

``data/hive_conversions.json.xz`` holds filters that Hive 3.1.3 and 4.0.1 serialized, by the number of the condition in
``tests/evaluator/conversion_grid.py``, which knows the table and what Hive answers.
"""

import json
import lzma
from pathlib import Path

import pytest

import sarg
from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate
from evaluator.language.outcome import FALSE, NULL, TRUE, describe
from evaluator.language.semantics import Semantics
from tests.evaluator import conversion_grid as grid
from tests.sampling import share

FILTERS = json.loads(lzma.decompress((Path(__file__).parents[2] / "data" / "hive_conversions.json.xz").read_bytes()))
BITS = {"T": TRUE, "F": FALSE, "N": NULL}


@pytest.mark.parametrize(
    ("engine", "name"), [("hive3", "hive3"), ("hive3", "hive"), ("hive4", "hive4"), ("hive4", "hive")]
)
def test_every_outcome_holds_what_hive_says_of_its_own_bytes(engine, name):
    schema, _ = grid.table(engine)
    semantics, data, faults = Semantics.named(name, "UTC"), grid.grid(), []
    for number, filter_bytes in share(FILTERS[engine], 3):
        bound = bind(sarg.decode(filter_bytes), schema, semantics)
        outcomes = evaluate(bound, len(grid.slices()), [grid.source(engine)]).outcomes.tolist()
        for members, outcome in zip(grid.slices(), outcomes, strict=True):
            for row in members:
                said = data["rows"][engine][number][row]
                if said in BITS and not outcome & BITS[said]:
                    faults.append((data["conditions"][number], row, said, describe(outcome)))
    assert faults[:10] == []
