"""Paths of many slices as an Arrow column: the same from objects, from stored slices, and from layers of them."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from evaluator.language.errors import UnsupportedError
from index_store.snapshots import stored_slices
from index_store.snapshots.stored_slices import ChangedSlices, slice_arrays
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.slice_paths import common_uri, slice_paths


def drawn(draw, count, prefix):
    for number in range(count):
        partition = draw.choice(["", "day=1", "day=2", "a%2Fb/ç d"])
        folder = f"{partition}/" if partition else ""
        base = draw.choice([None, f"{folder}{prefix}{number}_0-1-0_1.parquet"])
        logs = tuple(
            f"{folder}.{prefix}{number}_1.log.{i}_0-1-0" for i in range(draw.choice([0, 0, 1, 3]) if base else 2)
        )
        yield FileSlice(partition, f"{prefix}{number}", base, logs)


def as_stored(slices):
    return stored_slices._as_stored(list(slices))


def expected(slices, rows, root, log_files):
    picked = [slices[row] for row in rows]
    names = [name for one in picked for name in (one.files if log_files else filter(None, [one.base_file]))]
    return [f"{root}/{name}" for name in names]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("log_files", [True, False])
def test_every_way_of_keeping_slices_gives_the_same_paths(seed, log_files):
    draw = random.Random(seed)
    base, delta = (list(drawn(draw, draw.choice([0, 1, 7, 30]), prefix)) for prefix in "fg")
    gone = np.array(sorted(draw.sample(range(len(base)), len(base) // 3)), np.int64)
    layered = ChangedSlices(as_stored(base), gone, as_stored(delta))
    ways = [tuple(base), as_stored(base), layered, ChangedSlices(as_stored(base), gone, delta)]
    ways += [pickle.loads(pickle.dumps(way)) for way in ways]
    for items in ways:
        rows = np.array(sorted(draw.sample(range(len(items)), draw.randint(0, len(items)))), np.int64)
        for chosen in (rows, np.arange(len(items))):
            found = slice_paths(FileSlices("1", "", items), chosen, "s3://lake/t/", log_files=log_files)
            assert found.to_pylist() == expected(items, chosen.tolist(), "s3://lake/t", log_files)


def test_pickled_slices_find_their_groups():
    slices = list(drawn(random.Random(3), 20, "f"))
    again = pickle.loads(pickle.dumps(as_stored(slices)))
    assert list(again) == slices
    assert again.rows_of([(one.partition, one.file_id) for one in slices]).tolist() == list(range(20))
    assert set(slice_arrays(slices)) < set(stored_slices._ARRAYS), "the others would be lost"


@pytest.mark.parametrize(
    ("root", "uri"),
    [
        ("s3a://lake/t", "s3://lake/t"),
        ("s3n://lake/t", "s3://lake/t"),
        ("S3A://lake/t", "s3://lake/t"),
        ("gcs://lake/t", "gs://lake/t"),
        ("gs://lake/t", "gs://lake/t"),
        ("abfss://c@a.dfs.core.windows.net/t", "abfss://c@a.dfs.core.windows.net/t"),
        ("hdfs://namenode:8020/t", "hdfs://namenode:8020/t"),
        ("/data/with space/t", "/data/with space/t"),
    ],
)
def test_a_root_is_named_as_other_libraries_name_it(root, uri):
    assert common_uri(root) == uri


def test_a_name_that_is_no_text_has_no_uri():
    item = FileSlice("", "f", "f\udcff_0-1-0_1.parquet")
    for items in ((item,), as_stored([item])):
        with pytest.raises(UnsupportedError, match="not UTF-8"):
            slice_paths(FileSlices("1", "", items), np.array([0]), "/t")
