"""Tables and partitions whose names hold a space, %, #, ? and the like, on real Hive: the same rows, and files skipped.

Each table stands beside the others: a name that is read in another way is the name of another table.

Facts: docs/facts/hive-storage-handlers.md#the-interfaces
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.hive.playground import Hive
from tests.hive.tables import FLAT, HUDI_COLUMNS, RIDES, Table, as_synced, pruned_natively, statements
from tests.hive.test_modes import run

OperationalError = pytest.importorskip("pyhive.exc").OperationalError
pytestmark = pytest.mark.hive

NAMES = ["a b", "a%b", "a%20b", "a#b", "a?b", "a+b", "a&b", "a=b", "a'b", 'a"b', "aäö€b", "a{b}"]
QUICK: dict[str, tuple[str, ...]] = {"hive401": ("a%20b",), "hive313": ()}
#: Hive cannot read the table, without Sargo either: its listing takes the name for a glob.
FAILS_WITHOUT_SARGO: dict[str, tuple[str, ...]] = {"hive401": (), "hive313": ()}


def each(values: list[str]) -> Iterator[object]:
    for server in ("hive401", "hive313"):
        for name in values:
            marks = () if name in QUICK[server] else pytest.mark.hive_full
            yield pytest.param(server, name, id=f"{server}-{name}", marks=marks)


def quoted(text: str) -> str:
    """A literal of HiveQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def place(hive: Hive, source: str, name: str) -> str:
    """A copy of a table under this name, as Hive's LOCATION."""
    folder = hive.directory / f"named_{source}" / name
    if not folder.exists():
        shutil.copytree(hive.directory / source, folder)
    return f"file://{folder}"


def declare(hive: Hive, table: Table, location: str, kind: str) -> str:
    """The name of the table, declared anew at this location."""
    name = f"{kind}_named"
    escaped = location.replace("'", "\\'")
    run(hive, [f"DROP TABLE IF EXISTS {name}"])
    if kind == "stored":
        run(hive, statements("stored_by.sql", table=name, location=escaped))
    else:
        run(hive, as_synced(name, table, escaped))
        if kind == "native":
            run(hive, pruned_natively(name, table))
    return name


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("server", "name"), list(each(NAMES)))
def test_a_table_at_an_awkward_location_is_pruned(server: str, name: str, request: pytest.FixtureRequest) -> None:
    hive: Hive = request.getfixturevalue(server)
    location = place(hive, "flat", name)
    sql = "select id, name from {} where k between 310 and 312"
    job = "select count(*), sum(id) from {} where k between 310 and 312"
    want = [(i, f"n00000{i}") for i in (310, 311, 312)]
    for kind in ("native", "stored"):
        table = declare(hive, FLAT, location, kind)
        for query, expected in ((sql, want), (job, [(3, 933)])):
            rows, seen = run(hive, [query.format(table)])
            assert rows == expected, (kind, query)
            assert [(one.listed, one.kept, one.reason) for one in seen] == [(8, 1, "")], (kind, query)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("server", "name"), list(each(NAMES)))
def test_a_merged_table_at_an_awkward_location_is_pruned(
    server: str, name: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    table = declare(hive, RIDES, place(hive, "rides", name), "native" if server == "hive313" else "stored")
    rows, seen = run(hive, [f"select id, k from {table} where k >= 100000"])
    assert rows == [(i, 100_000 + i) for i in (55, 56, 255, 256, 455, 456)]
    assert {one.reason for one in seen} == {""}
    assert (sum(one.listed for one in seen), sum(one.kept for one in seen)) == (12, 3)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("server", ["hive401", pytest.param("hive313", marks=pytest.mark.hive_full)])
def test_partitions_with_awkward_names_are_pruned(server: str, request: pytest.FixtureRequest) -> None:
    """Row i is in the partition of name i / 10."""
    hive: Hive = request.getfixturevalue(server)
    location = f"file://{hive.directory / 'places'}"
    columns = (
        "id bigint, k int, name string, amount double, price decimal(10,2), d date, ts bigint, maybe bigint, "
        "version int, dt string"
    )
    run(
        hive,
        [
            "DROP TABLE IF EXISTS stored_places",
            f"CREATE EXTERNAL TABLE stored_places ({HUDI_COLUMNS}, {columns}) "
            f"STORED BY 'io.sargo.hive.HudiStorageHandler' LOCATION '{location}'",
        ],
    )
    folders = {path.name.removeprefix("dt=") for path in (hive.directory / "places").glob("dt=*")}
    assert folders == set(NAMES)
    all_rows, _ = run(hive, ["select id, dt from stored_places"], {"sargo.enabled": "false"})
    assert len(all_rows) == 10 * len(NAMES)
    for name in NAMES:
        ids = sorted(i for i, dt in all_rows if dt == name)
        assert len(ids) == 10
        # the value of a partition whose path may hold an escape is not known: such a partition is kept
        for condition, kept in (
            (f"dt = {quoted(name)}", len({name, "a%b", "a%20b"})),
            (f"k between {ids[0]} and {ids[9]}", 1),
        ):
            rows, seen = run(hive, [f"select id from stored_places where {condition}"])
            assert rows == [(i,) for i in ids], condition
            assert [(one.listed, one.kept, one.reason) for one in seen] == [(12, kept, "")], condition
    native = list(as_synced("native_places", Table("places", False, False), location))
    create = native[1].replace(", dt string)", ") PARTITIONED BY (dt string)", 1)
    added = " ".join(
        f"PARTITION (dt={quoted(name)}) LOCATION {quoted(f'{location}/dt={name}')}" for name in NAMES if "?" not in name
    )
    run(hive, [native[0], create, f"ALTER TABLE native_places ADD {added}"])
    run(hive, pruned_natively("native_places", Table("places", True, False)))
    for name in NAMES:
        if "?" not in name:
            ids = sorted(i for i, dt in all_rows if dt == name)
            rows, seen = run(hive, [f"select id from native_places where k between {ids[0]} and {ids[-1]}"])
            assert rows == [(i,) for i in ids], name
            assert {one.reason for one in seen} == {""}
            assert sum(one.kept for one in seen) == 1, name
