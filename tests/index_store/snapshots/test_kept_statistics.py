"""What expression indexes and own indexes say is kept in snapshots, and equals what reading them anew says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.binding.leaves import Lookup
from evaluator.language.schema import Field
from evaluator.statistics.columns import ColumnStatistics
from handler import open_table, prune
from index_store.kinds.expressions.expression_index import ExpressionIndex
from index_store.own.maintenance.operations import drop, optimize
from index_store.own.provider.kind import OwnSketches
from index_store.own.store.locations import folder_of
from index_store.snapshots import SnapshotCache, column_file
from index_store.storage.errors import StatsError, TableError
from tests.index_store.conftest import TABLES
from tests.index_store.format_tables import FORMAT_TABLES, unpack_format_table
from tests.index_store.kinds.expression_statistics import FILTERS
from tests.index_store.kinds.expression_statistics import TABLES as EXPRESSION_TABLES
from tests.index_store.snapshots.kept_statistics import (
    Said,
    bring_up_to_date,
    check,
    compare,
    said,
    sketch,
)
from tests.index_store.snapshots.rewinding import commit_by_commit
from tests.sampling import share

COW = "1.1.1_main_cow"
#: Tables that are carried from commit to commit by day; the others take up to a minute each.
BY_DAY = ("1.1.1_expr_cow", "proofs/1.1.1_expr_text_mor", "1.1.1_bucket_part_cow", "1.2.0_partcols_cow")


def at_night_but(names: Iterable[str]) -> list[Any]:
    """The cases of these tables, most of them nightly."""
    return [pytest.param(one, marks=[] if one in BY_DAY else pytest.mark.nightly) for one in names]


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


@pytest.fixture
def cache(tmp_path: Path) -> SnapshotCache:
    return SnapshotCache(tmp_path / "cache", min_slices=0)


@pytest.mark.parametrize("name", at_night_but(EXPRESSION_TABLES))
def test_expression_indexes_say_after_every_commit_what_they_say_read_whole(
    name: str, hudi_copy: Callable[[str], Path], tmp_path: Path, cache: SnapshotCache
) -> None:
    path, compared = hudi_copy(name), Counter[str]()
    for _ in commit_by_commit(path, tmp_path / "aside"):
        compared.update(kind for kind, _, _ in compare(path, cache))
    assert compared["expression_index"] > 3


@pytest.mark.parametrize("name", at_night_but(share(TABLES, 20)))
def test_own_indexes_say_after_every_commit_and_refresh_what_they_say_read_whole(
    name: str, hudi_copy: Callable[[str], Path], tmp_path: Path, cache: SnapshotCache
) -> None:
    sketched_commit_by_commit(hudi_copy(name), tmp_path / "aside", cache)


@pytest.mark.parametrize("name", at_night_but(share(FORMAT_TABLES, 39, seed=5)))
def test_so_they_do_whatever_happened_to_the_table(name: str, tmp_path: Path, cache: SnapshotCache) -> None:
    sketched_commit_by_commit(unpack_format_table(name, tmp_path / "table"), tmp_path / "aside", cache)


def sketched_commit_by_commit(path: Path, aside: Path, cache: SnapshotCache) -> None:
    """The index is compared as it was before a commit, and then refreshed, at the same state of the table."""
    is_sketched, compared = False, 0
    for _ in commit_by_commit(path, aside):
        table = open_table(path, cache=None).table
        has_snapshot = table.metadata is not None and bool(table.metadata_is_current)
        grows = table.version < 8 and table.table_type == "MERGE_ON_READ"
        is_kept = has_snapshot and not grows
        if is_sketched:
            compared += len(compare(path, cache, is_kept=is_kept))
            bring_up_to_date(path)
        else:
            is_sketched = sketch(path)
        if is_sketched:
            compared += len(compare(path, cache, is_kept=is_kept))
    assert compared > 10


@pytest.mark.parametrize("name", ["1.1.1_expr_cow", COW])
@pytest.mark.nightly
def test_so_they_do_packed_whatever_the_size(
    name: str, hudi_copy: Callable[[str], Path], cache: SnapshotCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_file, "_PACKED_FROM", 0)
    monkeypatch.setattr("index_store.snapshots.snapshot.INDEXED_FROM", 0)
    path = hudi_copy(name)
    sketch(path)
    compare(path, cache)


# -- the same state of a table, and another index


def test_an_own_index_that_is_dropped_rebuilt_or_optimized_is_not_answered_from_before(
    hudi_copy: Callable[[str], Path], cache: SnapshotCache
) -> None:
    path = hudi_copy(COW)
    sketch(path)
    first = compare(path, cache)
    folder = folder_of(open_table(path, cache=None).table, "all")
    drop(folder)
    assert compare(path, cache) == {}
    sketch(path, sketches=("null_count",))
    other = compare(path, cache)
    assert known_bounds(other) == 0 < known_bounds(first)
    optimize(folder)
    check(compare(path, cache), other)
    sketch(path, name="more", sketches=("min_max",))
    assert known_bounds(compare(path, cache)) > 0


def known_bounds(found: Said) -> int:
    of_columns = [one for key, one in found.items() if isinstance(one, ColumnStatistics) and not key[1]]
    return sum(int(one.lo_known.sum()) for one in of_columns)


def test_an_index_that_index_json_defines_anew_is_read_again(
    hudi_copy: Callable[[str], Path], cache: SnapshotCache
) -> None:
    """``index.json`` is no part of a table's state."""
    path = hudi_copy("1.1.1_expr_cow")
    before = compare(path, cache)
    file = path / ".hoodie" / ".index_defs" / "index.json"
    defined = json.loads(file.read_text())
    of = defined["indexDefinitions"]["expr_index_ix_lower"]
    of["indexFunction"] = of["indexOptions"]["expr"] = "upper"
    file.write_text(json.dumps(defined))
    after = compare(path, cache)
    assert {key[1] for key in before} == {"lower", "lcase", "year"}
    assert {key[1] for key in after} == {"upper", "ucase", "year"}


