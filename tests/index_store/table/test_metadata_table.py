"""The metadata table: which blocks count, how records replace and widen each other, and what damage does."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.schema import Field
from evaluator.language.types import STRING
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from index_store import StatsError, TableError, open_table
from index_store.formats.log_file import COMMAND, DELETE, HFILE_DATA
from index_store.table.metadata_table import MAX_LOG
from tests.index_store.conftest import TABLES
from tests.index_store.synthetic import (
    INSTANT,
    NONE,
    delete_content,
    hfile,
    log_block,
    stats_key,
    stats_value,
    write_table,
)
from tests.sampling import share

LATER, DONE = "20260102000000000", "20260102000010000"
TS = (16, None)


@pytest.fixture
def table(tmp_path):
    """A table of one file, and a function that puts blocks on top of its statistics."""
    root = tmp_path / "table"
    write_table(root, 1)
    for folder, action in ((".hoodie/timeline", "commit"), (".hoodie/metadata/.hoodie/timeline", "deltacommit")):
        (root / folder / f"{LATER}_{DONE}.{action}").write_text("{}")
    return root


def name_of(root):
    return Path(open_table(root).slices()[0].base_file).name


def put(root, *blocks, instant=LATER):
    path = root / ".hoodie/metadata/column_stats" / f".col-stats-0000-0_{instant}.log.1_0-1-1"
    path.write_bytes(b"".join(blocks))


def data(root, lo, hi, rows=100_000, nulls=0, instant=LATER, **more):
    name = name_of(root)
    value = stats_value(name, "ts", ("LongWrapper", lo), ("LongWrapper", hi), rows, nulls, value_type=TS, **more)
    return log_block(HFILE_DATA, hfile([(stats_key("ts", "", name), value)], codec=NONE), instant)


def ts_of(root):
    table = open_table(root)
    slices = table.slices()
    kind = next(kind for kind in table.kinds(slices) if kind.name == "column_stats")
    found = kind.statistics([table.schema.resolve("ts")])
    return found.get("ts")


FIRST = 1_767_225_600_000_000


def bounds(found):
    return (int(found.lo[0]), int(found.hi[0])) if found.lo_known[0] and found.hi_known[0] else None


def test_the_base_file_alone(table):
    assert bounds(ts_of(table)) == (FIRST, FIRST + 30_000_000)


def test_a_later_record_widens(table):
    put(table, data(table, FIRST - 5, FIRST + 7))
    assert bounds(ts_of(table)) == (FIRST - 5, FIRST + 30_000_000)


def test_a_later_tight_record_replaces(table):
    put(table, data(table, FIRST + 1, FIRST + 7, tight=True))
    assert bounds(ts_of(table)) == (FIRST + 1, FIRST + 7)


def test_the_same_record_again_changes_nothing(table):
    before = ts_of(table)
    put(table, data(table, FIRST, FIRST + 30_000_000))
    after = ts_of(table)
    assert bounds(after) == bounds(before)
    assert (after.null_count[0], after.row_count[0]) == (before.null_count[0], before.row_count[0]) == (0, 100_000)


def test_two_records_of_one_file_count_its_nulls_once(table):
    put(table, data(table, FIRST - 5, FIRST + 7, nulls=60_000), data(table, FIRST - 6, FIRST + 8, nulls=50_000))
    found = ts_of(table)
    assert (found.null_count[0], found.row_count[0]) == (60_000, 100_000)


def test_a_claim_of_nothing_but_nulls_that_another_record_denies_is_no_claim(table):
    put(table, data(table, FIRST - 5, FIRST + 7, nulls=100_000))
    assert ts_of(table).may_be_value[0]


def test_records_that_disagree_on_the_rows_leave_no_row_count(table):
    put(table, data(table, FIRST, FIRST + 9, rows=7))
    assert ts_of(table).row_count[0] == UNKNOWN_COUNT


def test_a_deleted_record_makes_the_slice_unknown(table):
    put(table, data(table, FIRST, FIRST + 9, deleted=True))
    found = ts_of(table)
    assert bounds(found) is None
    assert found.trust[0] == Trust.TOMBSTONE


def test_a_delete_block_takes_the_record_away(table):
    key = stats_key("ts", "", name_of(table)).decode()
    put(table, log_block(DELETE, delete_content([key]), LATER))
    assert ts_of(table) is None


def test_a_record_after_a_delete_block_counts(table):
    key = stats_key("ts", "", name_of(table)).decode()
    put(table, log_block(DELETE, delete_content([key]), LATER), data(table, FIRST + 3, FIRST + 4))
    assert bounds(ts_of(table)) == (FIRST + 3, FIRST + 4)


def test_a_block_that_was_rolled_back_does_not_count(table):
    put(table, data(table, FIRST - 5, FIRST + 7, instant=LATER), log_block(COMMAND, b"", DONE, target=LATER))
    assert bounds(ts_of(table)) == (FIRST, FIRST + 30_000_000)


def test_a_block_that_is_written_again_after_its_rollback_counts(table):
    put(
        table,
        data(table, FIRST - 50, FIRST + 7, instant=LATER),
        log_block(COMMAND, b"", DONE, target=LATER),
        data(table, FIRST - 5, FIRST + 7, instant=LATER),
    )
    assert bounds(ts_of(table)) == (FIRST - 5, FIRST + 30_000_000)


def test_a_block_of_a_pending_instant_does_not_count(table):
    put(table, data(table, FIRST - 5, FIRST + 7))
    (table / f".hoodie/timeline/{LATER}_{DONE}.commit").rename(table / f".hoodie/timeline/{LATER}.commit.requested")
    assert bounds(ts_of(table)) == (FIRST, FIRST + 30_000_000)


def test_a_block_of_an_instant_that_only_the_metadata_table_has_counts(table):
    put(table, data(table, FIRST - 5, FIRST + 7))
    (table / f".hoodie/timeline/{LATER}_{DONE}.commit").unlink()
    assert bounds(ts_of(table)) == (FIRST - 5, FIRST + 30_000_000)


def test_a_log_file_of_an_instant_that_no_timeline_has_does_not_count(table):
    put(table, data(table, FIRST - 5, FIRST + 7, instant="20260103000000000"), instant="20260103000000000")
    assert bounds(ts_of(table)) == (FIRST, FIRST + 30_000_000)


def test_a_key_of_another_partition_path_is_joined_by_the_file_name(table):
    """hudi#18317: some writers hash the absolute partition path."""
    name = name_of(table)
    value = stats_value(name, "ts", ("LongWrapper", FIRST - 5), ("LongWrapper", FIRST), 100_000, 0, value_type=TS)
    put(table, log_block(HFILE_DATA, hfile([(stats_key("ts", "/data/table", name), value)]), LATER))
    assert bounds(ts_of(table)) == (FIRST - 5, FIRST + 30_000_000)


