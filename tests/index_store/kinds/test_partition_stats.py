"""Why ``partition_stats`` is not read: real Hudi's bounds of a whole partition leave out rows of its files (C4, P20).

Each writer sums up the ``column_stats`` records of the partition's files. A file that was written while a column was
not in the list has no such record, and what it holds is missing from the sum, which claims to be tight. That the index
definition names the column proves nothing: it names the columns of the last writer. In ``1.1.1_relisted_cow`` the first
writer listed ``i`` only, the second one ``i, u``; the partition's record of ``u`` is that of the second file alone.

Nor does it help to count: Hudi's own columns are always listed, so that a column with as many rows as the record key
seems to leave out no file. In ``1.1.1_recounted_cow`` a writer that did not list ``i`` updated a row of it; the next
one listed it and wrote another partition. The old record of ``i`` stayed, and counts the 5 rows that there are.

Pitfall P20 is described in docs/facts/pitfalls.md#p20.
"""

from __future__ import annotations

import pytest

from handler import prune
from index_store import open_table
from index_store.formats.avro_columns import ColumnStatsDecoder
from index_store.formats.hfile import entries
from index_store.formats.keys import column_id, partition_id
from index_store.table.metadata_table import Deletes
from tests.index_store.rows import rows_of

RELISTED, RECOUNTED = "proofs/1.1.1_relisted_cow", "proofs/1.1.1_recounted_cow"


def record_of(table, column, partition):
    """The latest record of a column in a partition."""
    found, key = None, column_id(column) + partition_id(partition)
    for group in table.metadata.groups("partition_stats"):
        for layer in table.metadata.layers(group):
            assert not isinstance(layer, Deletes)
            decode = ColumnStatsDecoder(layer.hfile.schema).decode
            for block in layer.hfile.blocks():
                for name, start, end in entries(block):
                    found = decode(block, start, end) if name == key else found
    return found


def test_the_bounds_of_a_partition_leave_out_files_that_were_written_without_the_column(hudi_table):
    path = hudi_table(RELISTED)
    table = open_table(path)
    [listed] = [one.columns for one in table.indexes() if one.name == "column_stats"]
    assert "u" in listed
    values = [row["u"] for one in table.slices() if one.partition == "p=p0" for row in rows_of(path / one.base_file)]
    record = record_of(table, "u", "p=p0")
    assert (record.lo, record.hi, record.tight, record.deleted) == (0, 4, True, False)
    assert (min(values), max(values)) == (0, 1004)
    whole = record_of(table, "i", "p=p0")  # a column of all writers is right
    assert (whole.lo, whole.hi, whole.rows) == (0, 4, 10)


def test_bounds_of_as_many_rows_as_the_partition_has_leave_out_a_file_that_replaced_one(hudi_table):
    path = hudi_table(RECOUNTED)
    table = open_table(path)
    [listed] = [one.columns for one in table.indexes() if one.name == "column_stats"]
    assert "i" in listed
    values = [row["i"] for one in table.slices() if one.partition == "p=p0" for row in rows_of(path / one.base_file)]
    of_column, of_key = (record_of(table, name, "p=p0") for name in ("i", "_hoodie_record_key"))
    assert of_column.rows == of_key.rows == len(values) == 5
    assert (of_column.lo, of_column.hi, of_column.tight, of_column.deleted) == (0, 4, True, False)
    assert max(values) == 1000


@pytest.mark.parametrize("filter_text", ["i = 1000", "i > 4 AND i < 9999 AND p = 'p0'", "NOT (i <= 104)"])
def test_the_file_that_replaced_one_is_kept(hudi_table, filter_text):
    plan = prune(hudi_table(RECOUNTED), filter_text, time_zone="UTC", strict=True)
    assert "p=p0" in {kept.partition for kept in plan.kept}


@pytest.mark.parametrize("filter_text", ["u >= 1000", "u = 1002", "NOT u < 5", "u > 4 AND i >= 0"])
def test_the_file_that_the_partitions_bounds_leave_out_is_kept(hudi_table, filter_text):
    plan = prune(hudi_table(RELISTED), filter_text, time_zone="UTC", strict=True)
    [kept] = plan.kept
    assert kept.partition == "p=p0"
    assert any(row["u"] == 1002 for row in rows_of(hudi_table(RELISTED) / kept.base_file))


def test_the_index_is_listed_and_said_not_to_be_read(hudi_table):
    [info] = [one for one in open_table(hudi_table(RELISTED)).indexes() if one.name == "partition_stats"]
    assert (info.state, info.read) == ("available", False)
    assert info.why_not.startswith("its bounds leave out files that were written while the column was not listed")
