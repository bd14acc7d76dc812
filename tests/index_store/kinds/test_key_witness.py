"""A changed name of a record key column in hoodie.properties is noticed by the files themselves (C4, C10)."""

from __future__ import annotations

import pytest

from handler import prune
from handler.sql import parse
from index_store.indexed_table import IndexedTable
from index_store.kinds.record_keys.key_witness import _agree, _Bounds, contradicted
from index_store.opened_table import OpenTable
from index_store.table.table_schema import RECORD_KEY
from tests.index_store.conftest import DATA, TABLES
from tests.index_store.format_tables import ALL, FOLDER
from tests.sampling import share
from tests.torture.memory_storage import MemoryStorage, unpacked

PATH = ".hoodie/hoodie.properties"
KEY_TABLES = sorted(f"keys/{path.stem}" for path in (DATA / "keys").glob("*.zip"))


def files_of(name):
    archive = DATA / f"{name}.zip"
    return unpacked(archive if archive.exists() else FOLDER / f"{name}.tar.xz")


def with_key(files, columns):
    lines = files[PATH].decode().splitlines(keepends=True)
    changed = [
        f"hoodie.table.recordkey.fields={columns}\n" if line.startswith("hoodie.table.recordkey.fields=") else line
        for line in lines
    ]
    assert changed != lines
    return {**files, PATH: "".join(changed).encode()}


@pytest.mark.parametrize("name", share([*TABLES, *KEY_TABLES, *ALL], 4))
def test_no_file_of_a_real_table_contradicts_its_record_key(name):
    table = IndexedTable(MemoryStorage(files_of(name)))
    assert contradicted(table, table.slices()) == ""


#: Tables with a record index, Bloom filters in the metadata table, and Bloom filters in footers.
@pytest.mark.parametrize("name", ["1.0.2_sec_cow", "1.1.1_bloom_simple_cow", "0.15.0_main_cow", "1.1.1_main_mor"])
@pytest.mark.parametrize("column", ["i", "s"])
def test_the_name_of_another_column_as_the_record_key_skips_nothing_by_keys(name, column):
    files = files_of(name)
    whole, damaged = (OpenTable(IndexedTable(MemoryStorage(some))) for some in (files, with_key(files, column)))
    [field] = [one for one in whole.table.schema if one.name == column]
    statistics = whole.statistics([field])["column_stats"][column]
    tried = 0
    for i in range(len(statistics)):
        if statistics.hi_known[i]:
            value = statistics.hi[i]
            filter_ = parse(f"{column} = {value!r}" if isinstance(value, str) else f"{column} = {value}", "spark")
            before, after = prune(whole, filter_, "spark"), prune(damaged, filter_, "spark")
            assert set(after.kept) == set(before.kept), filter_
            assert any("as the record key" in reason.text for reason in after.reasons), after.reasons
            assert not any("as the record key" in reason.text for reason in before.reasons)
            tried += 1
    assert tried


@pytest.mark.parametrize("name", ["keys/1.1.1_rli_complex_cow", "keys/1.0.2_rli_complex_cow"])
def test_the_name_of_another_column_in_a_key_of_several_adds_no_key(name):
    files = files_of(name)
    table = IndexedTable(MemoryStorage(files))
    assert table.record_key_fields == ("id", "n")
    other = next(field.name for field in table.schema if field.name not in ("id", "n") and field.name[0] != "_")
    damaged = OpenTable(IndexedTable(MemoryStorage(with_key(files, f"id,{other}"))))
    is_text = table.schema.resolve(other, case_sensitive=True).type.kind.is_text
    plan = prune(
        damaged, f"id = 'k021' AND {other} = {chr(39) if is_text else ''}5{chr(39) if is_text else ''}", "spark"
    )
    assert any("record keys are not looked up" in reason.text for reason in plan.reasons), (other, plan.reasons)
    whole = prune(OpenTable(table), "id = 'k021' AND n = 117", "spark")
    assert not whole.reasons
    assert whole.skipped


@pytest.mark.parametrize(
    ("keys", "columns", "found", "agrees"),
    [
        (("a", "c"), ("x",), {"x": ("a", "c")}, True),
        (("a", "c"), ("x",), {"x": ("a", "b")}, False),
        (("a", "c"), ("x",), {}, True),
        (("10", "9"), ("x",), {"x": (9, 10)}, True),
        (("1", "9"), ("x",), {"x": (2, 3)}, False),
        (("k1", "k9"), ("x",), {"x": (2, 3)}, False),
        (("k1", "k9"), ("x",), {"x": (2.0, 3.0)}, True),
        (("x:a,y:1", "x:b,y:1"), ("x", "y"), {"x": ("a", "b"), "y": (0, 3)}, True),
        (("x:a,y:1", "x:b,y:9"), ("x", "y"), {"x": ("a", "b"), "y": (0, 3)}, False),
        (("x:a,y:1", "x:b,y:9"), ("x", "z"), {}, False),
        (("x:a,y:1", "x:b,y:9"), ("y", "x"), {}, False),
        (("x:__null__,y:1", "x:b,c:d,y:9"), ("x", "y"), {"x": ("z", "z")}, True),
    ],
)
def test_bounds_of_keys_and_columns_that_agree(keys, columns, found, agrees):
    assert _agree(_Bounds(*keys), columns, {name: _Bounds(*two) for name, two in found.items()}) is agrees


def test_the_key_itself_is_looked_up_whatever_the_properties_say():
    files = with_key(files_of("1.0.2_sec_cow"), "i")
    plan = prune(OpenTable(IndexedTable(MemoryStorage(files))), f"{RECORD_KEY} = 'k0001'", "spark")
    assert plan.skipped
