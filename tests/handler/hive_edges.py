"""What Hive 3.1.3 and 4.0.1 say of numbers beside 2^24, 2^53 and 2^63, of wall clocks beside clock changes, and of
constants.

``data/hive_edges.json.xz`` is written by ``python -m tests.hive.grids edges``: engine -> "numbers" or a zone ->
condition -> a letter for each row (T, F, N), "selected" -> condition -> the rows that a query returns, "filters" ->
condition -> the bytes that Hive hands over, "constants" -> text -> the value as text, or None where Hive has none.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate
from evaluator.language.expression import HudiExpression
from evaluator.language.outcome import describe
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Type
from tests.evaluator.conversion_grid import value_of_text
from tests.handler.spark_edges import BITS, slices, source

Table = tuple[Schema, list[dict[str, Any]]]


@functools.cache
def answers(engine: str) -> Any:
    """The answers of one engine: "hive3" or "hive4"."""
    return json.loads(lzma.decompress((Path(__file__).parent / "data" / "hive_edges.json.xz").read_bytes()))[engine]


def table(columns: Mapping[str, str], rows: list[dict[str, str | None]]) -> Table:
    """A table in the form of ``evaluator.language.types``."""
    types = {name: Type.parse(written) for name, written in columns.items()}
    typed = [{name: value_of_text(row[name], of) for name, of in types.items()} for row in rows]
    return Schema([Field(name, of) for name, of in types.items()]), typed


def contradictions(
    filters: Mapping[str, HudiExpression], said_of: Mapping[str, str], of: Table, semantics: Semantics
) -> tuple[list[tuple[str, str, str, str]], int]:
    """(condition, row, what Hive says, outcome) where a slice's outcome does not hold what Hive says of its row; and
    how many outcomes of slices of one row are decided."""
    schema, rows = of
    statistics = source(schema, rows)
    bits = {**BITS, ".": BITS["F"] | BITS["N"]}
    wrong, decided = [], 0
    for sql, expression in filters.items():
        outcomes = evaluate(bind(expression, schema, semantics), len(slices(len(rows))), [statistics]).outcomes.tolist()
        decided += sum(outcome in BITS.values() for outcome in outcomes[: len(rows)])
        for members, outcome in zip(slices(len(rows)), outcomes, strict=True):
            wrong += [
                (sql, str(rows[row]), said_of[sql][row], describe(outcome))
                for row in members
                if not outcome & bits[said_of[sql][row]]
            ]
    return wrong, decided
