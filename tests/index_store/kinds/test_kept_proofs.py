"""Proofs of indexes of keys are made once for a state of a table; another process answers the same without them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handler import open_table, prune
from index_store import StatsError
from index_store.kinds.record_keys import secondary_index
from index_store.kinds.record_keys.key_groups import KeyGroups
from index_store.kinds.record_keys.proofs import Proofs
from index_store.kinds.record_keys.record_index import RecordIndex
from index_store.kinds.record_keys.secondary_index import SecondaryIndex
from index_store.snapshots import KeptProofs, SnapshotCache, open_snapshot
from index_store.snapshots.snapshot import Snapshot

TABLES = ["1.0.2_sec_cow", "1.0.2_sec_mor", "1.1.1_sec_cow", "1.1.1_sec_mor"]
FILTERS = [
    *(f"s = '{value}'" for value in ("banana-zz", "no such text", "upd$ated", "apple")),
    *(f"i = {value}" for value in (-1, 5, 100, 351)),
    *(f"id = 'k{number:04}'" for number in (0, 10, 44, 9999)),
    "id IN ('k0001', 'k0002') OR s = 'banana-zz'",
]


def plans(table, cache):
    """Of each filter the kept slices and the reasons, of a table opened anew."""
    opened = open_table(table, cache=cache)
    found = [prune(opened, text, "spark", time_zone="UTC") for text in FILTERS]
    return [(sorted(one.file_id for one in plan.kept), plan.reasons, len(plan.matches)) for plan in found]


def refuse(*_):
    raise AssertionError("a proof is made again")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("entries_read", [secondary_index.ENTRIES_READ, 10])
def test_the_next_process_answers_the_same_without_a_proof(hudi_table, tmp_path, monkeypatch, name, entries_read):
    monkeypatch.setattr(secondary_index, "ENTRIES_READ", entries_read)
    table, cache = hudi_table(name), SnapshotCache(tmp_path / "cache", min_slices=1)
    without = plans(table, None)
    assert any(len(kept) < len(without[1][0]) or not kept for kept, _, _ in without)
    assert plans(table, cache) == without
    for module, method in (
        (KeyGroups, "count"),
        (KeyGroups, "keys"),
        (KeyGroups, "sample"),
        (SecondaryIndex, "_is_of"),
    ):
        monkeypatch.setattr(module, method, refuse)
    assert plans(table, cache) == without


def test_an_index_that_was_proven_by_a_sample_is_read_past_deletions_again(hudi_table, tmp_path, monkeypatch):
    table, cache = hudi_table("1.1.1_sec_cow"), SnapshotCache(tmp_path / "cache", min_slices=1)
    past = []
    look_up = secondary_index._Index.look_up

    def noting(self, texts, *, past_deletes):
        past.append(past_deletes)
        return look_up(self, texts, past_deletes=past_deletes)

    monkeypatch.setattr(secondary_index._Index, "look_up", noting)
    for entries_read in (10, secondary_index.ENTRIES_READ):  # the second time the proof is kept
        monkeypatch.setattr(secondary_index, "ENTRIES_READ", entries_read)
        past.clear()
        prune(open_table(table, cache=cache), "s = 'banana-zz'", "spark")
        assert past[-1]


def test_an_index_of_another_column_is_proven_anew(hudi_table, tmp_path):
    """``index.json`` is no part of a table's state."""
    table, cache = hudi_table("1.1.1_sec_cow"), SnapshotCache(tmp_path / "cache", min_slices=1)
    plans(table, cache)
    opened = open_table(table, cache=cache)
    [kind] = [one.kind for one in opened.at().cached if one.kind.name == "secondary_index"]
    by_name = {column.name: column for column in opened.table.schema.fields}
    assert kind._knows_every_row(by_name["s"])
    kind._indexes = {"i": replace(kind._indexes["s"], columns=("i",)), "s": kind._indexes["i"]}
    for name in ("i", "s"):
        with pytest.raises(StatsError, match="it is of another one"):
            kind._knows_every_row(by_name[name])


@pytest.fixture
def kept(hudi_table, tmp_path):
    cache = SnapshotCache(tmp_path / "cache", min_slices=1)
    opened = open_table(hudi_table("1.1.1_sec_cow"), cache=cache)
    opened.at()
    snapshot = open_snapshot(opened.table, cache)
    return snapshot, KeptProofs(snapshot)


def test_outcomes_of_several_writers_stand_beside_each_other(kept):
    snapshot, proofs = kept
    assert proofs.read() == {}
    proofs.write({})
    assert proofs.read() == {}
    proofs.write({"one \udcff": "yes"})
    KeptProofs(snapshot).write({"other": ""})
    assert KeptProofs(snapshot).read() == {"one \udcff": "yes", "other": ""}


def test_what_was_proven_of_another_state_is_not_read(kept):
    snapshot, proofs = kept
    proofs.write({"one": "yes"})
    state = replace(snapshot.manifest.state, pending=(("20990101000000000", "commit"),))
    later = object.__new__(Snapshot)
    later.__dict__.update({**snapshot.__dict__, "manifest": replace(snapshot.manifest, state=state)})
    assert KeptProofs(later).read() == {}
    KeptProofs(later).write({"two": "no"})
    assert KeptProofs(later).read() == {"two": "no"}
    assert proofs.read() == {}


def test_a_damaged_file_proves_nothing(kept, tmp_path):
    _, proofs = kept
    proofs.write({"one": "yes"})
    [file] = (tmp_path / "cache").rglob("proofs.arrays")
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert proofs.read() == {}
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert proofs.read() == {}
    proofs.write({"one": "yes"})
    assert file.read_bytes() == whole


def test_a_proof_that_fails_is_tried_again_and_not_kept():
    class Memory(dict):
        read = dict.copy
        write = dict.update

    memory, proofs = Memory(), Proofs()
    proofs.remember(memory)

    def fail() -> str:
        raise StatsError("t", "c", "cannot be read")

    for _ in range(2):
        with pytest.raises(StatsError):
            proofs.outcome("one", fail)
    assert memory == {}
    assert proofs.outcome("one", lambda: "yes") == "yes"
    assert proofs.outcome("one", refuse) == "yes"
    assert memory == {"one": "yes"}
    other = Proofs()
    other.remember(memory)
    assert other.outcome("one", refuse) == "yes"


def test_keys_that_are_not_unique_stay_so(hudi_table, tmp_path, monkeypatch):
    table, cache = hudi_table("1.1.1_sec_cow"), SnapshotCache(tmp_path / "cache", min_slices=1)
    with monkeypatch.context() as patched:
        patched.setattr(RecordIndex, "count", 87)  # 88 rows
        expected = plans(table, cache)
    monkeypatch.setattr(RecordIndex, "count", property(refuse))
    assert plans(table, cache) == expected
