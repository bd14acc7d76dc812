"""Sorting and merging entries: the same as a dictionary would give, in bounded memory, and no file is left behind."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_store.own.secondary.entries import ENTRIES, REVERSE
from index_store.own.secondary.runs import EntrySorter, merge_runs, sort_entries
from tests.index_store.own.secondary.entry_batches import entry_batch

SMALL = st.sampled_from([b"", b"\0", b"a", b"a\0", b"ab", b"b", b"\xff"])
ENTRY = st.tuples(SMALL, SMALL, st.integers(0, 2), st.booleans())
BATCHES = st.lists(st.lists(ENTRY, max_size=6), max_size=5)
ORDERS = {"key": (0, 1, 2), "group": (2, 1, 0)}
each_order = pytest.mark.parametrize("order", ORDERS)


def batch_of(entries) -> pa.RecordBatch:
    columns = list(zip(*entries, strict=True)) or [()] * 4
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, ENTRIES, strict=True)], schema=ENTRIES
    )


def entries_of(batches) -> list[tuple]:
    return [tuple(row[name] for name in ENTRIES.names) for batch in batches for row in batch.to_pylist()]


def expected_of(entries, order, *, drop_deleted=False) -> list[tuple]:
    """The model: a dictionary of what was said last of each entry."""
    last = {entry[:3]: entry for entry in entries}
    return sorted(
        (entry for entry in last.values() if not (drop_deleted and entry[3])),
        key=lambda entry: tuple(entry[place] for place in ORDERS[order]),
    )


@each_order
@settings(max_examples=50)
@given(batches=BATCHES, budget=st.sampled_from([1, 300, 1 << 20]), fan_in=st.sampled_from([2, 3, 64]))
def test_sorted_entries_are_those_that_were_given_last(order, batches, budget, fan_in):
    with EntrySorter(order, budget, fan_in=fan_in) as sorter:
        for batch in batches:
            sorter.add(batch_of(batch))
        found = list(sorter.sorted())
    assert all(batch.schema.equals(ENTRIES if order == "key" else REVERSE) and batch.num_rows for batch in found)
    assert entries_of(found) == expected_of([entry for batch in batches for entry in batch], order)


@each_order
@given(runs=BATCHES, sizes=st.lists(st.integers(1, 3), min_size=5, max_size=5), drop_deleted=st.booleans())
def test_of_equal_entries_the_newest_runs_stays(order, runs, sizes, drop_deleted):
    def blocks(run, size) -> Iterator[pa.RecordBatch]:
        whole = batch_of(expected_of(run, order))
        for start in range(0, whole.num_rows + 1, size):  # the last block may be empty
            yield whole.slice(start, size)

    merged = merge_runs(
        [blocks(run, size) for run, size in zip(runs, sizes, strict=False)], order=order, drop_deleted=drop_deleted
    )
    found = list(merged)
    assert all(batch.num_rows for batch in found)
    assert entries_of(found) == expected_of([entry for run in runs for entry in run], order, drop_deleted=drop_deleted)


def test_nothing_is_no_run(tmp_path):
    assert list(sort_entries([], order="key", directory=tmp_path)) == []
    assert list(merge_runs([], order="key", drop_deleted=True)) == []
    assert list(tmp_path.iterdir()) == []


def many(rows: int, batch: int, seed: int = 5) -> Iterator[pa.RecordBatch]:
    """Entries in no order, of keys with many entries each."""
    draw = np.random.default_rng(seed)
    for group in range(-(-rows // batch)):
        keys = [b"\x03city-%03d\x00\x00" % number for number in draw.integers(0, 50, batch)]
        records = [b"record-%012d" % number for number in draw.integers(0, 10**9, batch)]
        yield entry_batch(pa.array(keys, pa.binary()), pa.array(records, pa.binary()), group % 7)


#: Never freed: Arrow's threads may still free buffers of a pool when the test has ended, which ended the process.
POOLS = []


@pytest.fixture
def pool():
    before = pa.default_memory_pool()
    POOLS.append(pa.proxy_memory_pool(before))
    pa.set_memory_pool(POOLS[-1])
    yield POOLS[-1]
    pa.set_memory_pool(before)


@each_order
@pytest.mark.nightly
def test_memory_is_bounded_by_the_budget_whatever_the_data(tmp_path, pool, order):
    rows, budget = 45_000, 180_000
    given_bytes = sum(batch.nbytes for batch in many(rows, 500))
    assert given_bytes > 10 * budget
    before, most, found, last = pool.bytes_allocated(), 0, 0, None
    tracemalloc.start()
    with EntrySorter(order, budget, tmp_path, fan_in=8) as sorter:
        for batch in many(rows, 500):
            sorter.add(batch)
        assert sorter.runs > 2 * 8  # so that runs are merged to runs
        for batch in sorter.sorted():
            found += batch.num_rows
            first = tuple(batch.column(place)[0].as_py() for place in range(3))
            assert last is None or last < first
            last = tuple(batch.column(place)[-1].as_py() for place in range(3))
            most = max(most, batch.nbytes)
        assert list(tmp_path.iterdir())
    peak = tracemalloc.get_traced_memory()[1]  # of Python and numpy; Arrow counts its own
    tracemalloc.stop()
    arrow = pool.max_memory() - before
    assert list(tmp_path.iterdir()) == []
    assert found == pa.Table.from_batches(many(rows, 500)).group_by(ENTRIES.names[:3]).aggregate([]).num_rows
    assert most <= budget
    assert budget / 4 < arrow <= budget
    assert peak + arrow <= 2.5 * budget


def test_a_budget_that_is_never_reached_needs_no_file(tmp_path):
    with EntrySorter("key", 1 << 30, tmp_path) as sorter:
        for batch in many(1000, 100):
            sorter.add(batch)
        assert sum(batch.num_rows for batch in sorter.sorted()) == 1000
        assert sorter.runs == 0
        assert list(tmp_path.iterdir()) == []


def test_files_are_gone_after_an_error_and_when_nobody_asks_on(tmp_path):
    def failing() -> Iterator[pa.RecordBatch]:
        yield from many(2000, 100)
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        list(sort_entries(failing(), order="key", budget=10_000, directory=tmp_path))
    assert list(tmp_path.iterdir()) == []
    begun = sort_entries(many(2000, 100), order="key", budget=10_000, directory=tmp_path)
    next(begun)
    assert list(tmp_path.iterdir())
    begun.close()
    assert list(tmp_path.iterdir()) == []


def test_an_entry_needs_its_keys():
    with pytest.raises(pa.ArrowInvalid, match="without a key"):
        entry_batch(pa.array([b"a", None], pa.binary()), pa.array(["r", "s"]), 0)
    found = entry_batch(pa.array([b"a"], pa.binary()), pa.array(["r"]), 4, deleted=True)
    assert entries_of([found]) == [(b"a", b"r", 4, True)]
