"""C1: whole seconds of moments before 1970. Spark cuts the fraction off, Hive takes the second before.

Spark's answers stand in ``data/constants.json.xz``: ``unix_timestamp(timestamp '1969-12-31 23:59:59.5')`` is 0.
"""

from __future__ import annotations

import random

import pytest

from evaluator.binding.bind import bind
from evaluator.binding.interval_evaluation import evaluate_slice
from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, TRUE, of_value
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import TIMESTAMP, TIMESTAMP_LTZ
from evaluator.reference.row_oracle import value_of
from handler.sql import parse
from tests.sampling import examples

HALF = 500_000


def outcome(engine: str, text: str, lo: int, hi: int, zone: str = "UTC") -> int:
    schema = Schema([Field("t", TIMESTAMP_LTZ if zone != "UTC" else TIMESTAMP)])
    bound = bind(parse(text, engine), schema, Semantics.named(engine, zone))  # type: ignore[arg-type]
    return evaluate_slice(bound, {"t": Interval(lo, hi, null=False)})


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("name", ["unix_timestamp", "to_unix_timestamp"])
def test_spark_cuts_the_fraction_off(name: str, zone: str) -> None:
    assert outcome("spark", f"{name}(t) = 0", -HALF, -HALF, zone) == TRUE
    assert outcome("spark", f"{name}(t) = -1", -HALF, -HALF, zone) == FALSE
    assert outcome("spark", f"{name}(t) = -1", -3 * HALF, -HALF, zone) & TRUE
    assert outcome("spark", f"{name}(t) = -2", -4 * HALF, -4 * HALF, zone) == TRUE


def test_hive_takes_the_second_before() -> None:
    assert outcome("hive4", "unix_timestamp(t) = -1", -HALF, -HALF) == TRUE
    assert outcome("hive4", "unix_timestamp(t) = 0", -HALF, -HALF) == FALSE


@pytest.mark.parametrize("engine", ENGINES)
def test_no_row_of_a_range_is_lost(engine: str) -> None:
    rng = random.Random(engine)
    schema = Schema([Field("t", TIMESTAMP)])
    semantics = Semantics.named(engine, "UTC")
    for _ in range(examples(117, at_night=5_000)):
        rows = [rng.randrange(-5_000_000, 3_000_000) for _ in range(rng.choice((1, 3)))]
        text = f"unix_timestamp(t) {rng.choice(('=', '<', '>=', '!='))} {rng.randrange(-6, 4)}"
        expression = parse(text, engine)  # type: ignore[arg-type]
        found = evaluate_slice(bind(expression, schema, semantics), {"t": Interval(min(rows), max(rows), null=False)})
        for row in rows:
            assert of_value(value_of(expression, {"t": row}, schema, semantics)) & found, (text, rows)
