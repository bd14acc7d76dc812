"""Footers of open slices: sound for every stored row, read only where something is not known, and within limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import index_store.kinds.footer_statistics as module
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.schema import Field
from evaluator.language.types import INT
from evaluator.statistics.columns import UNKNOWN_COUNT
from handler import open_table, prune
from index_store.formats.parquet_footers import Footers
from index_store.kinds.footer_statistics import FOOTERS
from index_store.snapshots import KeptFooters, SnapshotCache, open_snapshot
from index_store.storage.errors import TableError
from index_store.table.file_types import FileType
from index_store.table.footer_values import FooterValues
from tests.index_store.conftest import TABLES
from tests.index_store.rows import column, plain, rows_of
from tests.sampling import share


def kind_of(opened):
    return next(cached.kind for cached in opened.at().cached if cached.kind.name == FOOTERS)


def provided(opened):
    """What footers say of every column in all slices."""
    required = RequiredStatistics(bounds=tuple(opened.table.schema))
    found = kind_of(opened).provide_open(required, np.arange(len(opened.at().slices)))
    return {} if found is None else found.statistics


def without_index(path):
    """The table without any index: files are listed."""
    properties = path / ".hoodie/hoodie.properties"
    lines = [line for line in properties.read_text().splitlines() if "metadata.partitions" not in line]
    properties.write_text("\n".join(lines) + "\n")
    return open_table(path, cache=None)


@pytest.mark.parametrize("name", share(TABLES, 3, seed=10))
def test_every_stored_value_is_within_the_bounds_and_every_null_is_counted(hudi_table, name, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 60.0)  # a loaded machine reads no footer in half a second
    path = hudi_table(name)
    opened = open_table(path, cache=None)
    found, bounded = provided(opened), 0
    for i, one in enumerate(opened.at().slices):
        rows = [row for file in one.files for row in rows_of(path / file)]
        for field in opened.table.schema:
            statistics = found.get(field.name)
            if statistics is None:
                continue
            values = [plain(column(row, field.name), field.type.scale) for row in rows]
            stored = [value for value in values if value is not None]
            if statistics.lo_known[i]:
                assert all(statistics.lo[i] <= value for value in stored), (field, i)
            if statistics.hi_known[i]:
                assert all(statistics.hi[i] >= value for value in stored), (field, i)
                bounded += 1
            if statistics.null_count[i] != UNKNOWN_COUNT:
                assert statistics.null_count[i] >= values.count(None)
                assert None in values or statistics.null_count[i] == 0
            if not statistics.may_be_value[i]:
                assert not stored
    assert bounded or name == "1.1.1_nonpart_mor" or all(one.log_files for one in opened.at().slices)


def test_a_table_without_indexes_is_pruned_by_its_footers(hudi_copy):
    opened = without_index(hudi_copy("1.1.1_main_cow"))
    plan = prune(opened, "i = 100", "spark")
    assert 0 < len(plan.kept) < len(plan.slices)
    assert {one.file_id for one in plan.kept} >= {
        one.file_id for one in plan.slices if 100 in [row["i"] for row in rows_of(Path(opened.path) / one.base_file)]
    }
    assert FOOTERS in {kind for decision in plan.explanation.deciders.decisions for kind in decision.kinds}
    assert plan.explanation.leaves[0].text == "i = 100"


def test_footers_join_what_other_kinds_know_of_the_other_condition(hudi_table):
    opened = open_table(hudi_table("1.1.1_main_cow"), cache=None)
    by_index, by_footers = (len(prune(opened, text, "spark").kept) for text in ("i = 100", "u = 31"))
    both = len(prune(opened, "i = 100 AND u = 31", "spark").kept)
    either = len(prune(opened, "i = 100 OR u = 31", "spark").kept)
    assert both <= min(by_index, by_footers)
    assert max(by_index, by_footers) <= either < len(opened.at().slices)


def test_no_footer_is_read_where_everything_is_known(hudi_table, monkeypatch):
    opened = open_table(hudi_table("1.1.1_main_cow"), cache=None)
    prune(opened, "i > 0", "spark")
    monkeypatch.setattr(Footers, "read_within", lambda *_: pytest.fail("footers are read"))
    assert prune(opened, "i > 0 AND id IS NOT NULL", "spark").kept


def test_no_footer_is_read_for_more_slices_than_the_limit(hudi_copy, monkeypatch):
    opened = without_index(hudi_copy("1.1.1_main_cow"))
    monkeypatch.setattr("index_store.open_slices.OPEN_LIMIT", len(opened.at().slices) - 1)
    monkeypatch.setattr(Footers, "read_within", lambda *_: pytest.fail("footers are read"))
    assert prune(opened, "i = 100", "spark").skipped == ()


def test_slices_beyond_the_limits_of_a_table_stay_open_and_a_reason_says_so(hudi_copy):
    opened = without_index(hudi_copy("1.1.1_main_cow"))
    opened.table.footers = Footers(opened.table.storage, limit=3)
    plan = prune(opened, "i = 100", "spark")
    assert plan.skipped == ()
    assert any("the limit of 3 footers" in reason.text for reason in plan.reasons)


def test_no_footer_is_waited_for_longer_than_its_time(hudi_copy, monkeypatch):
    opened = without_index(hudi_copy("1.1.1_main_cow"))
    monkeypatch.setattr(module, "SECONDS", 0.0)
    assert prune(opened, "i = 100", "spark").skipped == ()


def test_a_damaged_footer_keeps_its_slice_and_a_reason_says_so(hudi_copy):
    path = hudi_copy("1.1.1_main_cow")
    whole = prune(without_index(path), "i = 100", "spark")
    damaged = whole.skipped[0]
    content = (path / damaged.base_file).read_bytes()
    (path / damaged.base_file).write_bytes(content[:-8] + b"\xff\xff\xff\x7fPAR1")
    plan = prune(open_table(path, cache=None), "i = 100", "spark")
    assert {one.file_id for one in plan.kept} == {one.file_id for one in whole.kept} | {damaged.file_id}
    assert any("footers of base files cannot be read" in reason.text for reason in plan.reasons)


def test_a_fault_of_the_kind_skips_nothing_and_is_raised_when_it_should_be(hudi_copy, monkeypatch):
    opened = without_index(hudi_copy("1.1.1_main_cow"))

    def fail(*_):
        raise TableError(opened.path, "the schema history cannot be read")

    monkeypatch.setattr(module, "read_name_history", fail)
    plan = prune(opened, "i = 100", "spark")
    assert plan.skipped == ()
    assert any("footers cannot be read" in reason.text for reason in plan.reasons)
    with pytest.raises(TableError, match="schema history"):
        prune(opened, "i = 100", "spark", strict=True)


def test_a_value_that_a_reader_takes_from_the_path_is_not_that_of_the_file(hudi_table):
    opened = open_table(hudi_table("1.1.1_main_cow"), cache=None)
    kind, partition = kind_of(opened), opened.table.partition_fields[0]
    for name in (partition, "*path*p"):
        assert not kind.requires(RequiredStatistics(bounds=(Field(name, INT),))) or name == "*path*p"
    field = opened.table.schema.resolve(partition, case_sensitive=True)
    seen = opened.table.schema.seen_as(opened.table.columns_read_from_paths(opened.at().slices))
    for one in (field, seen.resolve(partition, case_sensitive=True)):
        assert not kind.requires(RequiredStatistics(bounds=(one,), nulls=(one,)))


def test_a_file_that_lacks_a_column_has_only_nulls_unless_readers_fill_them(hudi_table, monkeypatch):
    opened = open_table(hudi_table("1.1.1_evol_cow"), cache=None)
    rows_without = [
        i
        for i, one in enumerate(opened.at().slices)
        if "extra" not in next(iter(rows_of(Path(opened.path) / one.base_file)))
    ]
    assert rows_without
    found = provided(opened)["extra"]
    assert not found.may_be_value[rows_without].any()
    again = open_table(hudi_table("1.1.1_evol_cow"), cache=None)
    monkeypatch.setattr(module, "reads_as_null", lambda *_: False)
    assert provided(again)["extra"].may_be_value[rows_without].all()


def test_a_name_that_stood_for_two_columns_has_no_statistics(hudi_table, monkeypatch):
    opened = open_table(hudi_table("1.1.1_main_cow"), cache=None)
    history = module.read_name_history(opened.table.storage)
    monkeypatch.setattr(module, "read_name_history", lambda _: type(history)(frozenset({"i"}), frozenset()))
    found = provided(opened)
    assert "i" not in found
    assert "l" in found


def test_footers_are_read_once_for_a_folder_of_snapshots(hudi_copy, tmp_path, monkeypatch):
    """By the next process too, and after a commit: what a base file holds does not change."""
    path, cache = hudi_copy("1.1.1_main_cow"), SnapshotCache(tmp_path / "cache", min_slices=1)
    filters = ["u = 31", "u < 0 OR i = 100", "NOT (u IS NULL)"]
    first = [plan_of(open_table(path, cache=cache), text) for text in filters]
    asked = []
    read_within = Footers.read_within

    def reading(footers, paths, seconds):
        asked.extend(paths)
        return read_within(footers, paths, seconds)

    monkeypatch.setattr(Footers, "read_within", reading)
    assert [plan_of(open_table(path, cache=cache), text) for text in filters] == first
    assert asked == []
    assert plan_of(open_table(path, cache=None), "u = 31") == first[0]
    assert asked


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-40], lambda data: data.replace(b".parquet", b".parquex", 1), lambda _: b""],
    ids=["cut off", "a bit", "empty"],
)
def test_a_damaged_file_of_kept_footers_is_read_and_written_anew(hudi_copy, tmp_path, damage):
    path, cache = hudi_copy("1.1.1_main_cow"), SnapshotCache(tmp_path / "cache", min_slices=1)
    first = plan_of(open_table(path, cache=cache), "u = 31")
    [file] = (tmp_path / "cache").rglob("footers.arrays")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert plan_of(open_table(path, cache=cache), "u = 31") == first
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("of", "lo", "hi"),
    [
        ("int", -5, 17),
        ("double", -0.0, float("inf")),
        ("string", b"\x00", "\U0001d11e".encode()),
        ("decimal(38,2)", -(10**37), 10**37),
        ("timestamp@micros", None, None),
    ],
)
def test_kept_values_come_back_as_they_were(hudi_copy, tmp_path, of, lo, hi):
    cache = SnapshotCache(tmp_path / "cache", min_slices=1)
    table = open_table(hudi_copy("1.1.1_main_cow"), cache=cache)
    table.at()
    snapshot = open_snapshot(table.table, cache)
    kept = KeptFooters(snapshot)
    assert kept.read() == {}
    kept.write({})
    assert kept.read() == {}
    values = {("p=1/a.parquet", "x"): FooterValues(FileType(of), 9, 3, lo, hi), ("a", "\udcff"): None}
    kept.write(values)
    assert KeptFooters(snapshot).read() == values
    assert repr(KeptFooters(snapshot).read()) == repr(values)  # -0.0 too


def plan_of(opened, text):
    plan = prune(opened, text, "spark")
    return sorted(one.file_id for one in plan.kept), sorted(one.file_id for one in plan.fully_matched)
