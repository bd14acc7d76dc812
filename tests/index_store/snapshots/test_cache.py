"""The folder of snapshots: what is kept, what goes first, and several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.binding.required_statistics import RequiredStatistics
from index_store import open_table
from index_store.snapshots import Snapshot, SnapshotCache, default_cache, keep_slices, open_snapshot, with_snapshot
from index_store.snapshots.cache import DEFAULT_LIMIT
from tests.index_store.snapshots.rewinding import commit_by_commit

ROOT = Path(__file__).parents[3]


def keep(path: Path, cache: SnapshotCache) -> Snapshot:
    table = open_table(path)
    snapshot = keep_slices(table, table.slices(), cache)
    assert snapshot is not None
    for kind in with_snapshot(table.kinds(snapshot.slices), snapshot):
        if kind.name == "column_stats":
            kind.provide(RequiredStatistics(bounds=tuple(table.schema)))
    return snapshot


def test_a_small_table_is_not_kept(hudi_table: Callable[[str], Path], tmp_path: Path) -> None:
    table = open_table(hudi_table("1.1.1_main_cow"))
    assert keep_slices(table, table.slices(), SnapshotCache(tmp_path, min_slices=1000)) is None
    assert not list(tmp_path.iterdir())


def test_the_table_used_longest_ago_goes_first(hudi_table: Callable[[str], Path], tmp_path: Path) -> None:
    names = ("1.1.1_main_cow", "1.1.1_nan_cow", "1.1.1_main_mor")
    cache = SnapshotCache(tmp_path, min_slices=0)
    kept = {}
    for place, name in enumerate(names):
        kept[name] = keep(hudi_table(name), cache)
        for manifest in cache.of_table(kept[name].manifest.state).path.glob("*.json"):
            os.utime(manifest, (1000 + place, 1000 + place))
    assert len(cache.tables()) == 3
    used = cache.find(kept["1.1.1_main_cow"].manifest.state)  # a look at the oldest makes it the newest
    assert used is not None
    sizes = {one.table: one.size for one in cache.tables()}
    small = SnapshotCache(tmp_path, limit=sum(sizes.values()) - 1, min_slices=0)
    small.make_room()
    assert {one.table for one in small.tables()} == {
        kept[name].manifest.state.table for name in ("1.1.1_main_cow", "1.1.1_main_mor")
    }
    SnapshotCache(tmp_path, limit=0).make_room(cache.of_table(kept["1.1.1_main_mor"].manifest.state))
    assert [one.table for one in cache.tables()] == [kept["1.1.1_main_mor"].manifest.state.table]


def test_states_before_the_last_two_go(hudi_copy: Callable[[str], Path], tmp_path: Path) -> None:
    path, cache = hudi_copy("1.1.1_nan_cow"), SnapshotCache(tmp_path / "cache", min_slices=0)
    carried = 0
    for _ in commit_by_commit(path, tmp_path / "aside"):
        snapshot = open_snapshot(open_table(path), cache)
        carried += snapshot is not None
        if snapshot is None:
            snapshot = keep(path, cache)
        folder = cache.of_table(snapshot.manifest.state).path
        assert 1 <= len(list(folder.glob("*.json"))) <= 2
        for other in folder.iterdir():
            if other.is_dir() and other.name != snapshot.manifest.base:
                long_ago = time.time() - 10_000
                os.utime(other, (long_ago, long_ago))
    assert carried > 3
    assert len([one for one in folder.iterdir() if one.is_dir()]) <= 4
    assert open_snapshot(open_table(path), cache) is not None


def test_what_is_kept_of_one_table_or_of_all_is_cleared(hudi_table: Callable[[str], Path], tmp_path: Path) -> None:
    cache = SnapshotCache(tmp_path, min_slices=0)
    first, _ = keep(hudi_table("1.1.1_main_cow"), cache), keep(hudi_table("1.1.1_nan_cow"), cache)
    assert cache.clear("local:/somewhere/else") == 0
    assert cache.clear(first.manifest.state.table) == 1
    assert len(cache.tables()) == 1
    assert cache.clear() == 1
    assert cache.tables() == []


def test_the_folder_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert default_cache() is None  # tests turn it off
    monkeypatch.setenv("SARGO_CACHE", str(tmp_path))
    monkeypatch.setenv("SARGO_CACHE_BYTES", "1000")
    named = default_cache()
    assert named is not None
    assert (named.folder, named.limit) == (tmp_path, 1000)
    monkeypatch.setenv("SARGO_CACHE_BYTES", "much")
    monkeypatch.delenv("SARGO_CACHE")
    standard = default_cache()
    assert standard is not None
    assert standard.limit == DEFAULT_LIMIT


_READER = """
import sys
from handler import prune
from index_store.opened_table import open_table
from index_store.snapshots import SnapshotCache

path, folder = sys.argv[1:]
cache = SnapshotCache(folder, limit=40_000, min_slices=0)
for turn in range(6):
    for text in ("i < 40", "s >= 'b' AND i > 3", "d <= DATE'2020-06-01'"):
        found = prune(open_table(path, cache=cache), text)
        assert not [one for one in found.reasons if one.scope == "store"], found.reasons
        print(text, sorted(one.file_id for one in found.kept))
"""


def test_several_processes_share_a_folder_that_is_too_small(hudi_table: Callable[[str], Path], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _READER, str(hudi_table("1.1.1_main_cow")), str(tmp_path)]
    readers = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = [reader.communicate(timeout=120) for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * 4, said
    assert len({out for out, _ in said}) == 1
    assert len(set(said[0][0].splitlines())) == 3