def test_the_kept_bounds_of_another_column_or_function_are_not_taken(
    hudi_copy: Callable[[str], Path], cache: SnapshotCache
) -> None:
    path = hudi_copy("1.1.1_expr_cow")
    compare(path, cache)
    [kind] = [one.kind for one in open_table(path, cache=cache).at().cached if isinstance(one.kind, ExpressionIndex)]
    asked: list[str] = []

    def build(one: object, column: Field) -> ColumnStatistics | None:
        asked.append(column.name)
        return None

    kind._build = build  # type: ignore[assignment,method-assign]
    [lower] = [one for one in kind._used if one.function.names[0] == "lower"]
    by_name = {column.name: column for column in kind._table.schema}
    assert kind._kept(lower, by_name["s"]) is not None
    assert asked == []
    assert kind._kept(replace(lower, column="u"), by_name["u"]) is None
    assert asked == ["u"]


# -- faults


def damage(files: list[Path], place: int) -> None:
    for file in files:
        whole = file.read_bytes()
        at = place % len(whole)
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])


@pytest.mark.parametrize("kind", ["expression_index", "own_index"])
def test_what_is_damaged_is_read_again(kind: str, hudi_copy: Callable[[str], Path], cache: SnapshotCache) -> None:
    path = hudi_copy("1.1.1_expr_cow")
    sketch(path, sketches=("min_max", "bloom_filter"))
    whole = compare(path, cache)
    files = sorted(cache.folder.rglob(f"{kind}-*.arrays"))
    assert len(files) > 1
    assert any("-arrays-" in file.name for file in files) is (kind == "own_index")
    for place in share(range(0, max(file.stat().st_size for file in files), 97), 4):
        damage(files, place)
        check(said(path, cache), whole)
    for file in files:
        file.write_bytes(file.read_bytes()[:-1])
    check(compare(path, cache), whole)


def test_an_error_is_not_kept(hudi_copy: Callable[[str], Path], cache: SnapshotCache) -> None:
    path = hudi_copy(COW)
    sketch(path, sketches=("min_max", "bloom_filter"))
    [statistics] = path.rglob(".sargo/all/statistics/*.parquet")
    whole = statistics.read_bytes()
    column = open_table(path, cache=None).table.schema.resolve("i")
    assert column is not None
    statistics.write_bytes(whole[:40] + bytes(len(whole) - 40))
    for _ in range(2):
        [kind] = [one.kind for one in open_table(path, cache=cache).at().cached if one.kind.name == "own_index"]
        assert isinstance(kind, OwnSketches)
        for _ in range(2):
            with pytest.raises((StatsError, TableError)):
                kind.statistics(column)
            with pytest.raises((StatsError, TableError)):
                kind.might_contain(Lookup(column, (5,)), np.ones(9, np.bool_))
        plan = prune(open_table(path, cache=cache), "i = 5", "spark", time_zone="UTC")
        assert any("own_index" in str(one) for one in plan.reasons)
    assert list(cache.folder.rglob("own_index-*.arrays")) == []
    statistics.write_bytes(whole)
    compare(path, cache)


