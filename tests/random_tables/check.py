"""Holds plans of a random table against its full scans: by text, Column, Hive's bytes, own indexes, time travel.

A file group with a row where the condition is TRUE must be kept. Truth is Spark's own; for Hive's filters it is the
row-by-row reference with Hive's rules, on the rows that the full scan read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import HudiExpression
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.spark.pruning.schemas import spark_schema
from handler.sql.parsing import Engine, SqlError
from index_store.opened_table import OpenTable
from tests.conformance.own_indexes import ALL, KINDS, SECONDARY, nothing_but, open_with, refreshed_indexes
from tests.conformance.paths import HIVES, Resolved, of_hive
from tests.handler.table_rows import value_form

MODES: dict[str, Engine] = {"legacy": "spark-legacy", "ansi": "spark-ansi"}


@dataclass
class Outcome:
    """``lost``: what would be a wrong skip. By path, ``asked`` counts plans, ``kept`` and ``ideal`` file groups."""

    lost: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    ideal: Counter[str] = field(default_factory=Counter)

    def add(self, path: str, what: str, kept: frozenset[str], needed: set[str]) -> None:
        self.asked[path] += 1
        self.kept[path] += len(kept)
        self.ideal[path] += len(needed)
        if needed - kept:
            self.lost.append(f"{path}: {what}: {sorted(needed - kept)}")

    def update(self, other: Outcome) -> None:
        self.lost += other.lost
        for mine, theirs in ((self.asked, other.asked), (self.kept, other.kept), (self.ideal, other.ideal)):
            mine.update(theirs)


def check(home: Path, scratch: Path, resolved: Resolved | None = None) -> Outcome:
    """``home``: a folder that ``write`` has made. ``scratch``: an empty one, for own indexes.

    ``resolved``: a Spark session that resolves the conditions, as those given as Columns are.
    """
    document = json.loads((home / "truth.json").read_text(encoding="utf-8"))
    table, found = home / "table", Outcome()
    opened = open_table(table)
    for text, modes in document["groups"].items():
        for mode, answers in modes.items():
            if isinstance(answers, list):
                for instant, needed in zip(document["instants"], answers, strict=True):
                    is_latest = instant == document["instants"][-1]
                    kept = _kept(opened, text, MODES[mode], None if is_latest else instant)
                    if kept is not None:
                        path = f"text, {mode}" if is_latest else f"time travel, {mode}"
                        found.add(path, f"{text} as of {instant}", kept, set(needed))
    if resolved is not None:
        _check_columns(opened, document, resolved, found)
    _check_hive(opened, document, home, found)
    _check_own(table, document, scratch, found)
    return found


def _kept(
    opened: OpenTable, condition: str | HudiExpression, engine: Engine, as_of: str | None
) -> frozenset[str] | None:
    try:
        plan = prune(opened, condition, engine=engine, as_of=as_of, time_zone="UTC")
    except SqlError:  # a form that the front end does not read
        return None
    return frozenset(one.file_id for one in plan.kept)


def _check_columns(opened: OpenTable, document: dict[str, Any], resolved: Resolved, found: Outcome) -> None:
    schema = spark_schema(opened.table)
    for text, modes in document["groups"].items():
        for mode, answers in modes.items():
            expression = resolved.expression(schema, text, mode) if isinstance(answers, list) else None
            if expression is not None:
                kept = _kept(opened, expression, MODES[mode], None)
                assert kept is not None
                found.add(f"Column, {mode}", text, kept, set(answers[-1]))


def _check_hive(opened: OpenTable, document: dict[str, Any], home: Path, found: Outcome) -> None:
    """The bytes that real Hive made of the condition, where it is one of the suite's."""
    rows = list(_rows(home / "rows" / f"{document['instants'][-1]}.parquet"))
    for version, engine in HIVES.items():
        semantics = Semantics.named(engine, "UTC")
        for text in document["groups"]:
            expression = of_hive(text, version)
            if expression is None:
                continue
            try:
                needed = {
                    group for group, row in rows if value_of(expression, row, opened.table.schema, semantics) is True
                }
            except UnsupportedError:
                continue
            kept = _kept(opened, expression, engine, None)
            assert kept is not None
            found.add(f"bytes of Hive {version}", text, kept, needed)


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """File group and row, in the value form of ``evaluator.language.types``."""
    for row in pq.read_table(file).to_pylist():
        naive = {name: value for name, value in row.items() if isinstance(value, datetime) and not value.tzinfo}
        yield (
            row["_group"],
            value_form({**row, **{n: value.replace(tzinfo=timezone.utc) for n, value in naive.items()}}),
        )


def _check_own(table: Path, document: dict[str, Any], scratch: Path, found: Outcome) -> None:
    """All sketches, and secondary indexes, made at the first commit and refreshed after each; nothing else skips."""
    folders = refreshed_indexes(table, scratch, (ALL, SECONDARY))
    for variant, index in folders.items():
        with nothing_but(*KINDS):
            opened = open_with(table, index)
            for text, modes in document["groups"].items():
                for mode, answers in modes.items():
                    if isinstance(answers, list):
                        kept = _kept(opened, text, MODES[mode], None)
                        if kept is not None:
                            found.add(f"own indexes, {variant}", text, kept, set(answers[-1]))
