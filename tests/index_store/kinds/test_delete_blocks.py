"""A changed key in a delete block of the metadata table, which has no checksum, hides no other key (C4, C10)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from evaluator.language.schema import Field
from evaluator.language.types import STRING
from index_store.formats.log_file import DELETE, deleted_keys, read_log_blocks
from index_store.indexed_table import IndexedTable
from index_store.kinds.record_keys import record_index, secondary_index
from index_store.kinds.record_keys.key_groups import KeyGroups
from tests.index_store.conftest import DATA
from tests.torture.memory_storage import MemoryStorage, unpacked

KEY = Field("_hoodie_record_key", STRING)
WITH_DELETES = ("1.0.2_sec_cow", "1.1.1_sec_cow", "keys/1.1.1_rli_late_mor")


@cache
def files_of(name):
    return unpacked(DATA / f"{name}.zip")


def kind_of(module, files):
    table = IndexedTable(MemoryStorage(files))
    kind = module.make(table, table.slices())
    assert kind is not None
    return table, kind


def deletes_of(name, partition):
    """The log files of a partition with their deleted keys, one by one."""
    for path, data in files_of(name).items():
        if path.startswith(f".hoodie/metadata/{partition}/.") and ".log." in path and not path.endswith(".crc"):
            for block in read_log_blocks(data):
                if block.type == DELETE:
                    for key in deleted_keys(block.content):
                        yield path, key.encode()


def with_another(name, path, key, other):
    """The table's files with another key of the same length in a delete block."""
    data = files_of(name)[path]
    start = data.rindex(key)
    return {**files_of(name), path: data[:start] + other + data[start + len(key) :]}


@pytest.mark.parametrize("name", WITH_DELETES)
def test_a_changed_key_in_a_delete_block_of_the_record_index_hides_no_key(name):
    _, whole = kind_of(record_index, files_of(name))
    live = {key for _, keys in whole._groups.keys(10**6) for key in keys}
    tried = 0
    for path, deleted in deletes_of(name, "record_index"):
        group = int(path.partition("record-index-")[2][:4])
        others = sorted(
            key
            for (_, number), keys in whole._groups.keys(10**6)
            for key in keys & live
            if number == group and len(key) == len(deleted)
        )
        for other in others[::7]:
            true = whole.might_contain(KEY, [other.decode()])
            assert true is not None
            assert true.any()
            _, kind = kind_of(record_index, with_another(name, path, deleted, other))
            found = kind.might_contain(KEY, [other.decode()])
            assert found is None or (found >= true).all(), (path, other)
            tried += 1
    assert tried


@pytest.mark.parametrize("name", WITH_DELETES)
def test_a_deleted_key_is_in_no_other_slice_than_where_it_was(name):
    """An undamaged index still rules out all slices but one for a key that a delete block names."""
    table, kind = kind_of(record_index, files_of(name))
    for _, deleted in deletes_of(name, "record_index"):
        found = kind.might_contain(KEY, [deleted.decode()])
        logged = np.array([bool(one.log_files) for one in table.slices()])
        assert found is not None
        assert (found & ~logged).sum() <= 1
    assert not kind.might_contain(KEY, ["no such key"]).any()


@pytest.mark.parametrize("entries_read", [secondary_index.ENTRIES_READ, 0])
@pytest.mark.parametrize("name", WITH_DELETES[:2])
def test_a_changed_entry_in_a_delete_block_of_a_secondary_index_hides_no_row(monkeypatch, name, entries_read):
    """Once with all entries read, once with a sample of them, as of a large index."""
    monkeypatch.setattr(secondary_index, "ENTRIES_READ", entries_read)
    table, whole = kind_of(secondary_index, files_of(name))
    column, partition = table.schema.resolve("i", case_sensitive=True), "secondary_index_si_i"
    groups = KeyGroups(table.metadata, partition)
    tried = 0
    for path, deleted in deletes_of(name, partition):
        number = int(path.partition("secondary-index-si-i-")[2][:4])
        live = sorted(key for (_, one), keys in groups.keys(10**6) for key in keys if one == number)
        for entry in [key for key in live if len(key) == len(deleted)][::5]:
            value = int(secondary_index.split_entry(entry)[0][:-1]) if b"\0" not in entry else None
            true = None if value is None else whole.might_contain(column, [value])
            if true is None:
                continue
            _, kind = kind_of(secondary_index, with_another(name, path, deleted, entry))
            found = kind.might_contain(column, [value])
            assert found is None or (found >= true).all(), (path, entry)
            tried += 1
    assert tried or (name == "1.0.2_sec_cow" and not entries_read)  # version 1 is not sampled