def test_blocks_that_do_not_belong_there_are_an_error(table):
    put(table, log_block(3, b"avro", LATER))
    with pytest.raises(StatsError, match="block of type 3"):
        ts_of(table)


@pytest.mark.parametrize("content", [b"", b"#HUDI", b"garbage" * 20])
def test_a_damaged_log_file_is_an_error_that_names_it(table, content):
    put(table, content)
    with pytest.raises(StatsError, match=r"col-stats-0000-0_20260102000000000\.log\.1"):
        ts_of(table)


def test_an_index_without_files_is_an_error(table):
    for file in (table / ".hoodie/metadata/column_stats").iterdir():
        file.unlink()
    with pytest.raises(StatsError, match="no files"):
        ts_of(table)


def test_slices_fall_back_to_the_listing_when_the_files_are_unreadable(table):
    (table / Path(open_table(table).slices()[0].base_file)).write_bytes(b"")
    for file in (table / ".hoodie/metadata/files").iterdir():
        file.write_bytes(b"damage")
    slices = open_table(table).slices()
    assert slices.source == "file listing"
    assert "too short" in slices.note
    assert [one.base_file for one in slices] == [f"00000000-0000-4000-8000-000000000000-0_0-10-100_{INSTANT}.parquet"]


KEYS = Lookup(Field("id", STRING), ("k0001", "k0050", "k0100"))


