"""Our own indexes of the conformance tables, made at the first commit and refreshed after each one that follows.

So every file has its statistics from when it was new: inserts, updates, deletes, compactions and clusterings come
upon an index that knows the table as it was before. Other kinds are switched off, and nothing but a sketch can skip.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from handler import open_table
from handler.index_entries import definition_of
from handler.tables import OpenTable
from index_store.own.definition import Definition
from index_store.own.folder import Folder
from index_store.own.kind import make as own_index
from index_store.own.life_cycle import create, refresh
from index_store.own.local_build import build_locally
from index_store.own.places import OTHERS
from index_store.own.sketches import parse_sketch
from index_store.own.versions import version_files
from index_store.table import Table
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import truth_of
from tests.index_store.snapshots.rewinding import commit_by_commit

SKETCHES = ("min_max", "null_count", "nan_count", "value_list(limit=20)", "prefix_set(limit=8)", "partition",
            "bloom_filter(fpp=0.01)")
#: Bounds of what the predicates compute.
EXPRESSIONS = ("lower(s)", "upper(s)", "length(s)", "year(dt)", "to_date(t)", "abs(i)", "i + 1", "i % 10")
ALL = "all"
VARIANTS = (ALL, *SKETCHES)
KINDS = {"own_index": own_index}


def definitions(table: Table, variants: Sequence[str | tuple[str, ...]]) -> list[Definition]:
    """An index of every column for each variant: a sketch alone, some of them, or all and the expressions."""
    found = []
    for number, variant in enumerate(variants):
        texts = (SKETCHES if variant == ALL else (variant,)) if isinstance(variant, str) else variant
        uses = [(column.name, text) for column in table.schema for text in texts
                if "." not in column.name and not parse_sketch(text).why_not(column.type)]
        if variant == ALL:
            uses += [(expression, "min_max") for expression in EXPRESSIONS]
        found.append(definition_of(table, uses, f"{number}", "UTC"))
    return found


def refreshed_indexes(table: Path, home: Path, variants: Sequence[str]) -> dict[str, str]:
    """The folder of the index of each variant, up to date; the table itself stays as it is."""
    copy = shutil.copytree(table, home / "table")
    wanted = definitions(open_table(copy).table, variants)
    folders = {variant: Folder.at(home / one.name) for variant, one in zip(variants, wanted, strict=True)}
    commits = 0
    for _ in commit_by_commit(copy, home / "aside"):
        commits += 1
        for definition, folder in zip(wanted, folders.values(), strict=True):
            now = open_table(copy).table
            if version_files(folder):
                refresh(folder, now, build_locally)
            else:
                create(folder, now, definition, build_locally)
    assert commits > 1
    return {variant: folder.path for variant, folder in folders.items()}


@contextmanager
def nothing_but(*names: str) -> Iterator[None]:
    """These index kinds alone."""
    chosen = [KINDS[name] for name in names]
    with mock.patch("index_store.table.registered_kinds", return_value=chosen):
        yield


def open_with(table: Path, index: str) -> OpenTable:
    return open_table(table, options={OTHERS: index})


def lost_groups(name: str, table: Path, index: str, predicates: Sequence[str]) -> tuple[dict[str, str], int]:
    """By predicate, what is lost to an index that is the only kind there is; and how many file groups it skips."""
    truth, lost, skipped = truth_of(name), {}, 0
    with nothing_but("own_index"):
        opened = open_with(table, index)
        kept, groups = Kept({name: opened}), len(opened.at().slices)
        for sql in predicates:
            found = kept.text(name, sql)
            skipped += groups - len(found)
            for mode in ("legacy", "ansi"):
                missing = truth.groups_of(truth.numbers(sql, mode) or ()) - found
                if missing:
                    lost[sql] = f"{mode}: {sorted(missing)}"
    return lost, skipped
