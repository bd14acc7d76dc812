"""``sargo demo``: real Hive filters on a real Hudi table, and a proof that no matching row is lost.

The table and the filters are part of the package (``data/README.md`` describes their origin). The proof reads every
skipped file with pyarrow and counts the rows that match a condition written by hand (``checks``). It also counts them
in the kept files, which shows that the filter matches some rows at all.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

import sarg
from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from handler.demo.checks import CHECKS
from handler.inspection.table_report import report_table
from handler.planning.plan import Plan
from handler.planning.prune import prune
from handler.views.decode import hive_tree
from handler.views.explain import leaf_tree, show_pruning_blockers
from handler.views.texts import bar
from index_store import FileSlice
from index_store.opened_table import OpenTable, open_table

__all__ = ["DemoFilter", "SkipProof", "demo_filters", "prove", "run", "unpack_filters", "unpack_table"]

TABLE = "main_cow"


@frozen
class DemoFilter:
    """A filter as Hive wrote it (Base64), the SQL that it came from, and Hive's version."""

    hive: str
    sql: str
    filter: str


@frozen
class SkipProof:
    """The rows in the skipped and in the kept files, and how many of them match."""

    skipped_rows: int
    skipped_matching: int
    kept_rows: int
    kept_matching: int


def demo_filters() -> tuple[DemoFilter, ...]:
    """The filters that ship with the demo."""
    document = json.loads((files("handler.demo.data") / "filters.json").read_text(encoding="utf-8"))
    return tuple(DemoFilter(f["hive"], f["sql"], f["filter"]) for f in document["filters"])


def unpack_table(folder: Path) -> Path:
    """Unpack the demo's table below ``folder`` and return its path."""
    with (files("handler.demo.data") / f"{TABLE}.zip").open("rb") as packed, zipfile.ZipFile(packed) as archive:
        archive.extractall(folder / TABLE)
    return folder / TABLE


def prove(table: Path, plan: Plan, sql: str) -> SkipProof:
    """Read every file of the plan and count the matching rows, without Sargo's code."""
    skipped_rows, skipped_matching = _count(table, plan.skipped, sql)
    kept_rows, kept_matching = _count(table, plan.kept, sql)
    return SkipProof(skipped_rows, skipped_matching, kept_rows, kept_matching)


def _count(table: Path, items: Sequence[FileSlice], sql: str) -> tuple[int, int]:
    rows = matching = 0
    for item in items:
        for path in item.files:  # a COPY_ON_WRITE table: base files only
            content = pq.read_table(table / path, partitioning=None)
            rows += content.num_rows
            matching += pc.sum(pc.fill_null(CHECKS[sql](content), False)).as_py() or 0
    return rows, matching


def unpack_filters(folder: Path) -> None:
    """Write the demo's filters to ``folder`` as ``filter-1.b64``, ``filter-2.b64``, ..."""
    for number, one in enumerate(demo_filters(), start=1):
        (folder / f"filter-{number}.b64").write_text(one.filter + "\n", encoding="ascii")


def run(console: Console, keep: Path | None = None) -> int:
    """Run the demo; the exit code is 1 when a matching row lies in a skipped file.

    The table and the filters stay in the folder ``keep`` if one is given.
    """
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sargo-demo-")))
        folder.mkdir(parents=True, exist_ok=True)
        unpack_filters(folder)
        path = unpack_table(folder)
        opened = open_table(path)
        _show_table(opened, console)
        lost = sum(
            _show_filter(number, one, opened, path, console) for number, one in enumerate(demo_filters(), start=1)
        )
    console.print()
    if lost:
        console.print(Text(f"{lost} matching rows lie in skipped files: a fault, please report it", style="bold red"))
        return 1
    console.print(Text("No filter lost a row.", style="bold green"))
    return 0


def _show_table(opened: OpenTable, console: Console) -> None:
    report = report_table(opened)
    console.print(
        Text.assemble(
            ("A real Hudi table: ", "bold"),
            f"{report.name}, written by Hudi 1.1.1 in Spark 3.5.5; table version "
            f"{report.version}, {report.table_type}, {report.slices.count} file slices in "
            f"{len(report.slices.by_partition)} partitions, "
            f"instant {report.instant}",
        )
    )
    console.print(
        Text.assemble(
            ("Indexes: ", "bold"),
            ", ".join(f"{index.name}{'' if index.read else ' (not read)'}" for index in report.indexes),
        )
    )


def _show_filter(number: int, one: DemoFilter, opened: OpenTable, path: Path, console: Console) -> int:
    console.print()
    console.print(Rule(Text(f"{number}. WHERE {one.sql}", style="bold"), align="left"))
    size = len(one.filter)
    console.print(Text(f"pushed down by Hive {one.hive} as {size} characters of Base64, which hold", style="dim"))
    exprnode = sarg.decode_exprnode(one.filter)
    console.print(hive_tree(exprnode))
    plan = prune(opened, one.filter, time_zone="UTC")
    console.print(
        Text.assemble(
            "\n",
            bar(len(plan.skipped), len(plan.slices), "green"),
            (f"  {len(plan.skipped)} of {len(plan.slices)} files skipped", "bold green"),
            f", {len(plan.kept)} kept, {len(plan.fully_matched)} match in every row",
        )
    )
    if plan.explanation is not None:
        console.print(leaf_tree(plan.explanation))
    show_pruning_blockers(plan.why_not_more, len(plan.kept), console)
    for reason in plan.reasons:
        console.print(Text.assemble(("  • ", "magenta"), reason.text))
    proof = prove(path, plan, one.sql)
    style = "bold green" if not proof.skipped_matching else "bold red"
    console.print(
        Text.assemble(
            "\nproof: ",
            (f"rows read in skipped files: {proof.skipped_rows}, matching: {proof.skipped_matching}", style),
            f"   (in kept files: {proof.kept_rows}, matching: {proof.kept_matching})",
        )
    )
    return proof.skipped_matching
