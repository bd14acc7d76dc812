"""C7, C8: what real engines make of functions and casts of a column lies in what their range functions say.

See ``tests/evaluator/function_grid.py``. A slice of some rows is asked whether the call is equal to, less than or
greater than a value that the engine gave: the outcome has to hold what follows for each of its rows, also where some
statistics are unknown.
"""

from __future__ import annotations

import math
import operator
import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.errors import SargoError
from evaluator.language.outcome import describe, of_value
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type, decimal_type
from handler.sql.parsing import Engine, parse
from tests.evaluator import function_grid as grid
from tests.evaluator.conversion_grid import value_of_text
from tests.evaluator.row_statistics import KNOWN, statistics_of_rows
from tests.sampling import ALL_CASES, share

ENGINES: dict[str, Engine] = {
    "hive3": "hive3",
    "hive3 batch": "hive3",
    "hive4": "hive4",
    "hive4 batch": "hive4",
    "spark 3.5": "spark-legacy",
    "spark 4.1": "spark-legacy",
}
OPS = {"=": operator.eq, "<": operator.lt, ">": operator.gt}
_TYPES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), BIGINT),
    **dict.fromkeys(("float", "double"), DOUBLE),
    **dict.fromkeys(("string", "varchar"), STRING),
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP,
}


def slices() -> tuple[tuple[int, ...], ...]:
    """The rows of each slice: each row alone, then random ones, then all."""
    draw = random.Random(7)
    wide = [tuple(sorted(draw.sample(range(grid.ROWS), size))) for size in (2,) * 8 + (3,) * 6 + (5, 8)]
    return (*((row,) for row in range(grid.ROWS)), *wide, tuple(range(grid.ROWS)))


SLICES = slices()


def asked(call: str, engine: Engine) -> ex.Operand | None:
    """The call as an operand of a filter; None where the SQL of the filter is refused, or says no value."""
    try:
        tree = parse(f"({call}) IS NULL", engine)
    except SargoError:
        return None
    return tree.operand if isinstance(tree, ex.IsNull) else None


def values_of(written: str, texts: list[str | None], engine: str) -> tuple[Type, list[Any]] | None:
    """The values of a call, with the type of a constant that is one of them; None where Python has no such value."""
    if written == "decimal":
        numbers = [None if text is None else Decimal(text) for text in texts]
        scale = max((-int(number.as_tuple().exponent) for number in numbers if number is not None), default=0)
        return decimal_type(38, max(0, scale)), numbers
    if written not in _TYPES:
        return None
    if written == "timestamp" and engine.startswith("spark"):
        return TIMESTAMP_LTZ, [None if text is None else int(text) for text in texts]
    of = _TYPES[written]
    if written == "float":
        return of, [None if text is None else float(np.float32(text)) for text in texts]
    try:
        return of, [None if text is None else value_of_text(text, of) for text in texts]
    except ValueError:  # a day beyond the year 9999
        return None


def contradictions(engine: str, tally: Counter[str]) -> Iterator[str]:
    """Calls, rows and outcomes that do not fit. ``tally`` counts what was decided."""
    dialect = ENGINES[engine]
    for zone, found in grid.answers().get(engine, {}).items():
        semantics = Semantics.named(dialect, zone)
        rows, schema = grid.rows(engine, zone), grid.schema(engine)
        sources = [
            StatisticsProvider(
                "rows",
                {f.name: statistics_of_rows(f.type, [row[f.name] for row in rows], SLICES, known) for f in schema},
            )
            for known in KNOWN
        ]
        for call, (written, texts) in share(found.items(), 144):
            operand, typed = asked(call, dialect), values_of(written, texts, engine)
            if operand is None or typed is None:
                continue
            of, values = typed
            for text, expected, filter_ in questions(call, operand, of, values):
                bound = bind(filter_, schema, semantics)
                for number, source in enumerate(sources):
                    outcomes = evaluate(bound, len(SLICES), [source]).outcomes.tolist()
                    tally["asked"] += 1
                    tally["decided"] += any(outcome != 7 for outcome in outcomes)
                    for members, outcome in zip(SLICES, outcomes, strict=True):
                        for row in members:
                            if not outcome & of_value(expected[row]):
                                known = "+".join(KNOWN[number])
                                yield (
                                    f"{zone}: {text} on row {row} of {members} where {known} is known: "
                                    f"{call} is {texts[row]}, the outcome {describe(outcome)}"
                                )


def questions(
    call: str, operand: ex.Operand, of: Type, values: list[Any]
) -> Iterator[tuple[str, list[bool | None], ex.HudiExpression]]:
    yield f"{call} IS NULL", [value is None for value in values], ex.IsNull(operand)
    usable = sorted(
        {value for value in values if value is not None and not (value != value or value in (math.inf, -math.inf))}
    )
    for constant in random.Random(call).sample(usable, min(4, len(usable))):
        for op, holds in OPS.items():
            if any(isinstance(value, float) and math.isnan(value) for value in values):
                continue
            expected = [None if value is None else bool(holds(value, constant)) for value in values]
            yield f"{call} {op} {constant!r}", expected, ex.Compare(op, operand, ex.Literal(constant, of))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_real_engine_makes_of_a_column_is_possible(engine: str) -> None:
    tally: Counter[str] = Counter()
    found = list(contradictions(engine, tally))
    print(f"{engine}: {tally['decided']:,} of {tally['asked']:,} questions are decided in some slice")
    assert found[:30] == []
    assert tally["decided"] > (2_000 if ALL_CASES else 80)
