"""What is kept for each question on each table: by Sargo, by Hudi's own skipping, at best, and by exact bounds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from handler import OpenTable, Plan, open_table, prune
from tests.tpc import truth
from tests.tpc.benchmark import Benchmark, benchmark
from tests.tpc.layout import Layout
from tests.tpc.questions import Question

#: A column of the rows: the file group of each.
GROUP = "_group"


@dataclass(frozen=True)
class Table:
    """A written table below ``home``, as ``write`` leaves it."""

    measured: Benchmark
    layout: Layout
    home: Path

    @cached_property
    def opened(self) -> OpenTable:
        return open_table(self.home / self.layout.name)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return tuple(self.measured.questions(self.layout.table))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        return tuple(sorted(file_slice.file_id for file_slice in self.opened.at().slices))

    def _base_rows(self) -> pa.Table:
        """The rows of the base files; updates in log files are not among them."""
        parts = []
        for path in sorted((self.home / self.layout.name).rglob("*.parquet")):
            if ".hoodie" not in path.parts:
                part = pq.ParquetFile(path).read(self.layout.columns.split())
                parts.append(
                    part.append_column(GROUP, pa.array([path.name.partition("_")[0]] * len(part), pa.string()))
                )
        return pa.concat_tables(parts)

    @cached_property
    def rows(self) -> pa.Table:
        """All rows as a reader of the table sees them."""
        if self.layout.merge_on_read:
            return pq.read_table(self.home / f"{self.layout.name}.parquet")
        return self._base_rows()

    @cached_property
    def bounds(self) -> Mapping[str, truth.Bounds]:
        """Least and greatest value of each column in the base and log files of each group.

        A row of a log file is in ``rows``, because each row is updated once. So the base files and ``rows`` together
        have every value that is stored.
        """
        columns = self.layout.columns.split()
        stored = [self.rows] + ([self._base_rows()] if self.layout.merge_on_read else [])
        rows = pa.concat_tables([part.select([GROUP, *columns]) for part in stored], promote_options="permissive")
        kinds = (("min", None), ("max", None), ("count", pc.CountOptions("only_null")))
        wanted = [(column, kind, options) for column in columns for kind, options in kinds]
        return {
            row[GROUP]: {
                column: truth.Range(row[f"{column}_min"], row[f"{column}_max"], row[f"{column}_count"] > 0)
                for column in columns
            }
            for row in rows.group_by(GROUP).aggregate(wanted).to_pylist()
        }

    @cached_property
    def merged(self) -> frozenset[str]:
        """The groups with log files. Hudi tests each of their files apart; here their bounds are united (C3)."""
        return frozenset(file_slice.file_id for file_slice in self.opened.at().slices if file_slice.log_files)

    @cached_property
    def hudi(self) -> Mapping[str, Any]:
        return json.loads((self.home / f"{self.layout.name}.hudi.json").read_text(encoding="utf-8"))

    def plan(self, filter_: str, engine: Any = "spark") -> Plan:
        return prune(self.opened, filter_, engine, time_zone="UTC")

    def kept(self, filter_: str, engine: Any = "spark") -> frozenset[str]:
        return frozenset(file_slice.file_id for file_slice in self.plan(filter_, engine).kept)

    def ideal(self, question: Question) -> frozenset[str]:
        """The groups with a matching row."""
        mask = truth.matching(question.literal, self.rows)
        return frozenset(pc.unique(self.rows[GROUP].filter(mask)).to_pylist())

    def by_bounds(self, question: Question) -> frozenset[str]:
        """The groups that exact bounds cannot rule out."""
        wanted = truth.columns(question.literal)
        return frozenset(
            group
            for group, bounds in self.bounds.items()
            if truth.undecidable(question.literal, {name: bounds[name] for name in wanted})
        )

    def by_hudi(self, question: Question) -> frozenset[str] | None:
        """The groups that Hudi's own skipping keeps; None where it fails or was not asked."""
        answer = self.hudi.get(question.specification)
        return frozenset(answer) if isinstance(answer, list) else None


@dataclass(frozen=True)
class Answer:
    """What each way keeps for one question on one table."""

    table: Table
    question: Question
    sargo: frozenset[str]
    literal: frozenset[str]
    hudi: frozenset[str] | None
    ideal: frozenset[str]
    bounds: frozenset[str]

    @property
    def faults(self) -> list[str]:
        """What must not be."""
        faults = []
        if self.ideal - self.sargo:
            faults.append(f"{len(self.ideal - self.sargo)} slices with a match are skipped")
        if self.sargo - self.literal:
            faults.append(f"{len(self.sargo)} kept, {len(self.literal)} with the constants computed by hand")
        if self.sargo - self.bounds:
            faults.append(f"{len(self.sargo)} kept, {len(self.bounds)} by exact bounds")
        if self.hudi is not None and self.ideal <= self.hudi and self.sargo - self.hudi - self.table.merged:
            faults.append(f"{len(self.sargo)} kept, {len(self.hudi)} by Hudi")
        return [f"{self.table.layout.name}: {self.question.name}: {fault}" for fault in faults]


def tables(name: str, home: Path) -> dict[str, Table]:
    """The tables of a benchmark that are below ``home``."""
    measured = benchmark(name)
    found = {layout.name: layout for layout in measured.layouts.values() if (home / layout.name).is_dir()}
    return {name: Table(measured, layout, home) for name, layout in found.items()}


def answers(table: Table, asked: Iterable[Question] | None = None) -> Iterator[Answer]:
    """The answers to these questions, by default to all of its table."""
    for question in table.questions if asked is None else asked:
        yield Answer(
            table,
            question,
            table.kept(question.specification),
            table.kept(question.literal),
            table.by_hudi(question),
            table.ideal(question),
            table.by_bounds(question),
        )