def test_a_folder_that_cannot_be_written_to_keeps_nothing_and_answers(
    hudi_copy: Callable[[str], Path], cache: SnapshotCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hudi_copy("1.1.1_expr_cow")

    def full(*_: object) -> None:
        raise OSError("no space left")

    open_table(path, cache=cache).at()
    monkeypatch.setattr("index_store.snapshots.snapshot.write_column", full)
    compare(path, cache, is_kept=False)
    assert list(cache.folder.rglob("expression_index-*")) == []


def test_filters_that_take_too_much_of_the_folder_are_not_kept(
    hudi_copy: Callable[[str], Path], tmp_path: Path
) -> None:
    path, sizes = hudi_copy(COW), {}
    sketch(path, sketches=("bloom_filter",))
    for limit in (1 << 40, 1000):
        cache = SnapshotCache(tmp_path / str(limit), limit, min_slices=0)
        compare(path, cache, is_kept=limit > 1000)
        sizes[limit] = [file.stat().st_size for file in cache.folder.rglob("own_index-arrays-*.arrays")]
    assert min(sizes[1 << 40]) > 1000 / 16
    assert sizes[1000] == []


def test_log_files_that_grow_in_place_are_looked_at_by_every_process(tmp_path: Path, cache: SnapshotCache) -> None:
    path = unpack_format_table("0.15.0_archived_mor", tmp_path / "table")
    sketch(path)
    compare(path, cache, is_kept=False)
    assert list(cache.folder.rglob("own_*.arrays")) == []


# -- whole filters, and several processes

FILTERS_ON_EXPRESSIONS = (
    "lower(s) = 'apple'",
    "s = 'APPLE'",
    "upper(s) LIKE 'B%'",
    "year(dt) = 2020",
    "dt = DATE'2020-03-15'",
    "id = 'k0001'",
    "NOT lower(s) > 'b' OR year(dt) < 2021",
    "i = 5 AND s > 'b'",
)
_PROCESS = """
import json, sys
from handler import open_table, prune
from index_store.snapshots import SnapshotCache
path, cache, *texts = sys.argv[1:]
plans = []
for text in texts:
    plan = prune(open_table(path, cache=SnapshotCache(cache, min_slices=0)), text, "spark", time_zone="UTC")
    plans.append([sorted(one.file_id for one in plan.kept), list(map(str, plan.reasons))])
print(json.dumps(plans))
"""


def kept(path: Path, cache: SnapshotCache | None, text: str) -> list[list[str]]:
    plan = prune(open_table(path, cache=cache), text, "spark", time_zone="UTC")
    return [sorted(one.file_id for one in plan.kept), list(map(str, plan.reasons))]


@pytest.mark.parametrize("name", ["1.1.1_expr_cow", "proofs/1.1.1_expr_part_cow", FILTERS])
def test_filters_keep_the_same_slices_from_a_snapshot(
    name: str, hudi_copy: Callable[[str], Path], cache: SnapshotCache
) -> None:
    path = hudi_copy(name)
    texts = ("lower(n) = 'zoo'", "upper(n) = 'X'", "length(n) = 1") if name == FILTERS else FILTERS_ON_EXPRESSIONS
    sketch(path)
    whole = [kept(path, None, text) for text in texts]
    for _ in range(2):
        assert [kept(path, cache, text) for text in texts] == whole


def test_two_processes_at_once_say_what_one_says(hudi_copy: Callable[[str], Path], cache: SnapshotCache) -> None:
    path = hudi_copy("1.1.1_expr_cow")
    sketch(path)
    whole = [kept(path, None, text) for text in FILTERS_ON_EXPRESSIONS]
    command = [sys.executable, "-c", _PROCESS, str(path), str(cache.folder), *FILTERS_ON_EXPRESSIONS]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [json.loads(one.communicate(timeout=120)[0]) for one in both] == [whole, whole]
    assert [kept(path, cache, text) for text in FILTERS_ON_EXPRESSIONS] == whole


def test_a_table_of_another_place_has_its_own(hudi_copy: Callable[[str], Path], cache: SnapshotCache) -> None:
    path = hudi_copy(COW)
    other = path.with_name("other")
    shutil.copytree(path, other)
    sketch(path, sketches=("min_max",))
    compare(path, cache)
    sketch(other, sketches=("null_count",))
    assert known_bounds(compare(other, cache)) == 0
