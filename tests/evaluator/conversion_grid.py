"""The conversion grid: what real engines answer when a column of one type meets a constant of another (C7, C8).

``data/conversions.json.xz`` holds 26,660 conditions over a table of 18 rows, and what Hive 3.1.3, Hive 4.0.1 and Spark
3.5.5 (ANSI off and on) say on each row. This module turns them into filters and slices:

    condition                                  filter
    =========================================  ===========================================
    ["cmp", "<", "i", 3]                       ``i < literals[3]``
    ["in" | "not in", "", "i", 3, 4]           ``i [NOT] IN (...)``
    ["between" | "not between", "", "i", 3, 4] ``i [NOT] BETWEEN ... AND ...``
    ["distinct", "", "i", 3]                   ``i IS DISTINCT FROM ...``
    ["cols", "<", "i", "d"]                    ``i < d``
    ["cast", "<", "i", "string", 3]            ``CAST(i AS string) < ...``
    ["call", "<", "i", "+", 3, 4]              ``(i + literals[3]) < literals[4]``

Answers are T, F, N (NULL), E (an error on this row), one letter for each row; "" where the engine refuses the
condition. ``selected`` holds the rows that Hive's vectorized filter selects, "=" when they are the rows with T.

``python -m tests.evaluator.conversion_grid`` writes anew which share of each pair of types is decided
(``data/conversion_shares.json.xz``): a test sees to it that none falls. With ``SARGO_TESTS=all`` it writes the shares
of all conditions, otherwise those of the conditions that ``make test`` asks.
"""

from __future__ import annotations

import datetime
import functools
import json
import lzma
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import TIMESTAMP_LTZ, Kind, Type
from evaluator.statistics.columns import from_values
from tests.sampling import ALL_CASES, share

ENGINES = {"hive3": "hive", "hive4": "hive", "spark-legacy": "spark", "spark-ansi": "spark"}
ROWS = 18
#: The statistics of a slice that may be unknown.
EXACT = ("lo", "hi", "nulls")
_DATA = Path(__file__).parent / "data"
_SHARES = _DATA / "conversion_shares.json.xz"
#: A run asks one in five of the conditions, a run of all tests all.
ONE_IN = 1 if ALL_CASES else 5
_EPOCH = datetime.datetime(1970, 1, 1)
_DECIDED = (1, 2, 4)


@functools.cache
def grid() -> Any:
    """The data file."""
    return json.loads(lzma.decompress((_DATA / "conversions.json.xz").read_bytes()))


def sql_type(text: str, engine: str) -> Type:
    """Spark's ``timestamp`` is an instant."""
    return TIMESTAMP_LTZ if text == "timestamp" and engine.startswith("spark") else Type.parse(text)


def value_of_text(text: str | None, column_type: Type) -> Any:
    """A value of the grid in the form of ``evaluator.language.types``."""
    if text is None:
        return None
    match column_type.kind:
        case Kind.BOOLEAN:
            return text == "true"
        case kind if kind.is_integer:
            return int(text)
        case Kind.FLOAT:
            return float(np.float32(text))
        case Kind.DOUBLE:
            return float(text)
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.BINARY:
            return text.encode()
        case Kind.DATE:
            return (datetime.datetime.fromisoformat(text) - _EPOCH).days
        case kind if kind.is_timestamp:
            whole, _, fraction = text.partition(".")
            micros = (datetime.datetime.fromisoformat(whole) - _EPOCH) // datetime.timedelta(microseconds=1)
            exact = micros + Fraction(int(fraction.ljust(9, "0") or "0"), 1000)
            return exact.numerator if exact.denominator == 1 else exact
        case _:
            return text


@functools.cache
def table(engine: str) -> tuple[Schema, tuple[Mapping[str, Any], ...]]:
    """The columns and the rows as the engine holds them; CHAR is stored padded."""
    fields, rows = [], [dict[str, Any]() for _ in range(ROWS)]
    for name, written, texts in grid()["columns"]:
        of = sql_type(written, engine)
        fields.append(Field(name, of))
        for row, text in zip(rows, texts, strict=True):
            value = value_of_text(text, of)
            row[name] = value.ljust(of.precision) if of.kind is Kind.CHAR and value is not None else value
    return Schema(fields), tuple(rows)


@functools.cache
def slices() -> tuple[tuple[int, ...], ...]:
    """The rows of each slice: every row by itself, then random wider ones."""
    draw = random.Random(7)
    wide = [tuple(draw.sample(range(ROWS), size)) for size in (2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 6, 9, ROWS)]
    return (*((row,) for row in range(ROWS)), *wide)


