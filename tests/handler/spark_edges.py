"""What Spark 4.1 says of numbers beside 2^24, 2^53 and 2^63, and of wall clocks in the gaps and overlaps of a zone.

``data/spark_edges.json.xz`` is written by ``python -m tests.handler.spark.record_edges``. It holds 700 random
conditions over a table of numbers, and 4,200 over tables of moments in three zones, with ANSI mode off and on. Answers
are T, F and N (NULL), one letter for each row; "" where Spark refuses the condition.
"""

from __future__ import annotations

import datetime
import functools
import json
import lzma
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.outcome import FALSE, NULL, TRUE, describe
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.statistics.columns import from_values
from handler.sql.parsing import parse

BITS = {"T": TRUE, "F": FALSE, "N": NULL}
MODES = ("legacy", "ansi")
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


@functools.cache
def answers() -> Any:
    """The data file."""
    return json.loads(lzma.decompress((Path(__file__).parent / "data" / "spark_edges.json.xz").read_bytes()))


@functools.cache
def older_numbers() -> Any:
    """What Spark 3.5 says of other conditions on the same table of numbers (``record_numbers``)."""
    return json.loads(lzma.decompress((Path(__file__).parent / "data" / "spark_numbers_3.5.json.xz").read_bytes()))


@functools.cache
def older_moments() -> Any:
    """What Spark 3.5 says otherwise near the changes of a clock: by zone and part, by condition."""
    path = Path(__file__).parent / "data" / "spark_edges_3.5.json"
    return json.loads(path.read_text("utf-8"))["differences"]


def number_table() -> tuple[Schema, list[dict[str, Any]]]:
    """The table of numbers, in the form of ``evaluator.language.types``."""
    types = {name: Type.parse(written) for name, written in answers()["numbers"]["columns"].items()}
    rows = [{name: _number(row[name], of) for name, of in types.items()} for row in answers()["numbers"]["rows"]]
    return Schema([Field(name, of) for name, of in types.items()]), rows


def _number(text: str | None, of: Type) -> Any:
    if text is None:
        return None
    if of.kind is Kind.DECIMAL:
        return Decimal(text).quantize(Decimal(1).scaleb(-of.scale))
    if of.kind is Kind.FLOAT:
        return float(np.float32(text))
    return float(text) if of.kind is Kind.DOUBLE else int(text)


def moment_table(zone: str) -> tuple[Schema, list[dict[str, Any]]]:
    """The table of wall clocks (c), instants (z) and dates (dt) of a zone."""
    rows = [
        {
            "c": None if clock is None else (datetime.datetime.fromisoformat(clock) - _EPOCH) // _MICROSECOND,
            "z": instant,
            "dt": None if day is None else (datetime.date.fromisoformat(day) - _EPOCH.date()).days,
        }
        for clock, instant, day in answers()["moments"][zone]["rows"]
    ]
    return Schema([Field("c", TIMESTAMP), Field("z", TIMESTAMP_LTZ), Field("dt", DATE)]), rows


def slices(count: int) -> list[tuple[int, ...]]:
    """Every row by itself, then pairs and wider slices."""
    draw = random.Random(18)
    wide = [tuple(draw.sample(range(count), size)) for size in (2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 6)]
    return [*((row,) for row in range(count)), *wide, tuple(range(count))]


def source(schema: Schema, rows: list[dict[str, Any]]) -> StatisticsProvider:
    """Exact statistics of the slices."""
    statistics = {}
    for field in schema:
        parts = [[rows[row][field.name] for row in members] for members in slices(len(rows))]
        present = [[value for value in part if value is not None] for part in parts]
        statistics[field.name] = from_values(
            field.type,
            [min(part, default=None) for part in present],
            [max(part, default=None) for part in present],
            [len(part) - len(kept) for part, kept in zip(parts, present, strict=True)],
            [len(part) for part in parts],
        )
    return StatisticsProvider("rows", statistics)


def contradictions(
    said_of: dict[str, str], schema: Schema, rows: list[dict[str, Any]], semantics: Semantics
) -> list[tuple[str, str, str, str]]:
    """(condition, row, what Spark says, outcome) wherever a slice's outcome does not hold what Spark says of its row.

    "." in an answer is a row that Spark's filter does not select.
    """
    statistics = source(schema, rows)
    bits = {**BITS, ".": FALSE | NULL}
    wrong = []
    for sql, said in said_of.items():
        if not said:
            continue
        outcomes = evaluate(bind(parse(sql, "spark"), schema, semantics), len(slices(len(rows))), [statistics]).outcomes
        for members, outcome in zip(slices(len(rows)), outcomes.tolist(), strict=True):
            wrong += [
                (sql, str(rows[row]), said[row], describe(outcome)) for row in members if not outcome & bits[said[row]]
            ]
    return wrong
