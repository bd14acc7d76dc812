"""``python -m tests.conformance.merged_gain``: what sketches of merged rows skip on the tables of the suite.

Each MERGE_ON_READ table gets one index with bounds and lists of values of every column. Every predicate of the suite is
asked twice: with the rows of files alone (``sargo.rows=stored``), and with merged rows. Other index kinds are used in
both, as they are for any filter.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from handler import open_table
from handler.indexes.entries import definition_of
from index_store.own.builders.local import build_locally
from index_store.own.maintenance.operations import create
from index_store.own.sketches import parse_sketch
from index_store.own.store.folder import Folder
from index_store.own.store.locations import OTHERS
from index_store.table.table_options import ROWS, STORED
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import TABLES, truth_of, unpack

SKETCHES = ("min_max", "value_list(limit=20)")
MERGED_TABLES = tuple(name for name in TABLES if name.endswith("_mor"))


@dataclass(frozen=True)
class Gain:
    """Sums over the predicates of one table.

    logged, merged   slices with log files, and those of them whose merged rows are sketched
    slices           file slices times predicates; ``matching``: of these, slices with a match
    stored, kept     slices that are kept without and with sketches of merged rows
    lost             predicates with a slice that has a match and is skipped
    """

    name: str
    logged: int
    merged: int
    predicates: int
    slices: int
    matching: int
    stored: int
    kept: int
    lost: tuple[str, ...]

    @property
    def cells(self) -> tuple[object, ...]:
        return (
            self.name,
            self.logged,
            self.merged,
            self.predicates,
            self.slices,
            self.matching,
            self.stored,
            self.kept,
        )


def gain(name: str, table: Path, home: Path, predicates: Sequence[str]) -> Gain:
    """What the predicates keep of a table; the index is made below ``home``."""
    truth, opened = truth_of(name), open_table(table)
    uses = [
        (column.name, text)
        for column in opened.table.schema
        for text in SKETCHES
        if "." not in column.name and not parse_sketch(text).why_not(column.type)
    ]
    folder = Folder.at(home / "sketches")
    made = create(folder, opened.table, definition_of(opened.table, uses, "sketches", "UTC"), build_locally)
    ways = {
        rows: Kept({name: open_table(table, options={OTHERS: folder.path, ROWS: rows})}) for rows in (STORED, "merged")
    }
    slices = len(opened.at().slices)
    matching = stored = kept = 0
    lost = []
    for sql in predicates:
        groups = {mode: truth.groups_of(truth.numbers(sql, mode) or ()) for mode in ("legacy", "ansi")}
        left = {rows: set(way.text(name, sql)) for rows, way in ways.items()}
        matching += len(groups["legacy"])
        stored, kept = stored + len(left[STORED]), kept + len(left["merged"])
        assert left["merged"] <= left[STORED]
        if any(some - left["merged"] for some in groups.values()):
            lost.append(sql)
    return Gain(
        name,
        made.logged,
        made.version.merged,
        len(predicates),
        slices * len(predicates),
        matching,
        stored,
        kept,
        tuple(lost),
    )


def main() -> int:
    head = ("table", "with log files", "merged", "predicates", "slices", "matching", "files alone", "merged rows")
    rows: list[tuple[object, ...]] = [head]
    lost = []
    for name in MERGED_TABLES:
        with tempfile.TemporaryDirectory(prefix="sargo-merged-") as temporary:
            home = Path(temporary)
            found = gain(name, unpack(name, home), home, list(truth_of(name).predicates))
        rows.append(found.cells)
        lost += [f"{name}: {sql}" for sql in found.lost]
    sums = [sum(int(str(row[place])) for row in rows[1:]) for place in range(1, len(head))]
    for row in [*rows, ("all", *sums)]:
        print("  ".join(str(cell).ljust(18) if place == 0 else str(cell).rjust(14) for place, cell in enumerate(row)))
    print("\n".join([f"{len(lost)} predicates lose a slice", *lost]))
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