@functools.cache
def source(engine: str, known: tuple[str, ...] = EXACT) -> StatisticsProvider:
    """Statistics of the slices, of which some may be unknown: exact ones without.

    A column with NaN has no bounds there, as no writer records any to trust.
    """
    schema, rows = table(engine)
    statistics = {}
    for field in schema:
        lows, highs, nulls = [], [], []
        for members in slices():
            values = [rows[row][field.name] for row in members]
            present = [value for value in values if value is not None]
            bounded = bool(present) and not any(isinstance(v, float) and math.isnan(v) for v in present)
            lows.append(min(present) if bounded and "lo" in known else None)
            highs.append(max(present) if bounded and "hi" in known else None)
            nulls.append(len(values) - len(present) if "nulls" in known else None)
        statistics[field.name] = from_values(field.type, lows, highs, nulls, [len(members) for members in slices()])
    return StatisticsProvider("rows", statistics)


@functools.cache
def _literal(number: int, engine: str) -> ex.Literal:
    written, text = grid()["literals"][number]
    of = sql_type(written, engine)
    return ex.Literal(value_of_text(text, of), of)


def filter_of(condition: Sequence[Any], engine: str) -> ex.HudiExpression:
    """The filter that a condition stands for."""
    form, op, name, *parts = condition
    column = ex.Column((name,))
    literals = [_literal(part, engine) for part in parts if isinstance(part, int)]
    match form:
        case "cmp":
            return ex.Compare(op, column, literals[0])
        case "distinct":
            return ex.Not(ex.Compare("<=>", column, literals[0]))
        case "between" | "not between":
            inside = ex.And((ex.Compare(">=", column, literals[0]), ex.Compare("<=", column, literals[1])))
            return inside if form == "between" else ex.Not(inside)
        case "in" | "not in":
            result = ex.In(column, tuple(literals))
            return result if form == "in" else ex.Not(result)
        case "cols":
            return ex.Compare(op, column, ex.Column((parts[0],)))
        case "cast":
            return ex.Compare(op, ex.Cast(column, sql_type(parts[0], engine)), literals[0])
        case _:
            return ex.Compare(op, ex.Call(parts[0], (column, *literals[:-1])), literals[-1])


def answered(engine: str, one_in: int = ONE_IN) -> Iterator[tuple[Sequence[Any], str, str]]:
    """(condition, rows, selected) of a share of the conditions that the engine answers; "" for no vectorized form."""
    data = grid()
    selected = data["selected"].get(engine, [""] * len(data["conditions"]))
    for condition, rows, chosen in share(zip(data["conditions"], data["rows"][engine], selected, strict=True), one_in):
        if rows:
            as_rows = "".join("T" if answer == "T" else "." for answer in rows)
            yield condition, rows, as_rows if chosen == "=" else chosen


@functools.cache
def own_outcomes(engine: str) -> tuple[list[int], ...]:
    """The outcomes of the answered conditions under the engine's own semantics."""
    semantics = Semantics.named(engine, "UTC")
    return tuple(outcomes_of(condition, engine, semantics) for condition, _, _ in answered(engine))


def outcomes_of(
    condition: Sequence[Any], engine: str, semantics: Semantics, known: tuple[str, ...] = EXACT
) -> list[int]:
    """The outcome in each slice, where these of its statistics are known."""
    bound = bind(filter_of(condition, engine), table(engine)[0], semantics)
    result: list[int] = evaluate(bound, len(slices()), [source(engine, known)]).outcomes.tolist()
    return result


def pair_of(condition: Sequence[Any]) -> str:
    """What meets what, in words: the form, the column and the type of the other side."""
    form, _, name, *parts = condition
    of = parts[0] if isinstance(parts[0], str) else grid()["literals"][parts[0]][0].partition("(")[0]
    return f"{form} {name} {of}"


def decided_shares(engine: str) -> dict[str, float]:
    """For each pair the share of (condition, row) that a slice of this one row decides, in percent."""
    decided: dict[str, list[int]] = {}
    for (condition, rows, _), outcomes in zip(answered(engine), own_outcomes(engine), strict=True):
        counts = decided.setdefault(pair_of(condition), [0, 0])
        for answer, outcome in zip(rows, outcomes[:ROWS], strict=True):
            if answer in "TFN":
                counts[0] += outcome in _DECIDED
                counts[1] += 1
    return {pair: round(100 * hit / total, 2) for pair, (hit, total) in sorted(decided.items()) if total}


def recorded_shares(engine: str) -> dict[str, float]:
    """The shares that were decided when they were last written, of the conditions that ``decided_shares`` looks at."""
    shares: dict[str, float] = _recorded().get(_run(engine), {})
    return shares


def _recorded() -> dict[str, dict[str, float]]:
    recorded: dict[str, dict[str, float]] = json.loads(lzma.decompress(_SHARES.read_bytes()))
    return recorded


def _run(engine: str) -> str:
    return engine if ONE_IN == 1 else f"{engine}, one in {ONE_IN}"


if __name__ == "__main__":
    _SHARES.write_bytes(
        lzma.compress(json.dumps({**_recorded(), **{_run(name): decided_shares(name) for name in ENGINES}}).encode())
    )
