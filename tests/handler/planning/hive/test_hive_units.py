"""C11: timestamps of both units and fields of structs that Hive declares otherwise, held against real Hive.

``data/hive_units.json.xz`` is written by ``python -m tests.hive.grids units``, which says what it asks: engine ->
reader -> name -> declared type -> {"values", "conditions"} or {"error": why}.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.outcome import FALSE, NULL, TRUE, describe
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Type
from evaluator.statistics.columns import from_values
from handler import open_table
from index_store.opened_table import OpenTable
from tests.handler.hive_declared_types import filter_of
from tests.hive.grids.units import READERS, ROWS, unpack

ENGINES = ("hive3", "hive4")
BITS = {"T": TRUE, "F": FALSE, "N": NULL}
_FIRST = 1_700_000_000_000_000


@functools.cache
def answers() -> Any:
    file = Path(__file__).parents[2] / "data" / "hive_units.json.xz"
    return json.loads(lzma.decompress(file.read_bytes()))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("units"))


@functools.cache
def opened(table: str, home: Path) -> OpenTable:
    return open_table(home / table)


def stored_rows() -> dict[str, dict[str, Any]]:
    """By record key, what the files hold: the numbers of timestamps as they are counted there."""
    rows: dict[str, dict[str, Any]] = {}
    for n in range(ROWS):
        shift = 100 if n in (8, 9, 10) else 0
        us = -1_234_567 if n == 5 else _FIRST + (n + shift) * 3_600_000_123 if n % 7 else None
        moments = {"ms": None if us is None else us // 1000, "us": us}
        inside = {"st.Xy": n + shift, "st.ab": f"t{n:02d}x", "st.n": n - 3, "st.ms": moments["ms"], "st.us": us}
        rows[f"k{n:02d}"] = {**moments, **(dict.fromkeys(inside) if n % 5 == 4 else inside)}
    return rows


def cells(engine: str) -> Iterator[tuple[str, str, str, Any]]:
    """(reader, name, declared type, answer) of every cell that was answered."""
    for reader, names in answers()[engine].items():
        for name, by_type in names.items():
            for declared, answer in by_type.items():
                if "values" in answer:
                    yield reader, name, declared, answer


@pytest.mark.parametrize("engine", ENGINES)
def test_every_reader_shows_an_instant_declared_as_bigint_as_its_number(engine: str) -> None:
    rows, looked_at = stored_rows(), set()
    for reader, name, declared, answer in cells(engine):
        if declared == "bigint" and name in ("ms", "us"):
            looked_at.add((reader, name))
            shown = {key: None if text is None else int(text) for key, text in answer["values"].items()}
            assert shown == {key: row[name] for key, row in rows.items()}, (reader, name)
    assert looked_at == {(reader, name) for reader in READERS for name in ("ms", "us")}


@functools.cache
def _source(schema: Schema) -> StatisticsProvider:
    """A slice for each row, with exact statistics."""
    rows = list(stored_rows().values())
    statistics = {}
    for field in schema:
        if field.name in rows[0]:
            values = [row[field.name] for row in rows]
            if field.unit == "millis":
                low = [None if value is None else value * 1000 for value in values]
                high = [None if value is None else value + 999 for value in low]
            else:
                low = high = values
            nulls = [int(value is None) for value in values]
            statistics[field.name] = from_values(field.type, low, high, nulls, [1] * len(values))
    return StatisticsProvider("rows", statistics)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_outcome_of_a_slice_of_one_row_holds_what_hive_says(engine: str, home: Path) -> None:
    keys, wrong, decided = list(stored_rows()), [], {}
    for reader, name, declared, answer in cells(engine):
        schema = opened(READERS[reader], home).table.schema
        for op, texts, letters in answer.get("conditions", ()):
            if isinstance(letters, str):
                continue
            bound = bind(filter_of(name, Type.parse(declared), op, texts), schema, Semantics.named(engine, "UTC"))
            outcomes = evaluate(bound, len(keys), [_source(schema)]).outcomes.tolist()
            known = sum(outcome in BITS.values() for outcome in outcomes)
            decided[name, declared] = decided.get((name, declared), 0) + known
            wrong += [
                (reader, name, declared, op, texts, key, letters[key], describe(outcome))
                for key, outcome in zip(keys, outcomes, strict=True)
                if not outcome & BITS[letters[key]]
            ]
    assert wrong[:20] == []
    assert min(decided["ms", "bigint"], decided["us", "bigint"]) > 400