def answers(path):
    """Everything that the kinds say of a table, by slice, unknown as None."""
    table = open_table(path)
    slices = table.slices()
    said = {}
    for kind in table.kinds(slices):
        needs = kind.requires(RequiredStatistics(bounds=tuple(table.schema), keys=(KEYS,)))
        answer = kind.provide(needs)
        for column, found in answer.statistics.items():
            for i, one in enumerate(slices):
                said[kind.name, column, one] = (
                    found.lo[i] if found.lo_known[i] else None,
                    found.hi[i] if found.hi_known[i] else None,
                    None if found.null_count[i] == UNKNOWN_COUNT else int(found.null_count[i]),
                    None if found.row_count[i] == UNKNOWN_COUNT else int(found.row_count[i]),
                )
        mask = answer.might_contain(KEYS, np.ones(len(slices), np.bool_)) if needs.keys else None
        if mask is not None:
            for i, one in enumerate(slices):
                said[kind.name, "may hold", one] = (None if mask[i] else False,)
    return set(slices), said


@pytest.mark.parametrize("name", share(TABLES, 12))
def test_damage_is_noticed_or_makes_nothing_known_that_was_not(hudi_copy, name):
    """Bytes are changed, files cut off or removed; an answer is the old one, less than it, or an error."""
    path = hudi_copy(name)
    slices, said = answers(path)
    files = sorted(
        file
        for part in ("files", "column_stats", "record_index")
        for file in (path / ".hoodie/metadata" / part).glob("*.*")
        if file.suffix != ".crc"
    )
    rnd = random.Random(name)
    outcomes = set()
    for _ in range(12):
        file = rnd.choice(files)
        good = file.read_bytes()
        bad = bytearray(good)
        for _ in range(rnd.randint(1, 3)):
            bad[rnd.randrange(len(bad))] ^= rnd.randint(1, 255)
        if rnd.random() < 0.15:
            file.unlink()
        else:
            file.write_bytes(bad[: rnd.randrange(len(bad))] if rnd.random() < 0.2 else bad)
        try:
            now, after = answers(path)
        except (TableError, StatsError):
            outcomes.add("error")
        else:
            outcomes.add("answer")
            assert now == slices
            for key, values in after.items():
                for value, was in zip(values, said.get(key, (None,) * 4), strict=True):
                    assert value is None or value == was, (file, key)
        file.write_bytes(good)
    assert outcomes


def field_of(number, name, kind="long"):
    return {"id": number, "name": name, "optional": True, "type": kind}


def write_history(root, *schemas):
    folder = root / ".hoodie/.schema"
    folder.mkdir()
    (folder / f"{LATER}.schemacommit").write_text(
        json.dumps(
            {"schemas": [{"version_id": i, "type": "struct", "fields": fields} for i, fields in enumerate(schemas)]}
        )
    )


def test_p19_a_name_that_meant_another_column_is_unknown(table):
    write_history(table, [field_of(0, "old"), field_of(1, "ts")], [field_of(0, "ts")])
    found = ts_of(table)
    assert bounds(found) is None
    assert found.trust[0] == Trust.RENAMED


def test_p19_a_column_that_kept_its_id_is_known(table):
    nested = {"type": "struct", "fields": [field_of(3, "x")]}
    write_history(table, [field_of(1, "ts")], [field_of(1, "ts"), field_of(2, "st", nested)])
    assert bounds(ts_of(table)) == (FIRST, FIRST + 30_000_000)


def test_p19_a_history_that_cannot_be_read_is_an_error(table):
    write_history(table)
    (table / f".hoodie/.schema/{LATER}.schemacommit").write_text("{")
    with pytest.raises(StatsError, match="schema history"):
        ts_of(table)


def test_statistics_of_base_files_that_are_not_parquet_are_not_used(tmp_path):
    root = tmp_path / "orc"
    write_table(root, 1, "orc")
    found = ts_of(root)
    assert bounds(found) is None
    assert found.trust[0] == Trust.NOT_PARQUET


def test_a_log_file_with_holes_is_not_held_in_memory(table):
    """It takes no disk, and took its length of memory."""
    put(table, data(table, 1, 2))
    (log,) = (table / ".hoodie/metadata/column_stats").glob(f".*{LATER}.log.1_0-1-1")
    with log.open("r+b") as file:
        file.truncate(MAX_LOG + 1)
    with pytest.raises(TableError, match="at most"):
        open_table(table).metadata.read_blocks(f"column_stats/{log.name}")
