"""Tables in states that decide which files are a table's: what the sidecar lists is what Hudi lists, and the same rows.

``sargo.listing = shadow`` compares both lists, file by file, with the lengths and the slices.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hive.playground import Hive
from tests.hive.tables import DATA, TRIPS, as_synced, pruned_natively, statements
from tests.hive.test_listing import run

pytestmark = pytest.mark.hive

MERGED, BASE_FILES = "merged", "read_optimized"
STATES = {
    "pending_compaction": (MERGED, BASE_FILES),
    "uncommitted": (MERGED, BASE_FILES),
    "version_6": (MERGED, BASE_FILES),
    "pending_clustering": (BASE_FILES,),
    "replaced": (BASE_FILES,),
    "nested_folders": (BASE_FILES,),
}
CONDITIONS = ("k >= 0", "k >= 1000", "k between 15 and 18", "id in (16, 57, 95)", "k > 90000")


def cases() -> Iterator[Any]:
    for state, views in STATES.items():
        for view in views:
            in_ci = (state, view) == ("pending_compaction", MERGED)
            yield pytest.param(state, view, marks=() if in_ci else (pytest.mark.hive_full,), id=f"{state}-{view}")


@pytest.mark.parametrize(("state", "view"), list(cases()))
def test_the_sidecar_lists_what_hudi_lists(hive401: Hive, state: str, view: str) -> None:
    table = f"{state}_{view}"
    location = f"file://{hive401.directory / 'states' / state}"
    (create,) = statements("stored_by.sql", table=table, location=location)
    with hive401.server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(f"{create} TBLPROPERTIES ('sargo.view' = '{view}')")
    settings = {"hive.execution.engine": "tez", "hive.fetch.task.conversion": "none"}
    for condition in CONDITIONS:
        sql = f"select count(*), sum(id), sum(k) from {table} where {condition}"
        want, _, _ = run(hive401, sql, {**settings, "sargo.enabled": "false"})
        rows, _, who = run(hive401, sql, settings)
        assert (rows, who) == (want, ["sidecar"])
    before = len(hive401.server.log())
    run(hive401, sql, {**settings, "sargo.listing": "shadow"})
    (said,) = re.findall(r"sargo: shadow listing, (.*?) listed=", hive401.server.log()[before:])
    assert said == "same=true only_hudi=0 only_sidecar=0 lengths=0 slices=0"


#: What the folder of an added partition holds, and who lists then.
ADDED: dict[str, tuple[tuple[str, ...] | None, str]] = {
    "missing": (None, "sidecar"),
    "empty": ((), "sidecar"),
    "marked": ((".hoodie_partition_metadata",), "sidecar"),
    "with_a_file": (("5e1f-0_0-1-2_20240101000000000.parquet",), "UNKNOWN_PARTITION"),
}


@pytest.mark.parametrize(
    "folder", ["missing", *(pytest.param(one, marks=pytest.mark.hive_full) for one in [*ADDED][1:])]
)
def test_a_partition_that_the_metadata_table_does_not_have_is_empty(hive401: Hive, folder: str) -> None:
    """On Tez: MapReduce fails on an empty partition of Hudi's own input format, too."""
    files, lister = ADDED[folder]
    directory = hive401.directory / f"added_{folder}"
    with zipfile.ZipFile(DATA / "trips.zip") as opened:
        opened.extractall(directory)
    added = directory / "dt=2024-02-01"
    if files is not None:
        added.mkdir()
    for file in files or ():
        shutil.copy(directory / "dt=2024-01-01" / ".hoodie_partition_metadata", added / file)
    with hive401.server.connect() as connection:
        cursor = connection.cursor()
        for kind in ("plain", "native"):
            table = f"{kind}_added_{folder}"
            statements_of = [*as_synced(table, TRIPS, f"file://{directory}")]
            statements_of += pruned_natively(table, TRIPS) if kind == "native" else ()
            for statement in statements_of:
                cursor.execute(statement)
            cursor.execute(f"ALTER TABLE {table} ADD PARTITION (dt='2024-02-01') LOCATION 'file://{added}'")
    settings = {"hive.execution.engine": "tez", "hive.fetch.task.conversion": "none"}
    for where, kept in (("id >= 0", 20), ("id between 100 and 101", 1), ("dt = '2024-02-01' and id >= 0", 0)):
        sql = f"select count(*), sum(id), max(dt) from {{}}_added_{folder} where {where}"
        want, _, _ = run(hive401, sql.format("plain"), settings)
        rows, seen, who = run(hive401, sql.format("native"), settings)
        assert (rows, who) == (want, [lister])
        assert [listing.kept for listing in seen] == [kept]
