"""Own sketches of merged rows skip slices on Hive too, where log files are merged by the table's settings alone."""

from __future__ import annotations

import shutil

import pytest

from handler import open_table
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.store.locations import folder_of
from tests.hive.playground import Hive
from tests.hive.tables import RIDES, as_synced, pruned_natively
from tests.hive.test_modes import run

pytestmark = pytest.mark.hive

#: Conditions on values that stand in a base file alone, and on those that log files put in their place.
GONE = ("k = 55", "name = 'n00000301'")
PUT = ("k = 100055", "name = 'renamed301'")


@pytest.fixture(scope="module")
def rides(hive401: Hive) -> str:
    """The MERGE_ON_READ table with an index of its own, which has lists of the values of merged rows."""
    folder = hive401.directory / "merged_rides"
    shutil.copytree(hive401.directory / RIDES.name, folder)
    table = open_table(folder, cache=None).table
    lists = tuple(Entry(column, "value_list(limit=2000)") for column in ("k", "name"))
    create(folder_of(table, "merged"), table, Definition("merged", lists), build_locally)
    run(hive401, as_synced("merged_rides", RIDES, f"file://{folder}"))
    run(hive401, pruned_natively("merged_rides", RIDES))
    return "merged_rides"


@pytest.mark.parametrize(
    ("settings", "gone"),
    [({}, 0), ({"hoodie.realtime.merge.skip": "false"}, 1), ({"sargo.listing": "sidecar"}, 0)],
    ids=["merged", "a setting of the merge", "listed by the sidecar"],
)
def test_values_that_log_files_took_away_keep_no_slice(
    hive401: Hive, rides: str, settings: dict[str, str], gone: int
) -> None:
    for conditions, kept in ((GONE, gone), (PUT, 1)):
        for condition in conditions:
            query = f"select id, k, name from {rides} where {condition}"
            rows, seen = run(hive401, [query], settings)
            want, _ = run(hive401, [query], {"sargo.enabled": "false", "hive.optimize.index.filter": "false"})
            assert rows == want
            assert bool(rows) == (conditions is PUT)
            assert seen
            assert bool(sum(one.kept for one in seen)) == bool(kept), (condition, seen)
