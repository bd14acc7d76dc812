"""A damaged byte in hoodie.properties is told from what Hudi writes (C10)."""

from __future__ import annotations

import random
import re

import pytest

from index_store import TableError
from index_store.indexed_table import IndexedTable
from index_store.table.properties import parse_properties
from index_store.table.property_checks import _DECIDING, find_damage
from tests.index_store.conftest import DATA, TABLES
from tests.index_store.format_tables import ALL, FOLDER
from tests.torture.memory_storage import MemoryStorage, unpacked
from tests.torture.tables import subject

PATH = ".hoodie/hoodie.properties"


def damage_of(text):
    return find_damage(text, parse_properties(text))


@pytest.mark.parametrize("name", [*TABLES, *random.Random(3).sample(ALL, 12)])
def test_no_real_table_counts_as_damaged(name):
    archive = DATA / f"{name}.zip"
    files = unpacked(archive if archive.exists() else FOLDER / f"{name}.tar.xz")
    for path in (PATH, f".hoodie/metadata/{PATH}"):
        if path in files:
            assert damage_of(files[path].decode()) == ""


def test_a_deciding_property_does_not_vanish_by_a_changed_byte_of_its_name():
    rnd = random.Random(5)
    for key in _DECIDING:
        value = {"hoodie.table.version": "9", "hoodie.table.initial.version": "9"}.get(
            key, "2" if "layout" in key else ""
        )
        before = f"# a comment\nhoodie.some.thing=x\n{key}={value}\nhoodie.other.thing=y\n"
        assert damage_of(before) == ""
        start = before.index(key)
        for offset in range(start - 1, start + len(key) + 1):
            for new in "\n\\#!=: .X" + chr(rnd.randint(97, 122)):
                text = before[:offset] + new + before[offset + 1 :]
                if parse_properties(text).get(key) != value:
                    assert damage_of(text), text


def test_a_lost_line_break_does_not_hide_a_property_in_a_value_or_a_comment():
    assert damage_of("hoodie.table.name=t\nhoodie.table.cdc.enabled=falsexhoodie.table.type=MERGE_ON_READ\n")
    assert damage_of("#Sat Nov 21 10:16:38 UTC 2026xhoodie.compaction.payload.class=example.Payload\n")
    assert damage_of("#oodie.table.type=MERGE_ON_READ\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hoodie.table.version=6", "table version 6 has no timeline of layout 2"),
        ("hoodie.table.version=8", "the table's first version is 9, its version is 8"),
        ("hoodie.populate.meta.fields=trze", "neither true nor false"),
        ("hoodie.record.merge.mode=COMMIT_TIME_ORDERINF", "merge mode COMMIT_TIME_ORDERINF is not known"),
    ],
)
def test_a_value_that_contradicts_the_others_is_damage(line, why):
    files = dict(subject("1.2.0_partcols_cow", 0).files)
    key = line.partition("=")[0]
    lines = [one for one in files[PATH].decode().splitlines() if not one.startswith(f"{key}=")]
    files[PATH] = "\n".join([*lines, line, ""]).encode()
    with pytest.raises(TableError, match=why):
        IndexedTable(MemoryStorage(files))
    files[f"{PATH}.backup"] = subject("1.2.0_partcols_cow", 0).files[PATH]
    assert IndexedTable(MemoryStorage(files)).version == 9


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: text.rstrip("\n"), "its last line has no end"),
        (lambda text: text.replace("=", "=\0", 1), "it holds a NUL"),
        (lambda text: re.sub("table.checksum=.", "table.checksum=x", text), "is not that of the table's name"),
        (lambda text: re.sub("table.name=.", "table.name=~", text), "is not that of the table's name"),
    ],
)
def test_the_end_the_checksum_and_no_nul(damage, why):
    files = dict(subject("1.2.0_partcols_cow", 0).files)
    files[PATH] = damage(files[PATH].decode()).encode()
    with pytest.raises(TableError, match=why):
        IndexedTable(MemoryStorage(files))
