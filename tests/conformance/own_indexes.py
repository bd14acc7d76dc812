"""Our own indexes of the conformance tables, made at the first commit and refreshed after each one that follows.

Every file has the statistics of the time when it was new: inserts, updates, deletes, compactions and clusterings are
added to an index of the table as it was before. Other index kinds are switched off, so only a sketch can skip.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from handler import open_table
from handler.indexes.entries import definition_of
from index_store.opened_table import OpenTable
from index_store.own.builders.local import build_locally
from index_store.own.definition import SECONDARY_INDEX, Definition
from index_store.own.maintenance.operations import create, refresh
from index_store.own.provider.kind import make as own_index
from index_store.own.provider.merged_rows import make as own_merged_rows
from index_store.own.secondary import operations as secondary
from index_store.own.secondary.kind import make as own_secondary_index
from index_store.own.secondary.slice_entries import LocalReader, key_columns
from index_store.own.sketches import parse_sketch
from index_store.own.store.folder import Folder
from index_store.own.store.locations import OTHERS
from index_store.own.store.versions import version_files
from index_store.table.table import Table
from tests.conformance.paths import Kept
from tests.conformance.row_truth import applies
from tests.conformance.stored_truth import truth_of
from tests.index_store.snapshots.rewinding import commit_by_commit

SKETCHES = (
    "min_max",
    "null_count",
    "nan_count",
    "value_list(limit=20)",
    "prefix_set(limit=8)",
    "partition",
    "bloom_filter(fpp=0.01)",
)
#: Bounds of what the predicates compute.
EXPRESSIONS = ("lower(s)", "upper(s)", "length(s)", "year(dt)", "to_date(t)", "abs(i)", "i + 1", "i % 10")
#: Keys of secondary indexes.
KEYS = (("s",), ("i",), ("d",), ("f",), ("dt",), ("t",), ("dec",), ("b",), ("s", "i"), ("dt", "s"), ("i", "d", "t"))
ALL, SECONDARY = "all", "secondary_index"
VARIANTS = (ALL, *SKETCHES, SECONDARY)
KINDS = {"own_index": own_index, "own_merged_rows": own_merged_rows, "own_secondary_index": own_secondary_index}


def definitions(table: Table, variant: str | tuple[str, ...]) -> list[Definition]:
    """The indexes of a variant: a sketch of every column, some of them, all and the expressions, or secondary keys."""
    if variant == SECONDARY:
        named = [key for key in KEYS if all(table.schema.resolve(name, case_sensitive=True) for name in key)]
        return [definition_of(table, [(name, SECONDARY) for name in key], "-".join(key), "UTC") for key in named]
    texts = (SKETCHES if variant == ALL else (variant,)) if isinstance(variant, str) else variant
    uses = [
        (column.name, text)
        for column in table.schema
        for text in texts
        if "." not in column.name and not parse_sketch(text).why_not(column.type)
    ]
    if variant == ALL:
        names = {column.name for column in table.schema}
        uses += [(expression, "min_max") for expression in EXPRESSIONS if applies(expression, names)]
    return [definition_of(table, uses, "sketches", "UTC")]


def brought_up_to_date(folder: Folder, table: Table, definition: Definition) -> None:
    """Create the index, or refresh it."""
    if definition.kind == SECONDARY_INDEX:
        if version_files(folder):
            secondary.refresh(folder, table, _reader)
        else:
            secondary.create(folder, table, definition, _reader)
    elif version_files(folder):
        refresh(folder, table, build_locally)
    else:
        create(folder, table, definition, build_locally)


def _reader(table: Table, definition: Definition) -> LocalReader:
    return LocalReader(table.storage, key_columns(definition), threads=2)


def refreshed_indexes(table: Path, home: Path, variants: Sequence[str]) -> dict[str, str]:
    """The folders of the indexes of each variant, up to date; the table itself stays as it is."""
    copy = shutil.copytree(table, home / "table")
    wanted = {variant: definitions(open_table(copy).table, variant) for variant in variants}
    folders = {
        variant: [Folder.at(home / f"{number}" / definition.name) for definition in some]
        for number, (variant, some) in enumerate(wanted.items())
    }
    commits = 0
    with mock.patch("index_store.own.store.folder._force"):  # without waiting for the disk
        for _ in commit_by_commit(copy, home / "aside"):
            commits += 1
            for variant, some in wanted.items():
                for definition, folder in zip(some, folders[variant], strict=True):
                    brought_up_to_date(folder, open_table(copy).table, definition)
    assert commits > 1
    return {variant: ",".join(folder.path for folder in some) for variant, some in folders.items()}


@contextmanager
def nothing_but(*names: str) -> Iterator[None]:
    """Only these index kinds are registered."""
    chosen = [KINDS[name] for name in names]
    with mock.patch("index_store.indexed_table.REGISTERED_KINDS", tuple(chosen)):
        yield


def open_with(table: Path, index: str) -> OpenTable:
    return open_table(table, options={OTHERS: index})


def lost_groups(name: str, table: Path, index: str, predicates: Sequence[str]) -> tuple[dict[str, str], int]:
    """By predicate, the file groups with a match that the index skips; and how many file groups it skips in all."""
    truth, lost, skipped = truth_of(name), {}, 0
    with nothing_but(*KINDS):
        opened = open_with(table, index)
        kept, groups = Kept({name: opened}), len(opened.at().slices)
        for sql in predicates:
            file_ids = kept.text(name, sql)
            skipped += groups - len(file_ids)
            for mode in ("legacy", "ansi"):
                missing = truth.groups_of(truth.numbers(sql, mode) or ()) - file_ids
                if missing:
                    lost[sql] = f"{mode}: {sorted(missing)}"
    return lost, skipped
