"""C11: columns that Hive declares with another type than the stored one, held against what real Hive shows of them.

``tests.handler.hive_declared_types`` knows the answers of Hive 3.1.3 and 4.0.1 and who asks for them anew.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.binding.bind import bind
from evaluator.binding.declared_types import Seen
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.outcome import FALSE, NULL, TRUE, describe
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, Kind
from evaluator.statistics.columns import from_values
from evaluator.statistics.distrust import ANCIENT_DAY
from handler import open_table, prune
from index_store.opened_table import OpenTable
from tests.evaluator.conversion_grid import value_of_text
from tests.handler.hive_declared_types import ENGINES, TABLES, Cell, cells, filter_of, folder_of, shown, stored_rows
from tests.sampling import share

BITS = {"T": TRUE, "F": FALSE, "N": NULL}
#: A condition on a cell that is not decided skips nothing: few of them are asked.
ONE_IN = {Seen.VALUE: 6, Seen.PREFIX: 6, Seen.NUMBER: 1, Seen.MOMENT: 1, Seen.UNKNOWN: 60}


@functools.cache
def opened(table: str, below: Path) -> OpenTable:
    return open_table(folder_of(table, below))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("declared")


def conditions(engine: str) -> Iterator[tuple[Cell, str, list[str], dict[str, str]]]:
    """A share of the conditions that Hive answers."""
    for kind, one_in in ONE_IN.items():
        asked = [
            (cell, op, texts, letters)
            for cell in cells()
            if cell.engine == engine and cell.seen is kind
            for op, texts, letters in cell.answer.get("conditions", ())
            if isinstance(letters, dict)
        ]
        assert asked
        yield from share(asked, one_in)


def _named(cell: Cell, op: str, texts: list[str]) -> str:
    return f"{cell.engine} {cell.reader}: {cell.column} {op} {texts}, {cell.declared} over {cell.stored}"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_reader_shows_what_the_table_of_declared_types_says(engine: str) -> None:
    wrong, looked_at = [], set()
    for cell in cells():
        kind = cell.seen
        if cell.engine != engine or kind in (Seen.UNKNOWN, Seen.MOMENT) or "values" not in cell.answer:
            continue
        looked_at.add((cell.reader, str(cell.declared), str(cell.stored)))
        for key, text in cell.answer["values"].items():
            value = stored_rows(TABLES[cell.reader])[key][cell.column]
            if cell.declared == DATE and value is not None and value < ANCIENT_DAY:
                continue  # Hive 4 shows it in the calendar of the time: no statistics of such a day are used
            if text not in _allowed(cell, value, kind):
                wrong.append((engine, cell.reader, str(cell.declared), str(cell.stored), value, text))
    assert wrong[:20] == []
    assert len(looked_at) > 40


class _Texts:
    """The texts that stand for a value."""

    def __init__(self, cell: Cell, values: list[Any]) -> None:
        self._cell, self._values = cell, values

    def __contains__(self, text: object) -> bool:
        if text is None or None in self._values:
            return text is None and None in self._values
        value = value_of_text(str(text), self._cell.declared)
        if self._cell.declared.kind is Kind.CHAR:
            return value.rstrip(" ") in [item.rstrip(" ") for item in self._values]
        return any(value == item or (value != value and item != item) for item in self._values)


def _allowed(cell: Cell, value: Any, kind: Seen) -> _Texts:
    whole = shown(value, cell.stored, cell.declared)
    assert whole is not ...
    return _Texts(
        cell,
        [whole] if kind in (Seen.VALUE, Seen.NUMBER) or whole is None else [whole, whole[: cell.declared.precision]],
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_no_slice_with_a_row_that_hive_returns_is_skipped(engine: str, home: Path) -> None:
    wrong, skipped = [], 0
    for cell, op, texts, letters in conditions(engine):
        name = TABLES[cell.reader]
        plan = prune(
            opened(name, home), filter_of(cell.column, cell.declared, op, texts), engine=engine, time_zone="UTC"
        )
        by_file = _keys_of_files(name, home)
        skipped += len(plan.skipped)
        for item, outcome in zip(plan.slices, plan.outcomes.tolist(), strict=True):
            said = {letters[key] for key in by_file[item.file_id] if key in letters}
            if any(not outcome & BITS[letter] for letter in said) or (item in plan.skipped and "T" in said):
                wrong.append((_named(cell, op, texts), sorted(said), describe(outcome)))
    assert wrong[:20] == []
    assert skipped > 100


@functools.cache
def _keys_of_files(name: str, home: Path) -> dict[str, list[str]]:
    """The record keys in the base file and the log files of each file group: what a log file holds was there before."""
    import pyarrow.parquet as pq

    keys: dict[str, list[str]] = {}
    for item in opened(name, home).at().slices:
        assert item.base_file
        found = pq.read_table(home / name / item.base_file, columns=["_hoodie_record_key"], partitioning=None)
        keys[item.file_id] = found["_hoodie_record_key"].to_pylist()
    return keys


@functools.cache
def _source(name: str, home: Path) -> tuple[list[str], StatisticsProvider]:
    """A slice for each row, with exact statistics."""
    rows = stored_rows(name)
    statistics = {}
    for field in opened(name, home).table.schema:
        if field.type.kind is not Kind.OTHER and field.name in next(iter(rows.values())):
            values = [row[field.name] for row in rows.values()]
            bounds = [None if value is None or value != value else value for value in values]
            nulls = [int(value is None) for value in values]
            statistics[field.name] = from_values(field.type, bounds, bounds, nulls, [1] * len(values))
    return list(rows), StatisticsProvider("rows", statistics)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("known", [True, False])
def test_the_outcome_of_a_slice_of_one_row_holds_what_hive_says(engine: str, known: bool, home: Path) -> None:
    semantics = Semantics.named(engine if known else "hive", "UTC")
    wrong, decided = [], 0
    for cell, op, texts, letters in conditions(engine):
        name = TABLES[cell.reader]
        keys, source = _source(name, home)
        bound = bind(filter_of(cell.column, cell.declared, op, texts), opened(name, home).table.schema, semantics)
        outcomes = evaluate(bound, len(keys), [source]).outcomes.tolist()
        decided += sum(outcome in BITS.values() for outcome in outcomes)
        wrong += [
            (_named(cell, op, texts), stored_rows(name)[key][cell.column], letters[key], describe(outcome))
            for key, outcome in zip(keys, outcomes, strict=True)
            if not outcome & BITS[letters[key]]
        ]
    assert wrong[:20] == []
    assert decided > 5_000
