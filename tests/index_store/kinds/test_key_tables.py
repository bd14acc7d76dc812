"""Record indexes of tables whose rows Spark read whole (tests/data/hudi/keys): global, partitioned, composite keys."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from evaluator.language.types import STRING
from index_store import StatsError, TableError, open_table
from index_store.kinds.record_keys import record_index
from index_store.kinds.record_keys.key_groups import KeyGroups
from tests.index_store.conftest import DATA, TABLES

KEYS = DATA / "keys"
INDEXED = tuple(sorted(f"keys/{path.stem}" for path in KEYS.glob("*_rli_*.zip")))
PARTITIONED = ("keys/1.1.1_rli_part_cow", "keys/1.1.1_rli_part_mor")
BY_PARTITION = (*PARTITIONED, "keys/1.1.1_rli_part_names_cow")
KEY = Field("_hoodie_record_key", STRING)


def rows_of(name):
    """The rows as Spark read them: key, partition, file and some columns."""
    return json.loads((DATA / f"{name}.json").read_text())


def opened(path):
    table = open_table(path)
    slices = table.slices()
    kind = record_index.make(table, slices)
    assert kind is not None
    return table, slices, kind


def slices_of(rows, slices):
    """For each key the slices that hold it."""
    places = {(one.partition, one.file_id): i for i, one in enumerate(slices)}
    found = {}
    for row in rows:
        place = places[row["partition"], row["file"].partition("_")[0]]
        found.setdefault(row["key"], set()).add(place)
    return found


@pytest.mark.parametrize("name", INDEXED)
def test_every_key_is_found_where_spark_read_it(hudi_table, name):
    _, slices, kind = opened(hudi_table(name))
    true = slices_of(rows_of(name), slices)
    logged = {i for i, one in enumerate(slices) if one.log_files}
    for key, places in true.items():
        found = set(np.flatnonzero(kind.locate_keys([key])))
        assert found - logged <= places
        assert places <= found or "dup" in name  # of a key that stands twice it knows one row
        assert found == places or any(known == key for _, known in kind.logged.slices_of) or "dup" in name
    some = sorted(true)[::5]
    assert set(np.flatnonzero(kind.locate_keys(some))) == set().union(
        *(set(np.flatnonzero(kind.locate_keys([key]))) for key in some)
    )
    gone = {"no such key", "k007", "k031", "id:k031", "id:k007,n:19"} - set(true)  # most of them deleted
    assert set(np.flatnonzero(kind.locate_keys(sorted(gone)))) <= logged  # a late deletion need not count


@pytest.mark.parametrize("name", INDEXED)
def test_an_index_is_used_where_each_key_stands_in_one_row_and_no_other(hudi_table, name):
    _, slices, kind = opened(hudi_table(name))
    rows = rows_of(name)
    unique = len({(row["key"], row["partition"] if name in BY_PARTITION else "") for row in rows}) == len(rows)
    assert unique == ("dup" not in name)
    assert kind.whole_count == (len(rows) if unique else len(rows) - 4)
    answer = kind.might_contain(KEY, [rows[3]["key"]])
    assert (answer is not None) == unique
    assert (kind.coverage([KEY]).columns[KEY.name].usable == len(slices)) == (answer is not None)


@pytest.mark.parametrize("name", [*TABLES, *INDEXED])
def test_keys_are_counted_as_reading_all_of_them_does(hudi_table, name):
    table = open_table(hudi_table(name))
    for info in table.indexes():
        if info.name == "record_index" or info.name.startswith("secondary_index_"):
            if info.state != "available":
                continue
            groups = KeyGroups(table.metadata, info.name, partitioned=name in BY_PARTITION)
            whole = sum(len(keys) for _, keys in groups.keys(10**6))
            assert groups.count(10**6) == whole
            on_top = sum(
                any(not isinstance(log, frozenset) or log for log in groups.opened(one).logs)
                for one in groups.named
                if groups.opened(one) is not None
            )
            assert groups.count(0) in ((None,) if on_top else (whole,))


@pytest.mark.parametrize("name", PARTITIONED)
def test_a_partitioned_index_is_asked_for_the_partitions_that_are_left(hudi_table, name):
    _, slices, kind = opened(hudi_table(name))
    true = slices_of(rows_of(name), slices)
    twice = [key for key, places in true.items() if len(places) == 2]
    assert len(twice) == 3  # k001 to k003 stand in p9 too
    assert kind._groups.sizes == {"p=p0": 2, "p=p1": 2, "p=p2": 2, "p=p9": 2}
    for partition in kind._groups.sizes:
        inside = np.array([one.partition == partition for one in slices])
        mask = kind.locate_keys(twice, inside)
        assert mask[~inside].all()  # not asked for
        assert set(np.flatnonzero(mask & inside)) == {
            place for key in twice for place in true[key] if slices[place].partition == partition
        }


def test_a_condition_of_too_many_look_ups_has_no_answer(hudi_table, monkeypatch):
    _, _, kind = opened(hudi_table(PARTITIONED[0]))
    monkeypatch.setattr(record_index, "LOOK_UPS", 8)
    assert kind.locate_keys(["k001", "k002"]) is not None  # in four partitions
    declined = kind.locate_keys(["k001", "k002", "k003"])
    assert declined == Declined("3 keys in 4 partitions are more than the 8 that are looked up one by one")


def test_slices_of_a_partition_without_groups_are_kept(hudi_copy):
    path = hudi_copy(PARTITIONED[0])
    for file in (path / ".hoodie/metadata/record_index").glob("*p%3Dp9*"):
        file.unlink()
    _, slices, kind = opened(path)
    kind._groups._metadata.__dict__["check_complete"] = lambda _: None
    mask = kind.locate_keys(["k001"])
    assert all(mask[i] for i, one in enumerate(slices) if one.partition == "p=p9")
    with pytest.raises((StatsError, TableError), match="missing"):
        opened(path)[2].locate_keys(["k001"])


def test_remembered_keys_are_limited(hudi_table, monkeypatch):
    monkeypatch.setattr(record_index, "KEYS_REMEMBERED", 5)
    _, _, kind = opened(hudi_table(INDEXED[0]))
    for number in range(30):
        kind.locate_keys([f"k{number:03d}"])
        assert len(kind._found) <= 5


def test_groups_that_do_not_fit_are_opened_again(hudi_table, monkeypatch):
    monkeypatch.setattr("index_store.kinds.record_keys.key_groups.OPEN_BYTES", 1)
    name = PARTITIONED[0]
    _, slices, kind = opened(hudi_table(name))
    for key, places in slices_of(rows_of(name), slices).items():
        assert set(np.flatnonzero(kind.locate_keys([key]))) == places
        assert len(kind._groups._open) <= 1
