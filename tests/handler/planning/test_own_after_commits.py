"""Sketches and secondary keys, refreshed after every commit of tables to which everything happens, lose no file group.

Commits, deletions, clustering, overwriting, cleaning, compaction, restores and rollbacks, changes of schema come upon
an index that was made at the table's first commit. After each of them Spark's answers as of that instant are asked
for, and after the last those of the latest state; no index kind but ours has a say.
"""

from __future__ import annotations

import pytest

from handler import open_table
from index_store.own.store.folder import Folder
from index_store.own.store.locations import OTHERS
from tests.conformance.own_indexes import KINDS, SECONDARY, SKETCHES, brought_up_to_date, definitions, nothing_but
from tests.handler.planning.test_format_tables import check, slices_at
from tests.index_store.format_tables import reads_of, unpack_format_table
from tests.index_store.snapshots.rewinding import commit_by_commit, instants
from tests.sampling import share

#: One table of each way in which files come and go.
SOME = (
    "0.15.0_archived_clustered_cow",
    "0.15.0_cleaned_versions_cow",
    "0.15.0_failed_mor",
    "0.15.0_replaced_mor",
    "1.0.2_compacted_mor",
    "1.0.2_logcompacted_mor",
    "1.2.0_cdc_mor",
    "1.2.0_evolved_mor",
    "1.2.0_partial_mor",
    "1.2.0_repartitioned_cow",
    "1.2.0_restored_mor",
    "1.2.0_retried_mor",
    "1.2.0_upgraded_mor",
)


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


@pytest.mark.parametrize(
    ("name", "variant"), share([(name, variant) for name in SOME for variant in (SKETCHES, SECONDARY)], 28)
)
def test_no_filter_loses_a_file_group_after_any_commit(tmp_path, name, variant):
    table = unpack_format_table(name, tmp_path / "t")
    wanted = definitions(open_table(table).table, variant)
    folders = [Folder.at(tmp_path / one.name) for one in wanted]
    option = {OTHERS: ",".join(folder.path for folder in folders)}
    reads, last = reads_of(table), instants(table)[-1]
    asked = skipped = 0
    for instant in commit_by_commit(table, tmp_path / "aside"):
        for folder, definition in zip(folders, wanted, strict=True):
            brought_up_to_date(folder, open_table(table).table, definition)
        with nothing_but(*KINDS):
            opened = open_table(table, options=option)
            for read in reads[:1] if instant == last else [one for one in reads[1:] if one["as_of"] == instant]:
                if "groups" in read and slices_at(opened, read["as_of"])[0] is not None:
                    lost, found, _ = check(opened, read, one_in=5)
                    assert lost == [], instant
                    asked, skipped = asked + 1, skipped + found
    assert asked > 0
    assert skipped > 0
