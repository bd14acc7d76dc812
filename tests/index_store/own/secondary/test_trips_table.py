"""RFC-77's example, literally: base and log entries are merged by secondary key and record key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from evaluator.language.types import STRING
from index_store.own.secondary.entries import ENTRIES, REVERSE
from index_store.own.secondary.keys import encode, encode_value
from index_store.own.secondary.runs import merge_runs, sort_entries
from index_store.own.secondary.search import Search
from index_store.own.secondary.sorted_table import read_sorted, write_sorted
from index_store.own.store.folder import Folder
from tests.index_store.own.secondary.trips_table import BASE, GROUPS, LOG, MERGED, entries_in


def batch_of(text: str) -> pa.RecordBatch:
    cities, records, groups, deleted = zip(*entries_in(text), strict=True)
    keys = encode([pa.array([city.encode() for city in cities], pa.large_binary())], [STRING])
    return pa.RecordBatch.from_arrays(
        [
            keys,
            pa.array([one.encode() for one in records], pa.binary()),
            pa.array(groups, pa.int32()),
            pa.array(deleted),
        ],
        schema=ENTRIES,
    )


def lines_of(batches) -> list[tuple[str, str, int, bool]]:
    return [
        (row["key"][1:-2].decode(), row["record"].decode(), row["group"], row["deleted"])
        for batch in batches
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("budget", [1, 1 << 20])
@pytest.mark.parametrize("stored", [False, True])
def test_the_tables_of_the_rfc_are_merged_as_it_says(tmp_path, budget, stored):
    folder = Folder.at(tmp_path)
    runs = []
    for name, text in (("base", BASE), ("log", LOG)):
        run = sort_entries([batch_of(text)], order="key", budget=budget)
        if stored:
            table = write_sorted(folder, name, run, ENTRIES)
            assert table is not None
            run = read_sorted(folder, table)
        runs.append(run)
    found = lines_of(merge_runs(runs, order="key", drop_deleted=True))
    expected = entries_in(MERGED)
    assert [city for city, *_ in found] == [city for city, *_ in expected]  # the RFC sorts by the secondary key only
    assert found == sorted(expected)


def test_a_log_of_its_own_keeps_its_tombstones():
    found = lines_of(merge_runs([sort_entries([batch_of(LOG)], order="key")], order="key", drop_deleted=False))
    assert found == sorted(entries_in(LOG))


def test_look_ups_see_the_merged_table(tmp_path):
    folder = Folder.at(tmp_path)
    tables = [
        write_sorted(folder, name, sort_entries([batch_of(text)], order="key"), ENTRIES)
        for name, text in (("base", BASE), ("log", LOG))
    ]
    for city in ("austin", "chennai", "los-angeles", "sfo", "oslo"):
        expected = sorted({group for at, _, group, _ in entries_in(MERGED) if at == city})
        assert Search(folder, tables).groups([encode_value(city, STRING)]).tolist() == expected
    assert Search(folder, tables[:1]).groups([encode_value("los-angeles", STRING)]).tolist() == [1, 2]


def test_the_reverse_mapping_has_what_a_file_group_said_before(tmp_path):
    folder = Folder.at(tmp_path)
    tables = [
        write_sorted(folder, name, sort_entries([batch_of(text)], order="group"), REVERSE)
        for name, text in (("base", BASE), ("log", LOG))
    ]
    for group in sorted(set(GROUPS.values())):
        runs = [read_sorted(folder, table, group, group + 1) for table in tables]
        found = lines_of(merge_runs(runs, order="group", drop_deleted=True))
        assert sorted(found) == sorted(one for one in entries_in(MERGED) if one[2] == group)
