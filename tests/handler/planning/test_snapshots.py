"""Filters over a table in a snapshot, carried from commit to commit, keep what they keep over the table read whole."""

import json
from dataclasses import replace

import pytest

from handler import open_table, prune
from index_store.opened_table import OpenTable
from index_store.snapshots import SnapshotCache
from tests.handler.conftest import DATA
from tests.index_store.snapshots.rewinding import commit_by_commit
from tests.sampling import share

#: Filters beside those of the oracle: keys, functions, several columns, and what nothing is known of.
OTHERS = [
    "_hoodie_record_key = '5'",
    "_hoodie_record_key IN ('1', '700')",
    "NOT (i < 50 AND s IS NOT NULL)",
    "i + l > 100",
    "no_such_function(i) = 5 OR i = 3",
    "i IS NULL",
    "p = 'p1' AND i > 20",
]


def oracle_filters(name):
    _, table = name.split("_", 1)
    for path in DATA.glob(f"oracle_{table}_*.json"):
        return [one["filter"] for one in json.loads(path.read_text(encoding="utf-8"))["filters"]]
    return []


def groups(slices):
    return sorted((one.partition, one.file_id, one.files) for one in slices)


def said(plan):
    """Everything of a plan that does not depend on the order of its slices."""
    found = plan.to_dict()
    return {name: found[name] for name in ("expression", "instant", "reasons", "leaves") if name in found}


@pytest.mark.parametrize(
    "name",
    share(
        [
            "1.1.1_main_cow",
            "1.1.1_main_mor",
            "1.1.1_nan_cow",
            "1.0.2_sec_mor",
            "1.1.1_expr_cow",
            "1.1.1_bucket_ch_resized_mor",
            "1.2.0_bloom_cow",
        ],
        7,
    ),
)
def test_the_same_is_kept_after_every_commit(name, unpack_copy, tmp_path):
    path, cache = unpack_copy(name), SnapshotCache(tmp_path / "cache", min_slices=0)
    filters = [*share(oracle_filters(name), 68), *OTHERS]
    in_layers = 0
    for _ in commit_by_commit(path, tmp_path / "aside"):
        whole, kept = open_table(path, cache=None), open_table(path, cache=cache)
        again = OpenTable(open_table(path).table, cache)
        for text in filters:
            expected = prune(whole, text, engine="spark", time_zone="UTC")
            for opened in (kept, again):
                plan = prune(opened, text, engine="spark", time_zone="UTC")
                assert groups(plan.kept) == groups(expected.kept), text
                assert groups(plan.skipped) == groups(expected.skipped), text
                assert groups(plan.fully_matched) == groups(expected.fully_matched), text
                assert said(plan) == said(expected), text
            in_layers += kept.at().layers is not None
    assert in_layers or name in ("1.1.1_expr_cow",)


def test_a_snapshot_that_was_damaged_is_made_again(unpack_copy, tmp_path):
    path, cache = unpack_copy("1.1.1_main_cow"), SnapshotCache(tmp_path / "cache", min_slices=0)
    text = "i < 40 AND s >= 'b'"
    expected = groups(prune(open_table(path, cache=None), text).kept)
    assert groups(prune(open_table(path, cache=cache), text).kept) == expected
    files = sorted(file for file in cache.folder.rglob("*") if file.is_file())
    assert len(files) >= 4
    for file in files:
        data = file.read_bytes()
        for place in range(0, len(data), max(1, len(data) // 25)):
            damaged = bytearray(data)
            damaged[place] ^= 0x40
            file.unlink()
            file.write_bytes(damaged)
            assert groups(prune(open_table(path, cache=cache), text).kept) == expected, (file.name, place)
        for end in (0, 1, len(data) // 2, len(data) - 1):
            file.unlink(missing_ok=True)
            file.write_bytes(data[:end])
            assert groups(prune(open_table(path, cache=cache), text).kept) == expected, (file.name, end)
        file.unlink(missing_ok=True)
        file.write_bytes(data)


def test_a_snapshot_of_another_table_is_not_used(unpack_copy, tmp_path):
    path, cache = unpack_copy("1.1.1_main_cow"), SnapshotCache(tmp_path / "cache", min_slices=0)
    other = unpack_copy("1.1.1_nan_cow")
    prune(open_table(path, cache=cache), "i < 40")
    [folder] = cache.folder.iterdir()
    opened = open_table(other, cache=cache)
    prune(opened, "f < 1")
    [mine] = [one for one in cache.folder.iterdir() if one != folder]
    for file in mine.rglob("slices.arrays"):  # the other table's slices under this table's name
        [theirs] = folder.rglob("slices.arrays")
        file.unlink()
        file.write_bytes(theirs.read_bytes())
    expected = groups(prune(open_table(other, cache=None), "f < 1").kept)
    assert groups(prune(open_table(other, cache=cache), "f < 1").kept) == expected


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(unpack_copy, tmp_path):
    path, blocked = unpack_copy("1.1.1_main_cow"), tmp_path / "a file"
    blocked.write_text("not a folder")
    expected = prune(open_table(path, cache=None), "i < 40")
    plan = prune(open_table(path, cache=SnapshotCache(blocked / "below", min_slices=0)), "i < 40")
    assert groups(plan.kept) == groups(expected.kept)
    assert plan.reasons == replace(expected).reasons
